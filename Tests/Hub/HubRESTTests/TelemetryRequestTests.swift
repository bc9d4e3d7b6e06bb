import FanOut
import HubREST
import PushModel
import TestSupport
import Testing

struct TelemetryRequestTests {
    private static let id = "4995f50796f046d6a61aa7580af3c9c7-20260101000000-586152-24"

    private func write(_ calling: inout Calling, _ id: [UInt8], now: Int64 = Calling.now) throws -> (
        serial: UInt64?, text: String
    ) {
        var writer = ByteWriter()
        writer.append("left over")
        let serial = try calling.client.writeTelemetryRequest(of: id.span, now: now, into: &writer)
        return (serial, writer.text)
    }

    @Test func aQuestionThatSendsNothingNamesANotificationThatThereNeverWas() throws {
        var calling = try Calling()
        var writer = ByteWriter()
        writer.append("left over")
        _ = try calling.client.writeQuestion(now: Calling.now, into: &writer)
        let id = "00000000000000000000000000000000-pushfan-question"
        #expect(try writer.text == write(&calling, Array(id.utf8)).text)
    }

    @Test func theQuestionIsAGet() throws {
        var calling = try Calling()
        let (serial, text) = try write(&calling, Array(Self.id.utf8))
        #expect(serial != nil)
        #expect(
            try text == """
                GET /newshub/messages/\(Self.id)?api-version=2020-06 HTTP/1.1\r
                Host: contoso.servicebus.windows.net\r
                User-Agent: pushfan/test\r
                Authorization: \(Calling.token())\r
                \r

                """)
    }

    @Test func theQuestionForFeedbackIsAGetToo() throws {
        var calling = try Calling()
        var writer = ByteWriter()
        writer.append("left over")
        _ = try calling.client.writeFeedbackRequest(now: Calling.now, into: &writer)
        #expect(
            try writer.text == """
                GET /newshub/feedbackcontainer?api-version=2020-06 HTTP/1.1\r
                Host: contoso.servicebus.windows.net\r
                User-Agent: pushfan/test\r
                Authorization: \(Calling.token())\r
                \r

                """)
    }

    @Test func itHasTheTokenOfTheSends() throws {
        var calling = try Calling()
        _ = try calling.calls(#""audience":{"categories":["a"]}"#)
        let call = try #require(calling.plan.calls.first)
        let send = try calling.write(call, payload("{}"), now: Calling.now)
        #expect(try write(&calling, Array("8d6f".utf8)).serial == send.serial)
    }

    @Test(arguments: [("2013-10", "2016-07"), ("2016-07", "2016-07"), ("2020-06", "2020-06"), ("2031-01", "2031-01")])
    func itIsNeverOlderThanTelemetry(configured: String, asked: String) throws {
        var calling = try Calling(endpoint: "http://127.0.0.1:8800/a/", apiVersion: configured)
        let text = try write(&calling, Array("1-2".utf8)).text
        #expect(text.hasPrefix("GET /a/newshub/messages/1-2?api-version=\(asked) HTTP/1.1\r\nHost: 127.0.0.1:8800\r\n"))
    }

    @Test(arguments: [
        "", ".", "..", "a/b", "a?b", "a#b", "a b", "a\r\nX: y", "a%2F..", "$batch", "é", "\u{0}",
        String(repeating: "x", count: 257),
    ])
    func anIDThatNoHubGivesIsNotAskedFor(id: String) throws {
        var calling = try Calling()
        let (serial, text) = try write(&calling, Array(id.utf8))
        #expect(serial == nil && text.isEmpty)
    }

    @Test(arguments: 0..<20)
    func noIDLeavesItsPlace(seed: Int) throws {
        var random = SeededRandom(seed)
        var calling = try Calling()
        for _ in 0..<100 {
            let id = (0..<(1 + random.below(6))).map { _ in UInt8(random.below(256)) }
            let (serial, text) = try write(&calling, id)
            let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
            #expect(serial == nil ? text.isEmpty : lines.count == 6 && lines[0].split(separator: " ").count == 3)
        }
    }
}
