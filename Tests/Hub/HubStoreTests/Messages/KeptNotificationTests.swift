import FanOut
import struct Foundation.Data
import struct Foundation.URL
import HTTPServing
import HubStore
import Testing

@testable import HubServer

/// Notifications that a file gives back.
struct KeptNotificationTests {
    private static let handle = String(repeating: "5A", count: 32)
    private static let other = String(repeating: "b7", count: 32)
    private static let long = "{\"aps\":{\"alert\":\"\(String(repeating: "x", count: 5000))\"}}"
    private static let twenty = (1...20).map { "tag\($0)" }.joined(separator: " || ")

    @Test(
        arguments: [
            ("apple", ["Tags": "a && !b"], ["apns-collapse-id": "k", "apns-priority": "5"], #"{"aps":{"alert":"x"}}"#),
            ("Apple", [:], [:], long),
            ("apple", ["Tags": twenty], ["apns-collapse-id": String(repeating: "a", count: 65)], #"{"aps":{"alert":"ä\n"}}"#),
            ("apple", ["Tags": "$UserId:{bob}"], ["X-Ms-Not": "no", "X-Forwarded-For": "no"], #"{"aps":{}}"#),
            (
                "windows", ["Tags": "((a||b) && c)"], ["X-WNS-Type": "wns/toast", "X-WNS-Tag": "t", "X-WNS-Group": "g"],
                "<toast/>"
            ),
            ("windows", [:], ["X-WNS-Type": "wns/toast", "Content-Type": "text/xml"], "<toast>&</toast>"),
            ("windowsphone", [:], ["X-MessageID": "1"], "<a/>"),
            ("fcmv1", ["Tags": "a"], [:], #"{"message":{"android":{"notification":{"tag":"t","title":"x"}}}}"#),
            ("fcmv1", [:], [:], #"{"message":{"data":{"k":1}}}"#),
            ("gcm", [:], [:], #"{"notification":{"tag":"t"}}"#),
            ("adm", [:], [:], #"{"data":{"k":"v"}}"#),
            ("baidu", [:], [:], "text"),
            ("template", ["Tags": "a"], ["apns-priority": "5"], #"{"Name":"Ann","other":"é"}"#),
            ("TEMPLATE", [:], [:], "{}"),
        ] as [(String, [String: String], HTTPFields, String)], [nil, JournalFile.key])
    func aNotificationReadAgainIsTheSame(
        _ sent: (format: String, hub: [String: String], fields: HTTPFields, body: String), _ key: [UInt8]?
    ) throws {
        var headers = sent.fields
        headers.append("ServiceBusNotification-Format", value: sent.format)
        for (name, value) in sent.hub { headers.append("ServiceBusNotification-" + name, value: value) }
        let call = HubCall.sample(at: 1000, headers: headers, body: Array(sent.body.utf8), id: 42)
        let reader = NotificationReader(call: call, body: call.request.body)
        let notification = try reader.notification(to: reader.taggedAudience())
        try expect(notification, of: call, sealedWith: key)
        #expect(!notification.headers.all.contains { $0.value == "no" })
    }

    @Test(arguments: [nil, JournalFile.key])
    func handlesAreTheSameInTheirOrder(_ key: [UInt8]?) throws {
        let call = HubCall.sample(
            at: 1000, headers: ["ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": "a"])
        let reader = NotificationReader(call: call, body: Array(#"{"aps":{"alert":"x"}}"#.utf8), isBatch: true)
        try expect(
            reader.notification(to: .handles([Self.handle, Self.other, Self.handle])), of: call, sealedWith: key)
    }

    @Test func aBodyThatItsServiceRefusesIsRefusedForTheSameReason() throws {
        let kept = try JournalFile()
        defer { withExtendedLifetime(kept) {} }
        let notification = try Notification(
            id: "n", callID: 1, format: "apple", audience: .everyone, body: Array(Self.long.utf8), headers: [:])
        #expect(notification.refusal != nil)
        try kept.journal.add(notification, of: .sample(at: 0), due: nil, deadline: 100)
        #expect(try kept.journal.unfinished(now: 0, without: [], limit: 1).first?.notification.refusal == notification.refusal)
    }

    private func expect(_ read: Notification, of call: HubCall, sealedWith key: [UInt8]?) throws {
        var notification = read
        notification.id = "the-id"
        let kept = try JournalFile(handleKey: key)
        try kept.journal.add(notification, of: call, due: nil, deadline: 5000)
        let before = try #require(try kept.journal.unfinished(now: 1000, without: [], limit: 10).first)
        try kept.reopen()
        let after = try #require(try kept.journal.unfinished(now: 1000, without: [], limit: 10).first)
        for message in [before, after] {
            #expect(message.notification.whole == notification.whole)
            #expect(message.acceptedAt == 1000 && message.due == 1000 && message.deadline == 5000 && message.place == nil)
        }
        let telemetry = try #require(try kept.journal.telemetry(of: "the-id", now: 1000))
        #expect(telemetry.body == notification.body && telemetry.apiVersion == call.apiVersion)
        #expect(telemetry.platform?.format ?? "template" == notification.format)
        if case .tags = notification.audience {
            #expect(telemetry.tags == call.notificationHeader("Tags"))
        } else {
            #expect(telemetry.tags == nil)
        }
        kept.file.close()
        let isPlain = try Data(contentsOf: URL(filePath: kept.path)).contains(Array(Self.handle.utf8))
        if case .handles = notification.audience { #expect(isPlain == (key == nil)) }
    }
}
