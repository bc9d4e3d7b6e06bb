@testable import DeviceAPI
import DeviceHubs
import GatewayAPI
import PushModel
import Testing

struct DevicePatchTests {
    private let parties: DeviceParties

    init() throws { parties = try DeviceParties() }

    @Test(
        arguments: [
            (#"{"op":"add","path":"/tags/World"}"#, .addTag("World")),
            (#"{"op":"add","path":"/tags/-","value":"World"}"#, .addTag("World")),
            (#"{"op":"add","path":"/tags","value":"World"}"#, .addTag("World")),
            (#"{"op":"remove","path":"/tags/World"}"#, .removeTag("World")),
            (#"{"op":"replace","path":"/tags","value":["a"]}"#, .setTags(["a"])),
            (#"{"op":"remove","path":"/tags"}"#, .setTags([])),
            (#"{"op":"replace","path":"/handle","value":"h"}"#, .handle(.init(text: "h"))),
            (#"{"op":"remove","path":"/user"}"#, .user(nil)), (#"{"op":"remove","path":"/expires_at"}"#, .expiry(nil)),
            (#"{"op":"add","path":"/templates/t","value":{"body":"b"}}"#, .template(name: "t", .init(body: "b"))),
            (#"{"op":"remove","path":"/templates/a~1b~0"}"#, .template(name: "a/b~", nil)),
            (#"{"op":"replace","path":"/templates/t/body","value":"c"}"#, .body(name: "t", "c")),
            (#"{"op":"add","path":"/templates/t/headers","value":{"A":"1"}}"#, .headers(name: "t", ["A": "1"])),
            (#"{"op":"remove","path":"/templates/t/tags"}"#, .templateTags(name: "t", [])),
        ] as [(String, DevicePatch.Change)])
    func anOperationIsRead(_ json: String, change: DevicePatch.Change) throws {
        #expect(try parties.patch("[\(json)]").changes == [change])
    }

    @Test(
        arguments: [
            ("{}", [""]), ("[1]", ["/0"]), ("[{}]", ["/0"]), (#"[{"op":"test","path":"/tags"}]"#, ["/0/op"]),
            (#"[{"op":"add","path":"tags"}]"#, ["/0/path"]), (#"[{"op":"add","path":""}]"#, ["/0/path"]),
            (#"[{"op":"add","path":"/handle"}]"#, ["/0"]), (#"[{"op":"remove","path":"/handle"}]"#, ["/0/path"]),
            (#"[{"op":"replace","path":"/platform","value":"adm"}]"#, ["/0/path"]),
            (#"[{"op":"replace","path":"/handle","value":1}]"#, ["/0/value"]),
            (#"[{"op":"add","path":"/tags","value":[1]}]"#, ["/0/value"]),
            (#"[{"op":"add","path":"/templates/username:bob","value":{"body":"b"}}]"#, ["/0/path"]),
            (#"[{"op":"add","path":"/templates/t/x/y/z/w","value":{"body":"b"}}]"#, ["/0/path"]),
            (#"[{"op":"add","path":"/expires_at","value":"never"}]"#, ["/0/value"]),
            (#"[{"op":"add","path":"/tags/a","x":1}]"#, ["/0/x"]),
        ] as [(String, [String])])
    func whatIsWrongIsToldWithItsPlace(_ json: String, pointers: [String]) throws {
        let problem = try #require(throws: APIProblem.self) { try parties.patch(json) }
        #expect(problem.status == 400 && problem.faults.map(\.pointer) == pointers)
    }

    @Test(arguments: [#"[{"op":"add","path":"/user","value":"bob"}]"#, #"[{"op":"remove","path":"/user"}]"#])
    func aUserGivesNoDeviceAway(_ json: String) throws {
        let problem = try #require(throws: APIProblem.self) { try parties.patch(json, for: parties.alice) }
        #expect(problem.faults.map(\.pointer) == ["/0/path"])
    }

    @Test func longPatchesAndPathsAreBounded() throws {
        let many = Array(repeating: #"{"op":"add","path":"/tags/a"}"#, count: 101).joined(separator: ",")
        #expect(throws: APIProblem.self) { try parties.patch("[\(many)]") }
        let json = #"[{"op":"add","path":"\#(String(repeating: "/x", count: 2048))","value":1}]"#
        #expect(try #require(throws: APIProblem.self) { try parties.patch(json) }.faults.count == 1)
    }

    @Test func tagsAloneAreKnownAsSuch() throws {
        #expect(try parties.patch(#"[{"op":"add","path":"/tags/a"},{"op":"remove","path":"/tags/b"}]"#).hasTagsAlone)
        #expect(try !parties.patch(#"[{"op":"add","path":"/tags/a"},{"op":"remove","path":"/tags"}]"#).hasTagsAlone)
    }

    @Test(
        arguments: [
            (nil, 400), ("application/json", 400), ("application/json-patch+json; charset=utf-8", 400), ("text/plain", 415),
        ] as [(String?, Int)])
    func aPatchIsJSON(_ type: String?, status: Int) throws {
        let problem = try #require(throws: APIProblem.self) {
            try DevicePatch([], contentType: type, for: parties.backEnd, now: DeviceParties.now)
        }
        #expect(problem.status == status)
    }
}
