import Crypto
import ResultFeed
import Testing
import Webhooks

@testable import CallbackRuntime

/// The requests that receivers get, and what their ends come to.
@Suite struct CallbackCallTests {
    private static let calls = CallbackCall(userAgent: "pushfan/1.2.3")

    private func parts(_ request: [UInt8]) throws -> (head: [String], body: [UInt8]) {
        let end = try #require((0..<request.count - 3).first { Array(request[$0..<$0 + 4]) == Array("\r\n\r\n".utf8) })
        let head = String(decoding: request[..<end], as: UTF8.self)
        return (head.split(separator: "\r\n").map(String.init), Array(request[(end + 4)...]))
    }

    @Test func aCallIsAPostWithAnIdATimeAndASignature() throws {
        let record = try sample(7)
        let receiver = try sampleReceiver(url: "https://example.com:8443/hooks?a=b")
        let (head, body) = try parts(Self.calls.request(for: record, to: receiver, at: 1_700_000_000_999))
        #expect(body == record.line)
        let content = WebhookSignature.content(id: "r0-7", timestamp: 1_700_000_000, body: body)
        let signature = WebhookSignature.header([try HMACSHA256.code(of: content, key: receiver.secrets[0].key)])
        #expect(
            head == [
                "POST /hooks?a=b HTTP/1.1", "Host: example.com:8443", "User-Agent: pushfan/1.2.3",
                "Content-Type: application/json",
                "webhook-id: r0-7", "webhook-timestamp: 1700000000", "webhook-signature: \(signature)",
                "Content-Length: \(body.count)",
            ])
    }

    @Test func whileASecretChangesThereIsASignatureByEach() throws {
        var receiver = try sampleReceiver()
        receiver.secrets.append(try sampleSecret("b"))
        let (head, _) = try parts(Self.calls.request(for: sample(1), to: receiver, at: 1_000))
        let field = try #require(head.first { $0.hasPrefix("webhook-signature: ") })
        let signatures = field.split(separator: " ").dropFirst()
        #expect(signatures.count == 2 && Set(signatures).count == 2 && signatures.allSatisfy { $0.hasPrefix("v1,") })
    }

    @Test func eachAttemptHasTheSameIdAndBody() throws {
        var receiver = try sampleReceiver()
        receiver.form = .cloudevent
        let first = try parts(Self.calls.request(for: sample(1), to: receiver, at: 1_000))
        let second = try parts(Self.calls.request(for: sample(1), to: receiver, at: 90_000_000))
        #expect(first.body == second.body)
        #expect(first.head.contains("webhook-id: r0-1") && second.head.contains("webhook-id: r0-1"))
        #expect(first.head.contains("webhook-timestamp: 1") && second.head.contains("webhook-timestamp: 90000"))
    }

    @Test(arguments: ["a\r\nX: y", "ä", "a b"]) func anIdCannotAddALineToTheHead(_ id: String) throws {
        let written = id.unicodeScalars.map { $0.isASCII && $0.value >= 0x20 ? "\($0)" : "\\u00" + Self.hex($0.value) }.joined()
        let json = #"{"result_id":"\#(written)","request_id":"q","kind":"final","state":"sent","outcome":"success","hub":"h"}"#
        let record = try #require(FeedRecord(key: "q", json: Array(json.utf8), partition: 0, offset: 0, timestamp: 0))
        let (head, _) = try parts(Self.calls.request(for: record, to: sampleReceiver(), at: 1_000))
        #expect(head.count == 8)
        #expect(head.count { $0.hasPrefix("webhook-id: ") } == 1)
    }

    private static func hex(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }

    @Test(arguments: [
        (CallbackAnswer.status(200, retryAfter: nil), "2xx"), (.status(302, retryAfter: nil), "3xx"),
        (.status(404, retryAfter: nil), "4xx"), (.status(410, retryAfter: nil), "410"), (.status(429, retryAfter: 5), "429"),
        (.status(503, retryAfter: nil), "5xx"), (.failed(reason: "timeout", mayHaveArrived: true), "timeout"),
        (.failed(reason: "connect_timeout", mayHaveArrived: false), "timeout"),
        (.failed(reason: "address_refused", mayHaveArrived: false), "failed"),
    ]) func metricsHaveAWordForEachAnswer(_ answer: CallbackAnswer, _ word: String) {
        #expect(answer.word == word)
    }

    @Test(arguments: [
        (CallbackAnswer.status(400, retryAfter: nil), false), (.status(422, retryAfter: nil), false),
        (.status(429, retryAfter: nil), false), (.status(410, retryAfter: nil), false), (.status(301, retryAfter: nil), true),
        (.status(401, retryAfter: nil), true), (.status(404, retryAfter: nil), true), (.status(500, retryAfter: nil), true),
        (.failed(reason: "connect", mayHaveArrived: false), true),
    ]) func anAnswerSaysWhetherTheReceiverIsAway(_ answer: CallbackAnswer, _ isAway: Bool) {
        #expect(answer.isAway == isAway)
    }
}
