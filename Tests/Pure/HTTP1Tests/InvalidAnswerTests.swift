import HTTP1
import Testing

struct InvalidAnswerTests {
    struct Case: CustomStringConvertible, Sendable {
        let text: String
        let fault: AnswerFault

        init(_ fault: AnswerFault, _ text: String) {
            self.fault = fault
            self.text = text
        }

        var description: String { "\(fault.rawValue): \(text.debugDescription)" }
    }

    static let head = "HTTP/1.1 200 OK\r\n"
    static let chunked = head + "Transfer-Encoding: chunked\r\n\r\n"

    static let cases = [
        Case(.invalidStatusLine, "\r\n"), Case(.invalidStatusLine, "<html><body>busy</body></html>\r\n"),
        Case(.invalidStatusLine, "HTTP/1.1 20\r\n"), Case(.invalidStatusLine, "HTTP/1.1  200 OK\r\n"),
        Case(.invalidStatusLine, "HTTP/1.1 201Created\r\n"), Case(.invalidStatusLine, "HTTP/1.1 201\tCreated\r\n"),
        Case(.invalidStatusLine, "HTTP/1.1 \r\n"), Case(.invalidStatusLine, "HTTP/1.1 201\u{0}\r\n"),
        Case(.invalidStatusLine, "HTTP/1.1 201\r\r\n"), Case(.invalidStatusLine, "\r\nHTTP/1.1 200 OK\r\n"),
        Case(.invalidStatusLine, "HTTP/1.1 20 OK either\r\n"), Case(.invalidStatusLine, "HTTP/1.1 2000 OK\r\n"),
        Case(.invalidStatusLine, "HTTP/1.1 2x0 OK\r\n"), Case(.invalidStatusLine, "HTTP/1.1 099 OK\r\n"),
        Case(.invalidStatusLine, "HTTP/1.1 600 OK\r\n"), Case(.invalidStatusLine, "HTTP/1.1\t200 OK\r\n"),
        Case(.invalidStatusLine, "HTTP/1.1 200 O\u{0}K\r\n"), Case(.invalidStatusLine, "http/1.1 200 OK\r\n"),
        Case(.invalidStatusLine, " HTTP/1.1 200 OK\r\n"), Case(.bareCarriageReturn, "HTTP/1.1 200 O\rK\r\n"),
        Case(.unsupportedVersion, "HTTP/1.2 200 OK\r\n"), Case(.unsupportedVersion, "HTTP/2.0 200 OK\r\n"),
        Case(.unexpectedUpgrade, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
        Case(.bareLineFeed, "HTTP/1.1 200 OK\n"), Case(.bareLineFeed, head + "X: y\nZ: 1\r\n\r\n"),
        Case(.bareLineFeed, head + "\n"),
        Case(.bareCarriageReturn, head + "X: a\rb\r\n"), Case(.bareCarriageReturn, head + "X: a\r\r\n"),
        Case(.bareCarriageReturn, head + "X\r: a\r\n"), Case(.bareCarriageReturn, head + "X: a\r\nY: b\r\n\r\r\n"),
        Case(.invalidFieldName, head + ": a\r\n"), Case(.invalidFieldName, head + "X\r\n"),
        Case(.invalidFieldName, head + "X(: a\r\n"),
        Case(.invalidFieldName, head + "Ä: a\r\n"), Case(.invalidFieldName, head + "X\u{0}: a\r\n"),
        Case(.whitespaceBeforeColon, head + "Content-Length : 3\r\n"), Case(.whitespaceBeforeColon, head + "X\t: 3\r\n"),
        Case(.foldedField, head + " X: 3\r\n"), Case(.foldedField, head + "X: 3\r\n\t\r\n"),
        Case(.foldedField, head + "Content-Length: 1\r\n 2\r\n"),
        Case(.foldedField, head + "Transfer-Encoding: chunked\r\n ,\r\n"),
        Case(.foldedField, head + "connection: x,\r\n close\r\n"),
        Case(.invalidFieldValue, head + "X: a\r\n b\u{0}\r\n"), Case(.bareCarriageReturn, head + "X: a\r\n b\rc\r\n"),
        Case(.bareLineFeed, head + "X: a\n b\r\n"), Case(.bareLineFeed, head + "X: a\r\n b\n"),
        Case(.invalidFieldValue, head + "X: a\u{0}b\r\n"), Case(.invalidFieldValue, head + "X: a\u{7F}\r\n"),
        Case(.invalidFieldValue, head + "X: \u{1B}[0m\r\n"),
        Case(.invalidContentLength, head + "Content-Length:\r\n"), Case(.invalidContentLength, head + "Content-Length: -1\r\n"),
        Case(.invalidContentLength, head + "Content-Length: +1\r\n"),
        Case(.invalidContentLength, head + "Content-Length: 0x1\r\n"),
        Case(.invalidContentLength, head + "Content-Length: 1 2\r\n"),
        Case(.invalidContentLength, head + "Content-Length: 1,\r\n"),
        Case(.invalidContentLength, head + "Content-Length: 9223372036854775808\r\n"),
        Case(.invalidContentLength, head + "Content-Length: 100000000000000000000000001\r\n"),
        Case(.differingContentLengths, head + "Content-Length: 1\r\nContent-Length: 2\r\n"),
        Case(.differingContentLengths, head + "Content-Length: 1, 2\r\n"),
        Case(.lengthAndTransferCoding, head + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
        Case(.lengthAndTransferCoding, head + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n"),
        Case(.unknownTransferCoding, head + "Transfer-Encoding: gzip, chunked\r\n"),
        Case(.unknownTransferCoding, head + "Transfer-Encoding: identity\r\n"),
        Case(.unknownTransferCoding, head + "Transfer-Encoding:\r\n"),
        Case(.unknownTransferCoding, head + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
        Case(.unknownTransferCoding, "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        Case(.invalidChunk, chunked + "\r\n"), Case(.invalidChunk, chunked + "x\r\n"), Case(.invalidChunk, chunked + "-1\r\n"),
        Case(.invalidChunk, chunked + "0x1\r\n"), Case(.invalidChunk, chunked + " 1\r\n"),
        Case(.invalidChunk, chunked + "1 1\r\n"),
        Case(.invalidChunk, chunked + "1;\u{0}\r\n"), Case(.invalidChunk, chunked + "1;a\rb\r\n"),
        Case(.invalidChunk, chunked + "FFFFFFFFFFFFFFFFF\r\n"), Case(.invalidChunk, chunked + "1\r\nabc\r\n"),
        Case(.invalidChunk, chunked + "1\r\na\n"), Case(.invalidChunk, chunked + "1\r\na\rb"),
        Case(.bareLineFeed, chunked + "1\na\r\n"),
        Case(.bodyTooLarge, chunked + "FFFFFFFFFFFFFF\r\n"), Case(.foldedField, chunked + "0\r\n x\r\n"),
        Case(.foldedField, chunked + "0\r\nX: y\r\n z\r\n"),
        Case(.whitespaceBeforeColon, chunked + "0\r\nX : y\r\n"), Case(.bareLineFeed, chunked + "0\r\n\n"),
        Case(.bytesAfterAnswer, head + "Content-Length: 1\r\n\r\nab"), Case(.bytesAfterAnswer, chunked + "0\r\n\r\n\r\n"),
        Case(.bytesAfterAnswer, "HTTP/1.1 204 No Content\r\nContent-Length: 1\r\n\r\na"),
        Case(.bodyTooLarge, head + "Content-Length: 262145\r\n\r\n"),
    ]

    @Test(arguments: cases) func isRefusedForTheSameReasonHoweverItIsCut(_ answer: Case) {
        for reading in Reading.everyCut(of: answer.text) { #expect(reading == .fault(answer.fault)) }
    }

    @Test func everyFaultHasACase() {
        let limits: [AnswerFault] = [.headTooLarge, .tooManyFields, .chunkLineTooLong, .trailersTooLarge]
        let tried = Set(Self.cases.map(\.fault) + limits + [.truncated])
        #expect(tried == Set(AnswerFault.allCases))
        #expect(Set(AnswerFault.allCases.filter(\.isTooLarge)) == Set(limits + [.bodyTooLarge]))
    }

    static let small = AnswerLimits(headByteCount: 60, fieldCount: 3, bodyByteCount: 10, chunkLineByteCount: 8)

    @Test(arguments: [
        Case(.headTooLarge, head + "X: " + String(repeating: "y", count: 41)),
        Case(.headTooLarge, String(repeating: "y", count: 61)),
        Case(.headTooLarge, head + "X: " + String(repeating: "y", count: 41) + "\n"),
        Case(.headTooLarge, String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 3)),
        Case(.tooManyFields, head + "A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\n\r\n"),
        Case(.bodyTooLarge, head + "Content-Length: 11\r\n\r\n"),
        Case(.bodyTooLarge, head + "\r\n01234567890"),
        Case(.bodyTooLarge, chunked + "5\r\n01234\r\n6\r\n"),
        Case(.chunkLineTooLong, chunked + "000000000"), Case(.chunkLineTooLong, chunked + "1;abcde\r\n"),
        Case(.chunkLineTooLong, chunked + "1;abcdefg\n"),
        Case(.trailersTooLarge, chunked + "0\r\n" + String(repeating: "A: 01234567\r\n", count: 5)),
        Case(.trailersTooLarge, chunked + "0\r\n" + String(repeating: "A", count: 61)),
    ]) func whatIsTooLargeIsRefusedAtTheLimit(_ answer: Case) {
        for reading in Reading.everyCut(of: answer.text, limits: Self.small) { #expect(reading == .fault(answer.fault)) }
        let shorter = Array(answer.text.utf8.dropLast())
        if answer.text.last?.isNewline == false { #expect(Reading([shorter[...]], limits: Self.small) == .incomplete) }
    }
}
