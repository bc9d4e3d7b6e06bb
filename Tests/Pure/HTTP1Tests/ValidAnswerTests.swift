import HTTP1
import Testing

struct ValidAnswerTests {
    struct Case: CustomStringConvertible, Sendable {
        let name: String
        let text: String
        var status = 200
        var fields: [String] = []
        var body = ""
        var keepsAlive = true
        var answersHead = false
        var closes = false

        var description: String { name }
    }

    static let cases = [
        Case(
            name: "created without a body",
            text: "HTTP/1.1 201 Created\r\nLocation: https://x/1?api-version=2015-01\r\nContent-Length: 0\r\n\r\n", status: 201,
            fields: ["Location=https://x/1?api-version=2015-01", "Content-Length=0"]),
        Case(
            name: "length", text: "HTTP/1.1 200 OK\r\ncontent-length:5\r\n\r\nhello", fields: ["content-length=5"], body: "hello"),
        Case(
            name: "whitespace around a value", text: "HTTP/1.1 200 OK\r\nX:\t a b \t\r\nY:\r\nContent-Length: 1 \r\n\r\n!",
            fields: ["X=a b", "Y=", "Content-Length=1"], body: "!"),
        Case(name: "no reason", text: "HTTP/1.1 201\r\nContent-Length: 0\r\n\r\n", status: 201, fields: ["Content-Length=0"]),
        Case(
            name: "no reason behind an interim answer without one", text: "HTTP/1.1 100\r\n\r\nHTTP/1.0 204\r\n\r\n", status: 204,
            keepsAlive: false),
        Case(
            name: "folded", text: "HTTP/1.1 200 OK\r\nX: a \t\r\n\tb\r\n  c \r\nY: z\r\nContent-Length: 1\r\n\r\n!",
            fields: ["X=a     b    c", "Y=z", "Content-Length=1"], body: "!"),
        Case(
            name: "folded behind an empty value", text: "HTTP/1.1 200 OK\r\nX: \r\n \ty: z\r\nContent-Length: 0\r\n\r\n",
            fields: ["X=y: z", "Content-Length=0"]),
        Case(
            name: "folded line that looks like a length",
            text: "HTTP/1.1 200 OK\r\nX: a\r\n Content-Length: 5\r\nContent-Length: 1\r\n\r\n!",
            fields: ["X=a   Content-Length: 5", "Content-Length=1"], body: "!"),
        Case(
            name: "misdirected", text: "HTTP/1.1 421 Misdirected Request\r\nContent-Length: 0\r\n\r\n", status: 421,
            fields: ["Content-Length=0"], keepsAlive: false),
        Case(
            name: "chunk sizes that blanks fill up",
            text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2  \r\nab\r\n0\t \r\n\r\n",
            fields: ["Transfer-Encoding=chunked"], body: "ab"),
        Case(
            name: "many interim answers",
            text: String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 50)
                + "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
            status: 201, fields: ["Content-Length=0"]),
        Case(name: "empty reason", text: "HTTP/1.1 503 \r\nContent-Length: 0\r\n\r\n", status: 503, fields: ["Content-Length=0"]),
        Case(
            name: "bytes above ASCII", text: "HTTP/1.1 200 Schön\r\nX: é\r\nContent-Length: 2\r\n\r\né",
            fields: ["X=é", "Content-Length=2"],
            body: "é"),
        Case(
            name: "equal lengths", text: "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length: 02\r\n\r\nab",
            fields: ["Content-Length=2, 2", "Content-Length=02"], body: "ab"),
        Case(
            name: "chunked",
            text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n00006;a=\"b\" ;c\r\n world\r\n0\r\n\r\n",
            fields: ["Transfer-Encoding=Chunked"], body: "hello world"),
        Case(
            name: "chunked with a trailer",
            text:
                "HTTP/1.1 400 Bad\r\nTransfer-Encoding: chunked\r\n\r\nA ;x\r\n0123456789\r\n000\r\nDigest: x\r\nContent-Length: 3\r\n\r\n",
            status: 400, fields: ["Transfer-Encoding=chunked"], body: "0123456789"),
        Case(
            name: "empty chunked", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            fields: ["Transfer-Encoding=chunked"]),
        Case(
            name: "chunk data that looks like framing",
            text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n",
            fields: ["Transfer-Encoding=chunked"], body: "\r\n0\r\n\r\n\r\n"),
        Case(name: "no content", text: "HTTP/1.1 204 No Content\r\nX: y\r\n\r\n", status: 204, fields: ["X=y"]),
        Case(
            name: "not modified with a length", text: "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", status: 304,
            fields: ["Content-Length=9"]),
        Case(
            name: "answer to HEAD", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            fields: ["Transfer-Encoding=chunked"], answersHead: true),
        Case(
            name: "interim answers",
            text: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\nContent-Length: 7\r\n\r\n"
                + "HTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\n!", status: 201, fields: ["Content-Length=1"], body: "!"),
        Case(
            name: "until the connection closes", text: "HTTP/1.1 500 Oops\r\nServer: x\r\n\r\n<html>", status: 500,
            fields: ["Server=x"],
            body: "<html>", keepsAlive: false, closes: true),
        Case(
            name: "nothing until the connection closes", text: "HTTP/1.1 200 OK\r\n\r\n", keepsAlive: false, closes: true),
        Case(
            name: "close", text: "HTTP/1.1 200 OK\r\nConnection: foo , Close\r\nContent-Length: 0\r\n\r\n",
            fields: ["Connection=foo , Close", "Content-Length=0"], keepsAlive: false),
        Case(
            name: "version 1.0", text: "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", fields: ["Content-Length=1"], body: "a",
            keepsAlive: false),
        Case(
            name: "version 1.0 that keeps alive", text: "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\na",
            fields: ["Connection=Keep-Alive", "Content-Length=1"], body: "a"),
    ]

    @Test(arguments: cases) func isReadTheSameHoweverItIsCut(_ answer: Case) {
        let expected = Reading.answer(
            status: answer.status, fields: answer.fields, body: answer.body, keepsAlive: answer.keepsAlive)
        for reading in Reading.everyCut(of: answer.text, answersHead: answer.answersHead, closes: answer.closes) {
            #expect(reading == expected)
        }
    }

    @Test(arguments: cases) func everyStrictPrefixIsIncompleteAndTruncatedAtTheEnd(_ answer: Case) {
        let bytes = Array(answer.text.utf8)
        let headEnd = answer.text.utf8.count - answer.body.utf8.count
        for count in 0..<(answer.closes ? headEnd : bytes.count) {
            #expect(Reading([bytes[..<count]], answersHead: answer.answersHead) == .incomplete)
            #expect(Reading([bytes[..<count]], answersHead: answer.answersHead, closes: true) == .fault(.truncated))
        }
    }

    @Test(arguments: cases.filter { !$0.closes }) func oneByteMoreIsRefused(_ answer: Case) {
        for reading in Reading.everyCut(of: answer.text + "H", answersHead: answer.answersHead) {
            #expect(reading == .fault(.bytesAfterAnswer))
        }
    }

    @Test func oneParserReadsAllOfThemInTurn() {
        var parser = AnswerParser()
        for answer in Self.cases + Self.cases.reversed() {
            let bytes = Array(answer.text.utf8)
            let reading = Reading([bytes[...]], answersHead: answer.answersHead, closes: answer.closes, using: &parser)
            #expect(
                reading == .answer(status: answer.status, fields: answer.fields, body: answer.body, keepsAlive: answer.keepsAlive)
            )
        }
    }

    @Test func fieldsAreFoundInEitherCaseAndTheFirstOfANameCounts() throws {
        var parser = AnswerParser()
        let isWhole = try parser.feed(
            Array("HTTP/1.1 200 OK\r\nRetry-After: 7\r\nretry-after: 8\r\nContent-Length: 0\r\n\r\n".utf8).span)
        #expect(isWhole)
        #expect(parser.answer.string(of: "RETRY-AFTER") == "7")
        #expect(parser.answer.string(of: "Retry-Afte") == nil)
        #expect(parser.answer.value(of: "Location") == nil)
        #expect(parser.hasStarted)
        parser.reset()
        #expect(!parser.hasStarted)
        #expect(parser.answer.fields.isEmpty)
    }

    @Test func largeBodiesArriveWholeInAnyFraming() {
        let body = String((0..<20_000).map { Character(UnicodeScalar(UInt8(97 + $0 % 26))) })
        let sized = Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
        var chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        for start in stride(from: 0, to: 20_000, by: 16) {
            chunked += "10;extension=\(start)\r\n" + body.dropFirst(start).prefix(16) + "\r\n"
        }
        let dripped = Array((chunked + "0\r\n\r\n").utf8)
        for (bytes, field) in [(sized, "Content-Length=20000"), (dripped, "Transfer-Encoding=chunked")] {
            let pieces = stride(from: 0, to: bytes.count, by: 1013).map { bytes[$0..<min($0 + 1013, bytes.count)] }
            #expect(Reading(pieces) == .answer(status: 200, fields: [field], body: body, keepsAlive: true))
        }
    }
}
