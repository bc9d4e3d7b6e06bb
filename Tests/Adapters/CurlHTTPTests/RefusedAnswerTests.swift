import CurlHTTP
import HTTP1
import TestSupport
import Testing

/// What libcurl lets pass and we do not: after each, the two ends may not agree on where the next answer starts.
@Suite(.tags(.c)) struct RefusedAnswerTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let fault: AnswerFault
        /// Of RFC 9112.
        let section: String
        let text: String

        init(_ fault: AnswerFault, _ section: String, _ text: String) {
            (self.fault, self.section, self.text) = (fault, section, text)
        }

        var testDescription: String { "\(fault.rawValue) (\(section)): \(text.debugDescription)" }
    }

    static let head = LibcurlComparisonTests.head
    static let chunked = LibcurlComparisonTests.chunked

    /// Each is read by libcurl 7.88 as an answer.
    static let tolerated = [
        Case(.bareLineFeed, "2.2", "HTTP/1.1 200 OK\nContent-Length: 2\n\nab"),
        Case(.bareLineFeed, "2.2", head + "X: y\nContent-Length: 2\r\n\r\nab"),
        Case(.bareCarriageReturn, "2.2", head + "X: a\rb\r\nContent-Length: 2\r\n\r\nab"),
        Case(.invalidStatusLine, "4", "HTTP/1.1 600 Odd\r\nContent-Length: 2\r\n\r\nab"),
        Case(.whitespaceBeforeColon, "5.1", head + "Content-Length : 2\r\n\r\nab"),
        Case(.invalidFieldName, "5.1", head + "X(: y\r\nContent-Length: 2\r\n\r\nab"),
        Case(.foldedField, "5.2", head + "X: y\r\nConnection: x,\r\n close\r\nContent-Length: 2\r\n\r\nab"),
        Case(.invalidFieldValue, "5.5 of RFC 9110", head + "X: \u{1B}[0m\r\nContent-Length: 2\r\n\r\nab"),
        Case(.unknownTransferCoding, "6.1", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"),
        Case(.unknownTransferCoding, "6.1", head + "Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nab"),
        Case(
            .lengthAndTransferCoding, "6.1", head + "Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"),
        Case(.differingContentLengths, "6.3", head + "Content-Length: 9\r\nContent-Length: 2\r\n\r\nab"),
        Case(.differingContentLengths, "6.3", head + "Content-Length: 2, 9\r\n\r\nab"),
        Case(.invalidContentLength, "6.3", head + "Content-Length: 2 9\r\n\r\nab"),
        Case(.invalidContentLength, "6.3", head + "Content-Length: 2x\r\n\r\nab"),
        Case(.bytesAfterAnswer, "6.3", head + "Content-Length: 2\r\n\r\nabc"),
        Case(.bytesAfterAnswer, "6.3", head + "Connection: close\r\nContent-Length: 2\r\n\r\nab" + Answers.created),
        Case(.bytesAfterAnswer, "6.3", Answers.created + Answers.created),
        Case(.bytesAfterAnswer, "6.3", "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nab"),
        Case(.bytesAfterAnswer, "7.1", chunked + "2\r\nab\r\n0\r\n\r\n0\r\n\r\n"),
        Case(.invalidChunk, "7.1.1", chunked + "2;\u{1}\r\nab\r\n0\r\n\r\n"),
        Case(.invalidChunk, "7.1", chunked + "2\r\nab\n0\r\n\r\n"),
        Case(.bareLineFeed, "7.1", chunked + "2\nab\r\n0\r\n\r\n"),
    ]

    /// The table was written for the version of Debian 12. Others may refuse more, and ours does not depend on it.
    @Test(
        .enabled(if: LibcurlClient.version.hasPrefix("libcurl/7.88."), "another libcurl: nothing shows that it reads them"),
        arguments: tolerated)
    func libcurlReadsIt(_ answer: Case) throws {
        let server = try HandServer()
        let (reading, _) = try LibcurlClient(port: server.port).exchange(
            [Array(answer.text.utf8)[...]], closes: true, with: server)
        guard case .answer = reading else {
            Issue.record("\(reading)")
            return
        }
    }

    @Test(arguments: tolerated) func weCloseTheConnectionAndNeverUseItAgain(_ answer: Case) throws {
        let bytes = Array(answer.text.utf8)
        // Cut just before its end, bytes after an answer come to a connection that has none: another test's matter.
        let cuts = answer.fault == .bytesAfterAnswer ? [[bytes[...]]] : [[bytes[...]], bytes.indices.map { bytes[$0...$0] }]
        let server = try HandServer()
        let client = PoolClient(try PoolLoop(port: server.port))
        for pieces in cuts {
            let (reading, refused) = try client.exchange(pieces, with: server)
            let failure = try #require(client.failure, "\(reading)")
            #expect(failure.reason == .invalidAnswer(answer.fault))
            #expect(failure.requestBytesSent && failure.bodySent)
            #expect(client.loop.pool.openConnections == 0)
            try client.wait { refused.hasEnded() ? true : nil }
            let (next, other) = try client.exchange([Array(Answers.closing.utf8)[...]], with: server)
            #expect(
                next == .answer(status: 201, fields: ["Connection=close", "Content-Length=0"], body: [], keepsConnection: false))
            #expect(other !== refused)
            #expect(refused.unread().isEmpty)
        }
    }

    @Test(arguments: [Answers.created, "x", "\r\n", "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n"])
    func whatComesWithoutARequestIsNeverReadAsAnAnswer(_ text: String) throws {
        let server = try HandServer()
        let client = PoolClient(try PoolLoop(port: server.port))
        let (_, first) = try client.exchange([Array(Answers.created.utf8)[...]], with: server)
        #expect(client.loop.pool.openConnections == 1)
        first.send(text.utf8)
        try client.wait { client.loop.pool.openConnections == 0 ? true : nil }
        let (reading, second) = try client.exchange([Array(Answers.ok("right").utf8)[...]], with: server)
        guard case .answer(200, _, Array("right".utf8), true) = reading else {
            Issue.record("\(reading)")
            return
        }
        #expect(second !== first)
        #expect(first.unread().isEmpty)
    }
}
