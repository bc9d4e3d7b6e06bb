import HTTPServing
import Testing

@testable import HubEmulator
@testable import HubServer

struct EmulatedInstallationTests {
    private static let body =
        #"{"installationId":"i1","userId":"u1","platform":"apns","pushChannel":"AB","tags":["a"],"#
        + #""templates":{"n 1":{"body":"{\"aps\":{\"alert\":\"$(m)\"}}","headers":{"apns-priority":"5"},"tags":["x"]}}}"#

    private func patch(_ operations: String...) throws -> (status: Int, json: String) {
        let hub = try TestHub()
        try hub.call("PUT", "installations/i1", [:], Self.body)
        let status = try hub.call("PATCH", "installations/i1", [:], "[\(operations.joined(separator: ","))]").status
        return (status, try hub.call("GET", "installations/i1").text)
    }

    @Test func anInstallationIsKeptAsItWas() throws {
        let hub = try TestHub()
        let put = try hub.call("PUT", "installations/i1", [:], Self.body)
        #expect(put.status == 200 && put.body.isEmpty)
        let get = try hub.call("GET", "installations/i1")
        #expect(get.headers["Content-Type"] == "application/xml; charset=utf-8")
        #expect(
            get.text == #"{"installationId":"i1","userId":"u1","pushChannel":"AB","pushChannelExpired":false,"platform":"apns","#
                + #""expirationTime":"9999-12-31T23:59:59.9999999Z","tags":["a"],"templates":{"n 1":{"body":"{\"aps\":{\"alert\":\"$(m)\"}}","#
                + #""headers":{"apns-priority":"5"},"tags":["x","n 1"]}}}"#)
        #expect(try hub.call("DELETE", "installations/i1").status == 204)
        #expect(try hub.call("DELETE", "installations/i1").status == 204)
        let missing = try hub.call("GET", "installations/i1")
        #expect(missing.status == 404 && missing.detail == "Installation not found")
        #expect(try hub.call("PATCH", "installations/i1", [:], "[]").status == 404)
        #expect(try !hub.call("GET", "registrations").text.contains("<entry "))
    }

    @Test func registrationsAreDerivedFromIt() throws {
        let hub = try TestHub()
        try hub.call("PUT", "installations/i1", [:], Self.body)
        let list = try hub.call("GET", "registrations?$filter=DeviceToken eq 'AB'".replacing(" ", with: "%20")).text
        #expect(list.contains("<Tags>a,$InstallationId:{i1},$UserId:{u1}</Tags>"))
        #expect(list.contains("<Tags>a,$InstallationId:{i1},$UserId:{u1},x,n 1</Tags>"))
        try hub.send("template", to: "$UserId:{u1} && x", #"{"m":"hi"}"#)
        let ring = try #require(hub.hub.devices().first?.rung.first)
        #expect(ring.body == #"{"aps":{"alert":"hi"}}"# && ring.headers["apns-priority"] == "5" && ring.template == "n 1")
        try hub.send("apple", to: "x")
        #expect(hub.hub.devices().first?.rungCount == 1)
    }

    @Test func secondaryTilesAreDevicesOfTheirOwn() throws {
        let hub = try TestHub()
        let body =
            #"{"installationId":"w","platform":"wns","pushChannel":"https://a/1","secondaryTiles":{"t":{"pushChannel":"https://a/2","#
            + #""tags":["tile"],"templates":{"x":{"body":"<tile>$(m)</tile>","headers":{"X-WNS-Type":"wns/tile"}}}}}}"#
        #expect(try hub.call("PUT", "installations/w", [:], body).status == 200)
        try hub.send("windows", to: "tile", "<tile/>", ["X-WNS-Type": "wns/tile"])
        try hub.send("template", to: "tile", #"{"m":"1"}"#)
        #expect(hub.hub.devices(handle: "https://a/2").first?.rung.map(\.body) == ["<tile/>", "<tile>1</tile>"])
        #expect(hub.hub.devices(handle: "https://a/1").first?.rungCount == 0)
        #expect(try hub.call("PATCH", "installations/w", [:], #"[{"op":"remove","path":"/secondaryTiles/t"}]"#).status == 200)
        #expect(try !hub.call("GET", "installations/w").text.contains("secondaryTiles"))
    }

    @Test func aHandleThatIsGoneIsAddressedNoMoreUntilItIsWrittenAgain() throws {
        for change in ["PUT", "PATCH"] {
            let hub = try TestHub()
            try hub.call("PUT", "installations/i1", [:], Self.body)
            hub.hub.script([try TelemetryScript(parsing: "refuse=ExpiredChannel,count=1")])
            let refused = try hub.send("apple", to: "a")
            #expect(try hub.progress(try TestHub.id(refused)) == "Completed Apns.ExpiredChannel=1")
            #expect(try hub.call("GET", "installations/i1").text.contains(#""pushChannelExpired":true,"#))
            #expect(try !hub.call("GET", "registrations").text.contains("<entry "))
            // Other changes do not bring it back.
            try hub.call("PATCH", "installations/i1", [:], #"[{"op":"add","path":"/tags","value":"b"}]"#)
            try hub.send("apple", to: "a || b")
            #expect(hub.hub.devices().allSatisfy { $0.rungCount == 0 })
            let patch = #"[{"op":"replace","path":"/pushChannel","value":"CD"}]"#
            try hub.call(change, "installations/i1", [:], change == "PUT" ? Self.body : patch)
            #expect(try hub.call("GET", "installations/i1").text.contains(#""pushChannelExpired":false,"#))
            try hub.send("apple", to: "a")
            #expect(hub.hub.devices(handle: change == "PUT" ? "AB" : "CD").first?.rungCount == 1)
        }
    }

    @Test(arguments: [
        (#"{"op":"add","path":"/tags","value":"b"}"#, #""tags":["a","b"],"#),
        (#"{"op":"add","path":"/tags","value":"A"}"#, #""tags":["a"],"#),
        (#"{"op":"replace","path":"/tags","value":"[\"c\",\"d\"]"}"#, #""tags":["c","d"],"#),
        (#"{"op":"remove","path":"/tags/A"}"#, #"9999999Z","templates""#),
        (#"{"op":"remove","path":"/tags"}"#, #"9999999Z","templates""#),
        (#"{"op":"replace","path":"/pushChannel","value":"CD"}"#, #""pushChannel":"CD""#),
        (#"{"op":"replace","path":"/userId","value":"u2"}"#, #""userId":"u2""#),
        (#"{"op":"remove","path":"/userId"}"#, #""i1","pushChannel""#),
        (#"{"op":"add","path":"/templates/t2","value":"{\"body\":\"{}\"}"}"#, #""t2":{"body":"{}","tags":["t2"]}"#),
        (#"{"op":"add","path":"/templates/t~12","value":{"body":"{}"}}"#, #""t/2":{"body":"{}","tags":["t/2"]}"#),
        (#"{"op":"replace","path":"/templates/n 1/body","value":"{\"b\":\"$(m)\"}"}"#, #""n 1":{"body":"{\"b\":\"$(m)\"}""#),
        (#"{"op":"add","path":"/templates/n 1/headers/apns-priority","value":"10"}"#, #""headers":{"apns-priority":"10"}"#),
        (#"{"op":"remove","path":"/templates/n 1/headers/apns-priority"}"#, #"}}","tags":["x","n 1"]"#),
        (#"{"op":"add","path":"/templates/n 1/tags","value":"y"}"#, #""tags":["x","y","n 1"]"#),
        (#"{"op":"add","path":"/templates/n 1/expiry","value":"$(e)"}"#, #""expiry":"$(e)""#),
        (#"{"op":"remove","path":"/templates/n 1"}"#, #""tags":["a"]}"#),
        (
            #"{"op":"replace","path":"/expirationTime","value":"2027-01-01T00:00:00Z"}"#,
            #""expirationTime":"2027-01-01T00:00:00Z""#
        ),
    ])
    func everyPatchIsApplied(_ operation: String, _ expected: String) throws {
        let (status, json) = try patch(operation)
        #expect(status == 200)
        #expect(json.contains(expected), "\(json)")
    }

    @Test(arguments: [
        #"{"op":"move","path":"/tags","value":"b"}"#, #"{"op":"add","path":"tags","value":"b"}"#,
        #"{"op":"add","path":"/nothing","value":"b"}"#,
        #"{"op":"add","path":"/tags","value":"b c"}"#, #"{"op":"add","path":"/tags"}"#, #"{"op":"remove","path":"/pushChannel"}"#,
        #"{"op":"add","path":"/templates/t","value":"{"}"#, #"{"op":"add","path":"/templates/none/body","value":"{}"}"#,
        #"{"op":"add","path":"/templates/n 1/body","value":"{\"a\":\"$(\"}"}"#, #"{"op":"add","path":"/","value":"x"}"#,
        #"{"path":"/tags"}"#,
        #""x""#, #"{"op":"add","path":"/secondaryTiles/t/tags","value":"b"}"#,
    ])
    func aPatchThatFailsChangesNothing(_ operation: String) throws {
        let (status, json) = try patch(#"{"op":"add","path":"/tags","value":"first"}"#, operation)
        #expect(status == 400)
        #expect(!json.contains("first"))
    }

    @Test(arguments: [
        "", "{", "[]", #"{"platform":"apns"}"#, #"{"platform":"nokia","pushChannel":"a"}"#,
        #"{"platform":"apns","pushChannel":""}"#, #"{"platform":"apns","pushChannel":"{length=32,bytes=0x740f...e6a1}"}"#,
        #"{"platform":"browser","pushChannel":"https://e"}"#, #"{"platform":"fcmV1","pushChannel":"a b"}"#,
        #"{"installationId":"other","platform":"apns","pushChannel":"AB"}"#,
        #"{"platform":"apns","pushChannel":"AB","tags":["b c"]}"#,
        #"{"platform":"apns","pushChannel":"AB","tags":"b"}"#, #"{"platform":"apns","pushChannel":"AB","templates":{"t":{}}}"#,
        ##"{"platform":"apns","pushChannel":"AB","templates":{"t":{"body":"{\"a\":\"#1\"}"}}}"##,
        #"{"platform":1,"pushChannel":"a"}"#,
    ])
    func whatIsNoInstallationIsRefused(_ body: String) throws {
        #expect(try TestHub().call("PUT", "installations/i1", [:], body).status == 400)
    }

    @Test func tooManyTagBytesHaveTheServicesWords() throws {
        let tags = (0..<100).map { "\"\(String(repeating: "t", count: 90))\($0)\"" }.joined(separator: ",")
        let response = try TestHub().call(
            "PUT", "installations/i1", [:], #"{"platform":"gcm","pushChannel":"a","tags":[\#(tags)]}"#)
        #expect(response.status == 400)
        #expect(response.detail?.hasSuffix("Max Allowed Size: '8000'") == true)
    }
}
