@testable import DeviceAPI
import DeviceHubs
import DoorStage
import GatewayAPI
import PushModel
import Testing

struct DeviceBodyTests {
    private let parties: DeviceParties

    init() throws { parties = try DeviceParties() }

    private func pointers(_ json: String, for rights: DeviceRights? = nil) throws -> [String] {
        let problem = try #require(throws: APIProblem.self) { try parties.body(json, for: rights) }
        #expect(problem.status == 400)
        return problem.faults.map(\.pointer)
    }

    @Test(
        arguments: [
            ("apns", "<6f2a>", .apple, "6F2A"), ("APNS", "6f2a", .apple, "6F2A"), ("fcmv1", "cd:x", .fcmv1, "cd:x"),
            ("fcm", "cd:x", .fcmv1, "cd:x"), ("gcm", "cd:x", .fcmv1, "cd:x"), ("wns", "https://w/1", .windows, "https://w/1"),
            ("adm", "a", .adm, "a"), ("baidu", "1-2", .baidu, "1-2"), ("xiaomi", "x", .xiaomi, "x"),
        ] as [(String, String, Platform, String)])
    func everyPlatformOfTheHubIsTaken(_ word: String, handle: String, platform: Platform, form: String) throws {
        let body = try parties.body(#"{"platform":"\#(word)","handle":"\#(handle)"}"#)
        #expect(body.platform == platform && body.handle == form && body.user == nil)
    }

    @Test func theHandleOfABrowserIsAnObjectOrItsText() throws {
        let object = #"{"auth":"s","endpoint":"https://b/1","p256dh":"k"}"#
        let form = #"{"endpoint":"https://b/1","p256dh":"k","auth":"s"}"#
        let text = object.replacing("\"", with: "\\\"")
        for handle in [object, "\"\(text)\""] {
            #expect(try parties.body(#"{"platform":"browser","handle":\#(handle)}"#).handle == form)
        }
    }

    @Test func allMembersAreRead() throws {
        let body = try parties.body(
            """
            {"platform":"fcmv1","handle":"h","user":"alice","tags":["World","staff","username:alice"],
             "templates":{"news":{"body":"$(m)","headers":{"X-A":"1"},"tags":["t"]}},"expires_at":"2030-01-01T00:00:00Z"}
            """)
        #expect(body.user == parties.people.alice && body.tags == ["World", "staff"])
        #expect(body.expiresAt?.milliseconds == 1_893_456_000_000)
        #expect(body.templates.all == ["news": .init(body: "$(m)", headers: ["X-A": "1"], tags: ["t"])])
    }

    @Test func aUserRegistersForItselfAlone() throws {
        for member in ["", #","user":"alice""#] {
            let body = try parties.body(#"{"platform":"adm","handle":"h"\#(member)}"#, for: parties.alice)
            #expect(body.user == parties.people.alice)
        }
        #expect(try pointers(#"{"platform":"adm","handle":"h","user":"bob"}"#, for: parties.alice) == ["/user"])
        let body = try parties.body(#"{"platform":"adm","handle":"h","tags":["News","Staff"]}"#, for: parties.alice)
        #expect(body.claims == ["Staff": "/tags/1"])
    }

    @Test(
        arguments: [
            ("[]", ["", "/platform", "/handle"]), ("{}", ["/platform", "/handle"]),
            (#"{"platform":"mpns","handle":"h"}"#, ["/platform"]), (#"{"platform":1,"handle":2}"#, ["/platform"]),
            (#"{"platform":"apns","handle":"xyz"}"#, ["/handle"]), (#"{"platform":"adm","handle":{"a":1}}"#, ["/handle"]),
            (#"{"platform":"browser","handle":{"endpoint":"e"}}"#, ["/handle"]),
            (#"{"platform":"adm","handle":"a\u0000b"}"#, ["/handle"]),
            (#"{"platform":"adm","handle":"h","Tags":[]}"#, ["/Tags"]),
            (#"{"platform":"adm","handle":"h","handle":"i"}"#, ["/handle"]),
            (#"{"platform":"adm","handle":"h","user":""}"#, ["/user"]),
            (#"{"platform":"adm","handle":"h","user":"a\u0000"}"#, ["/user"]),
            (
                #"{"platform":"adm","handle":"h","tags":["$UserId:{bob}","username:bob","a b","from:x"]}"#,
                ["/tags/0", "/tags/1", "/tags/2", "/tags/3"]
            ),
            (#"{"platform":"adm","handle":"h","expires_at":"2001-01-01T00:00:00Z"}"#, ["/expires_at"]),
            (#"{"platform":"adm","handle":"h","expires_at":"tomorrow"}"#, ["/expires_at"]),
            (#"{"platform":"adm","handle":"h","templates":[]}"#, ["/templates"]),
            (
                #"{"platform":"adm","handle":"h","templates":{"username:bob":{"body":"b"}}}"#, ["/templates/username:bob"]
            ),
            (#"{"platform":"adm","handle":"h","templates":{"t":{}}}"#, ["/templates/t"]),
            (#"{"platform":"adm","handle":"h","templates":{"t":{"body":"a\u0000"}}}"#, ["/templates/t/body"]),
            (
                #"{"platform":"adm","handle":"h","templates":{"t":{"body":"b","headers":{"a b":"c"}}}}"#,
                ["/templates/t/headers/a b"]
            ),
            (
                #"{"platform":"adm","handle":"h","templates":{"t":{"body":"b","tags":["username:bob"]}}}"#,
                ["/templates/t/tags/0"]
            ),
        ] as [(String, [String])])
    func whatIsWrongIsToldWithItsPlace(_ json: String, expected: [String]) throws {
        #expect(try pointers(json) == expected)
    }

    private func list(_ count: Int, _ item: (Int) -> String) -> String { (0..<count).map(item).joined(separator: ",") }

    @Test func longListsEndInAFewFaults() throws {
        let device = #""platform":"adm","handle":"h""#
        let bad = list(9000) { _ in #""a b""# }
        #expect(try pointers(#"{\#(device),"tags":[\#(bad)]}"#).count == RequestFault.maximumCount)
        let many = list(5000) { #""t\#($0)":{}"# }
        #expect(try pointers(#"{\#(device),"templates":{\#(many)}}"#) == ["/templates"])
        let tags = list(60) { #""t\#($0)""# }
        #expect(try pointers(#"{\#(device),"tags":[\#(tags)]}"#) == ["/tags"])
        let own = list(58) { #""t\#($0)""# }
        #expect(try pointers(#"{\#(device),"tags":[\#(own)],"templates":{"n":{"body":"b","tags":["x"]}}}"#) == ["/templates"])
    }

    @Test(arguments: [String(repeating: "[", count: 60_000), #"{"x":"# + String(repeating: "[", count: 60_000), "\u{0}", ""])
    func whatIsNoJSONIsRefused(_ body: String) throws {
        #expect(try #require(throws: APIProblem.self) { try parties.body(body) }.status == 400)
    }

    @Test func aLargeBodyIsRefused() throws {
        let body = String(repeating: " ", count: 1 << 20)
        #expect(try #require(throws: APIProblem.self) { try parties.body(body) }.status == 413)
    }

    @Test func neitherAProblemNorADescriptionRepeatsAHandle() throws {
        for json in [
            #"{"platform":"apns","handle":"CANARY"}"#, #"{"platform":"CANARY","handle":"CANARY"}"#,
            #"{"platform":"wns","handle":"CANARY x"}"#, #"{"platform":"browser","handle":{"endpoint":"CANARY"}}"#,
        ] {
            let problem = try #require(throws: APIProblem.self) { try parties.body(json) }
            #expect(!String(decoding: APIAnswer(problem).body, as: UTF8.self).contains("CANARY"))
        }
        let body = try parties.body(#"{"platform":"wns","handle":"CANARY"}"#)
        var dumped = ""
        dump(body, to: &dumped)
        #expect(!"\(body) \(String(reflecting: body)) \(dumped)".contains("CANARY"))
    }
}
