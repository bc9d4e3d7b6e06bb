import HTTPServing
import Testing

@testable import HubEmulator
@testable import HubServer

/// The rules of the hub itself, which it applies before any push service sees a notification.
struct StrictHubTests {
    @Test(
        arguments: [
            ("windows", [:], 400), ("windows", ["X-WNS-Type": ""], 400), ("windows", ["X-WNS-Type": "toast"], 400),
            ("windows", ["x-wns-type": "WNS/Toast"], 201), ("windows", ["X-WNS-Type": "wns/raw"], 201),
            ("apple", ["ServiceBusNotification-Apns-Expiry": "tomorrow"], 400),
            ("apple", ["ServiceBusNotification-Apns-Expiry": "13/40/2026 00:00:00"], 400),
            ("apple", ["ServiceBusNotification-Apns-Expiry": "2026-01-02T00:00:00Z"], 201),
            ("apple", ["ServiceBusNotification-Apns-Expiry": "01/02/2026 00:00:00"], 201),
        ] as [(String, HTTPFields, Int)])
    func headersOfSendsAreChecked(_ format: String, _ headers: HTTPFields, _ status: Int) throws {
        #expect(try TestHub().send(format, to: "a", format == "windows" ? "<toast/>" : "{}", headers).status == status)
    }

    /// The hub makes reserved tags. The .NET SDK lets a caller give them too, each kind once and with its braces.
    @Test(
        arguments: [
            (["$UserId:{ann}"], 200), (["$InstallationId:{a}", "$UserId:{ann}"], 200), (["$UserId:{ann}", "$userid:{bob}"], 400),
            (["$UserId:ann"], 400), (["$Other:{a}"], 400), ([String(repeating: "a", count: 121)], 400), (["a b"], 400),
            ([""], 400),
            ((0..<61).map { "t\($0)" }, 200),
        ] as [([String], Int)])
    func tagsOfInstallationsAndOfTheirTemplatesAreChecked(_ tags: [String], _ status: Int) throws {
        let list = "[" + tags.map { "\"\($0)\"" }.joined(separator: ",") + "]"
        let bodies = [
            #"{"platform":"gcm","pushChannel":"g","tags":\#(list)}"#,
            #"{"platform":"gcm","pushChannel":"g","templates":{"t":{"body":"{}","tags":\#(list)}}}"#,
        ]
        for body in bodies { #expect(try TestHub().call("PUT", "installations/i", [:], body).status == status) }
    }
}
