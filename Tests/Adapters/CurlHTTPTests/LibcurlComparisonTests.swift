import TestSupport
import Testing

/// The same answers, served in the same pieces, to libcurl's own HTTP and to ours.
@Suite(.tags(.c)) struct LibcurlComparisonTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let text: String
        var closes = false
        var isHead = false

        init(_ name: String, _ text: String, closes: Bool = false, isHead: Bool = false) {
            (self.name, self.text, self.closes, self.isHead) = (name, text, closes, isHead)
        }

        var bytes: [UInt8] { Array(text.utf8) }
        var testDescription: String { name }
    }

    static let head = "HTTP/1.1 200 OK\r\n"
    static let chunked = head + "Transfer-Encoding: chunked\r\n\r\n"

    static let cases = [
        Case("created", "HTTP/1.1 201 Created\r\nLocation: https://x/1?api-version=2015-01\r\nContent-Length: 0\r\n\r\n"),
        Case("length", head + "content-length:5\r\n\r\nhello"),
        Case("blanks around values", head + "X:\t a b \t\r\nY:\r\nContent-Length: 1 \r\n\r\n!"),
        Case("a field twice", head + "X: 1\r\nY: 2\r\nX: 3\r\nContent-Length: 0\r\n\r\n"),
        Case("empty reason", "HTTP/1.1 503 \r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"),
        Case("no reason", "HTTP/1.1 201\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"),
        Case("chunk sizes that blanks fill up", chunked + "2  \r\nab\r\n0 \r\n\r\n"),
        Case("bytes above ASCII", head + "X: é\r\nContent-Length: 2\r\n\r\né"),
        Case("equal lengths", head + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nab"),
        Case("body of zeros", head + "Content-Length: 4\r\n\r\n\0\0\0\0"),
        Case("error with a body", "HTTP/1.1 429 Too Many\r\nRetry-After: 3\r\nContent-Length: 3\r\n\r\nno!"),
        Case("chunked", chunked + "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"),
        Case("chunked in another case", head + "transfer-encoding: Chunked\r\n\r\nB\r\nhello world\r\n0\r\n\r\n"),
        Case("chunk extensions", chunked + "5;a=\"b\";c\r\nhello\r\n00006 ;x\r\n world\r\n0;end\r\n\r\n"),
        Case("trailers", chunked + "A\r\n0123456789\r\n000\r\nDigest: x\r\nContent-Length: 3\r\n\r\n"),
        Case("empty chunked", chunked + "0\r\n\r\n"),
        Case("framing inside a chunk", chunked + "9\r\n\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n"),
        Case("no content", "HTTP/1.1 204 No Content\r\nX: y\r\n\r\n"),
        Case("not modified with a length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"),
        Case("answer to HEAD", head + "Content-Length: 9\r\n\r\n", isHead: true),
        Case("chunked answer to HEAD", chunked, isHead: true),
        Case("interim", "HTTP/1.1 100 Continue\r\n\r\n" + head + "Content-Length: 1\r\n\r\n!"),
        Case(
            "two interim with fields",
            "HTTP/1.1 102 Processing\r\nX: 1\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 C\r\nY: 2\r\nContent-Length: 0\r\n\r\n"
        ),
        Case("until the close", "HTTP/1.1 500 Oops\r\nServer: x\r\n\r\n<html>", closes: true),
        Case("nothing until the close", head + "\r\n", closes: true),
        Case("close", head + "Connection: close\r\nContent-Length: 2\r\n\r\nab"),
        Case("close with chunks", head + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"),
        Case("version 1.0", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na"),
        Case("version 1.0 that keeps alive", "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\na"),
    ]

    static let large = [
        Case("large", head + "Content-Length: 200000\r\n\r\n" + text(200_000)),
        Case(
            "large chunks",
            chunked + stride(from: 1, through: 9000, by: 750).map { "\(String($0, radix: 16));n=1\r\n\(text($0))\r\n" }.joined()
                + "0\r\n\r\n"),
        Case("large until the close", head + "\r\n" + text(150_000), closes: true),
        Case("large head", head + (0..<90).map { "X-\($0): \(text(100))\r\n" }.joined() + "Content-Length: 2\r\n\r\nok"),
    ]

    static func text(_ count: Int) -> String {
        let bytes = (0..<count).map { (index: Int) -> UInt8 in UInt8(33 + index * 7 % 89) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Serves an answer in each way of cutting to a client, over one connection as long as the client keeps it.
    static func readings(of answer: Case, cuts: [[ArraySlice<UInt8>]], by client: some DrivenClient, from server: HandServer)
        throws -> [AnswerReading]
    {
        var kept: HandConnection?
        return try cuts.map { pieces in
            let (reading, connection) = try client.exchange(
                pieces, closes: answer.closes, isHead: answer.isHead, with: server, on: kept)
            kept = if case .answer(_, _, _, true) = reading { connection } else { nil }
            return reading
        }
    }

    private static func compare(_ answer: Case, _ cuts: [[ArraySlice<UInt8>]]) throws {
        let server = try HandServer()
        let theirs = try readings(of: answer, cuts: cuts, by: LibcurlClient(port: server.port), from: server)
        let ours = try readings(of: answer, cuts: cuts, by: PoolClient(PoolLoop(port: server.port)), from: server)
        #expect(ours == theirs)
        let first = try #require(ours.first)
        #expect(ours.allSatisfy { $0 == first }, "the cuts make a difference")
        if case .refused(let text) = first { Issue.record("refused: \(text)") }
    }

    @Test(arguments: cases) func isReadAsLibcurlReadsItCutAtEveryPlaceAndDripped(_ answer: Case) throws {
        let bytes = answer.bytes
        var cuts = bytes.indices.map { [bytes[..<$0], bytes[$0...]] }
        cuts.append(bytes.indices.map { bytes[$0...$0] })
        try Self.compare(answer, cuts)
    }

    @Test(arguments: large) func isReadAsLibcurlReadsItInLargePieces(_ answer: Case) throws {
        let bytes = answer.bytes
        let cuts = [1013, 4096, 16384].map { size in
            stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
        }
        try Self.compare(answer, cuts)
    }

    @Test func allAnswersFollowEachOtherOverOneConnectionAsTheyDoWithLibcurl() throws {
        let answers = Self.cases.filter { !$0.closes && !$0.text.contains("close") && $0.name != "version 1.0" }
        let server = try HandServer()
        let clients: [any DrivenClient] = try [LibcurlClient(port: server.port), PoolClient(PoolLoop(port: server.port))]
        let readings = try clients.map { client in
            var connection: HandConnection?
            return try (answers + answers.reversed()).map { answer in
                let (reading, used) = try client.exchange(
                    [answer.bytes[...]], isHead: answer.isHead, with: server, on: connection)
                connection = used
                return reading
            }
        }
        #expect(readings[0] == readings[1])
        #expect(answers.count > 20)
        #expect(server.accept() == nil)
    }
}
