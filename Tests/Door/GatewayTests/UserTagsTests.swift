@testable import DeviceHubs
@testable import AppAPI
import Basics
import EventLoop
import FanOut
import TestSupport
import Testing
import Users

/// From a name, as somebody wrote it, to the user's tag.
struct UserTagsTests {
    private let pattern: UserTag.Pattern

    init() throws { pattern = try UserTag.Pattern("username:{user}") }

    private func tags(of names: [String], allowsDemo: Bool = false) throws -> UserTags {
        let file = try UsersOnDisk(names.map { ($0, "a password") })
        let source = try UsersSource(file.path, now: MonotonicTime.now()) { _ in }
        return UserTags(pattern, of: source, allowsDemo: allowsDemo)
    }

    @Test(
        arguments: [
            ("Jos\u{E9}", ["jose\u{301}", "JOS\u{C9}", "Jos\u{E9}"]), ("Jose\u{301}", ["jos\u{E9}", "JOSE\u{301}"]),
            ("Anna Meier", ["anna meier", "ANNA MEIER"]), ("stra\u{DF}e", ["STRASSE", "Stra\u{DF}e"]), ("alice", ["Alice"]),
        ])
    func everySpellingFindsTheOneUser(name: String, spellings: [String]) throws {
        let tags = try tags(of: [name, "bob"])
        for spelling in spellings { #expect(tags.tag(of: spelling) == pattern.tag(of: name)) }
    }

    @Test func aNameThatNobodyHasIsTakenAsItIs() throws {
        let tags = try tags(of: ["bob"])
        for name in ["Carol", "Carol Meier", "x.c3a9"] { #expect(tags.tag(of: name) == pattern.tag(of: name)) }
        #expect(UserTags(pattern).tag(of: "Carol Meier") == pattern.tag(of: "Carol Meier"))
    }

    @Test func peopleOfADemonstrationAreFoundWithoutRegardToCaseToo() throws {
        let tags = try tags(of: ["Anna Meier"], allowsDemo: true)
        #expect(tags.tag(of: "Carol MEIER") == tags.tag(of: "carol meier"))
        #expect(tags.tag(of: "JOSE\u{301}") == tags.tag(of: "jos\u{E9}"))
        #expect(tags.tag(of: "anna meier") == pattern.tag(of: "Anna Meier"))
    }
}
