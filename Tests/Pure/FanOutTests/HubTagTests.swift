import FanOut
import Testing

struct HubTagTests {
    @Test(arguments: [
        "a", "World", "username:alice", "_@#.:-09azAZ", "alice@example.org", "$InstallationId:{4f1c-22}", "$UserId:{a=b@c}",
        "$userid:{x}", String(repeating: "x", count: 120), "$UserId:{\(String(repeating: "x", count: 120))}",
    ])
    func tagsThatTheHubTakesAreKeptAsTheyAre(_ text: String) throws {
        let tag = try HubTag(text)
        #expect(tag.text == text)
        #expect(tag.folded == text.lowercased())
    }

    @Test(
        arguments: [
            ("", .empty), (String(repeating: "x", count: 121), .tooLong(count: 121)), ("a b", .invalidCharacter(offset: 1)),
            ("a+b@example.org", .invalidCharacter(offset: 1)), ("é", .invalidCharacter(offset: 0)),
            ("ok\r\nX: y", .invalidCharacter(offset: 2)), ("a\0", .invalidCharacter(offset: 1)),
            ("a=b", .invalidCharacter(offset: 1)), ("a{b}", .invalidCharacter(offset: 1)),
            ("$Other:{x}", .malformedReservedTag), ("$", .malformedReservedTag), ("$UserId:x", .malformedReservedTag),
            ("$UserId:{x", .malformedReservedTag), ("$UserId:{}", .malformedReservedTag),
            ("$UserId:{a b}", .invalidCharacter(offset: 10)), ("$UserId:{a}}", .invalidCharacter(offset: 10)),
            ("$UserId:{\(String(repeating: "x", count: 121))}", .tooLong(count: 121)),
        ] as [(String, HubTag.Problem)])
    func everythingElseIsRefusedWithTheFault(_ text: String, problem: HubTag.Problem) {
        #expect(throws: problem) { try HubTag(text) }
    }

    @Test func reservedTagsAreMadeFromIds() throws {
        #expect(try HubTag.installation("4f1c").text == "$InstallationId:{4f1c}")
        #expect(try HubTag.user("alice").text == "$UserId:{alice}")
        #expect(throws: HubTag.Problem.malformedReservedTag) { try HubTag.user("") }
        #expect(throws: HubTag.Problem.self) { try HubTag.user("x} || everyone") }
    }

    @Test func noProblemRepeatsTheTag() {
        let problems: [HubTag.Problem] = [.empty, .tooLong(count: 200), .invalidCharacter(offset: 3), .malformedReservedTag]
        #expect(Set(problems.map(\.description)).count == problems.count)
        #expect(HubTag.Problem.invalidCharacter(offset: 3).description.contains("character 4"))
    }
}
