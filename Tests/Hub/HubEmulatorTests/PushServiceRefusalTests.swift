import HTTPServing
import Testing

@testable import HubEmulator
@testable import HubServer

/// Sends that a hub takes and a push service refuses: 201, no device rings, and telemetry says why.
struct PushServiceRefusalTests {
    @Test(
        arguments: [
            ("fcmv1", "fcmV1", #"{"message":{"data":{"k":1}}}"#, [:], "FcmV1.InvalidNotificationFormat", "message.data"),
            (
                "fcmv1", "fcmV1", #"{"message":{"android":{"ttl":"3600"}}}"#, [:], "FcmV1.InvalidNotificationFormat",
                "message.android.ttl"
            ),
            ("fcmv1", "fcmV1", "{}", [:], "FcmV1.InvalidNotificationFormat", "message"),
            ("apple", "apns", "{}", [:], "Apns.InvalidNotificationFormat", "empty"),
            (
                "apple", "apns", #"{"aps":{"content-available":1}}"#, ["apns-priority": "10"], "Apns.InvalidNotificationFormat",
                "apns-priority"
            ),
            (
                "apple", "apns", #"{"aps":{"alert":"x"}}"#, ["apns-collapse-id": String(repeating: "a", count: 65)],
                "Apns.InvalidNotificationFormat", "apns-collapse-id"
            ),
            (
                "apple", "apns", "{\"aps\":{\"alert\":\"\(String(repeating: "x", count: 4096))\"}}", [:],
                "Apns.InvalidNotificationSize", "4096"
            ),
            ("windows", "wns", "<toast>&</toast>", ["X-WNS-Type": "wns/toast"], "Wns.InvalidNotificationFormat", "bare &"),
            ("windows", "wns", "<toast/>", ["X-WNS-Type": "wns/badge"], "Wns.InvalidNotificationFormat", "wns/badge"),
            ("adm", "adm", #"{"data":{"k":1}}"#, [:], "Adm.InvalidNotificationFormat", "data"),
        ] as [(String, String, String, HTTPFields, String, String)])
    func sendThatBreaksARuleRingsNowhere(
        _ format: String, _ platform: String, _ body: String, _ headers: HTTPFields, _ outcome: String, _ words: String
    ) throws {
        let hub = try TestHub()
        for name in ["a", "b"] { try hub.register(name, platform, tags: ["t"]) }
        let response = try hub.send(format, to: "t", body, headers)
        #expect(response.status == 201 && hub.rung.isEmpty)
        #expect(try hub.progress(try TestHub.id(response)) == "Completed \(outcome)=2")
        let call = try #require(hub.hub.calls().first { $0.isSend })
        #expect(call.isAccepted && call.rungCount == 0 && call.brokenRule?.contains(words) == true)
        let test = try hub.send(format, to: "t", body, headers, query: "?test").text
        #expect(test.contains("<Success>0</Success><Failure>2</Failure>") && test.contains("refuses the notification: "))
        #expect(try hub.call("GET", "/calls").text.contains(#""broken_rule":""#))
    }

    @Test func templateIsJudgedForEachDevice() throws {
        let hub = try TestHub()
        try hub.register("good", "adm", templates: ["t": #"{"data":{"n":"$(n)"}}"#])
        try hub.register("bad", "adm", templates: ["t": ##"{"data":{"n":"#(n)"}}"##])
        let response = try hub.send("template", #"{"n":"1"}"#)
        #expect(hub.rung == ["good": [#"{"data":{"n":"1"}}"#]])
        #expect(
            try hub.progress(try TestHub.id(response)) == "Completed Adm.Success=1 Adm.InvalidNotificationFormat=1")
    }

    @Test func deviceThatTheScriptRefusesIsCountedOnce() throws {
        let hub = try TestHub()
        for name in ["a", "b"] { try hub.register(name, "apns") }
        _ = try hub.call("POST", "/telemetry", [:], "refuse=ExpiredChannel,device=handle-a")
        let response = try hub.send("apple", "{}")
        #expect(hub.rung.isEmpty)
        #expect(
            try hub.progress(try TestHub.id(response))
                == "Completed Apns.ExpiredChannel=1 Apns.InvalidNotificationFormat=1")
    }
}
