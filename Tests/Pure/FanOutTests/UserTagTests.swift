import Basics
import PushModel
import TestSupport
import Testing

@testable import FanOut

struct UserTagTests {
    private func tag(_ name: String, _ pattern: String = "username:{user}") throws -> UserTag {
        try UserTag.Pattern(pattern).tag(of: name)
    }

    @Test(arguments: [
        "alice", "Alice", "bob@example.org", "a.b-c_d#e:f", "x.smith", "h.", "h.abc", "x.abc", String(repeating: "n", count: 111),
    ])
    func aLegalNameIsItsOwnForm(_ name: String) throws {
        let tag = try tag(name)
        #expect(tag.form == name && tag.text == "username:\(name)" && tag.folded == "username:\(name.lowercased())")
    }

    @Test(arguments: [
        ("é", "x.c3a9"), ("a b", "x.612062"), ("bob+x@example.org", "x.626f622b78406578616d706c652e6f7267"), ("", "x."),
        ("x.", "x.782e"),
        ("지은", "x.eca780ec9d80"),
    ])
    func anyOtherNameIsEncoded(_ name: String, form: String) throws {
        #expect(try tag(name).form == form)
    }

    @Test func aNameHasOneTagHoweverItsLettersAreComposed() throws {
        #expect(try tag("Jose\u{301}").form == "x.4a6f73c3a9")
        #expect(try tag("Jos\u{E9}") == tag("Jose\u{301}"))
        #expect(try tag("\u{212A}im").form == "Kim")
        let long = String(repeating: "e\u{301}", count: 60)
        #expect(try tag(long) == tag(String(repeating: "\u{E9}", count: 60)))
    }

    @Test func aLongNameBecomesItsDigest() throws {
        #expect(try tag(String(repeating: "é", count: 27)).form.hasPrefix("x."))
        for name in [String(repeating: "é", count: 28), String(repeating: "n", count: 112), String(repeating: "n", count: 255)] {
            let tag = try tag(name)
            #expect(tag.form == "h." + String(decoding: SHA256.hexadecimalDigest(of: Array(name.utf8)), as: UTF8.self))
            #expect(try HubTag(tag.text).text == tag.text)
        }
    }

    /// Nobody gets another one's tag by choosing the name that it is encoded as.
    @Test func aNameThatLooksEncodedIsEncodedToo() throws {
        let victim = try tag("é")
        #expect(victim.form == "x.c3a9")
        #expect(try tag("x.c3a9").folded != victim.folded)
        #expect(try tag("X.C3A9").folded != victim.folded)
        let long = try tag(String(repeating: "é", count: 100))
        #expect(try tag(long.form).folded != long.folded)
    }

    /// A request that names the user so reaches the tag, and a spread finds the same hub from what an installation says of its user.
    @Test(
        arguments: [
            ("alice", "alice", true), ("Jose\u{301}", "Jos\u{E9}", true), ("x.c3a9", "x.782e63336139", true), ("", "x.", true),
            ("a\u{7}", "x.6107", true), (String(repeating: "é", count: 28), String(repeating: "é", count: 28), false),
        ] as [(String, String, Bool)])
    func aUserIsAddressedByTheNameOrByTheFormWhereThatWouldMeanAnother(_ name: String, address: String, isTold: Bool) throws {
        let tag = try tag(name)
        #expect(tag.address == address)
        #expect(UserTag.address(ofForm: tag.form) == (isTold ? address : nil))
    }

    @Test(
        arguments: [
            ("x.c3a9", "é"), ("X.C3A9", "é"), ("x.782e63336139", "x.c3a9"), ("x.", ""), ("alice", nil), ("x.c3", nil),
            ("x.6", nil),
            ("h." + String(repeating: "0", count: 64), nil),
        ] as [(String, String?)])
    func aFormThatHasTheBytesOfANameNamesIt(_ form: String, name: String?) {
        #expect(UserTag.name(ofForm: form) == name)
    }

    @Test(arguments: ["x.zz", "x.c3", "x.782e", "h.1"]) func whatIsNoFormOfANameIsItsOwnAddress(form: String) {
        #expect(UserTag.address(ofForm: form) == form)
    }

    @Test func everyFormIsAUserOfARequestAndEveryTagATag() throws {
        var random = SeededRandom(7)
        for pattern in ["username:{user}", "{user}@app", "u-{user}-x", "#{user}"] {
            let pattern = try UserTag.Pattern(pattern)
            for _ in 0..<500 {
                let scalars = (0..<random.below(130)).map { _ in Character(Unicode.Scalar(UInt8(32 + random.below(200)))) }
                let tag = pattern.tag(of: String(scalars))
                #expect((1...120).contains(tag.form.utf8.count))
                #expect(try HubTag(tag.text).folded == tag.folded)
                #expect(pattern.fits(tag.text) && pattern.fits(tag.text.uppercased()))
            }
        }
    }

    @Test(
        arguments: [
            ("username:", .noPlace), ("{user}:{user}", .noPlace), ("", .noPlace), ("{user}", .bare),
            ("$UserId:{{user}}", .reserved),
            ("user name:{user}", .invalidCharacter), ("{user}=", .invalidCharacter),
            (String(repeating: "p", count: 55) + "{user}", .tooLong),
        ] as [(String, UserTag.Pattern.Problem)])
    func patternsThatCannotServeAreRefused(_ text: String, problem: UserTag.Pattern.Problem) {
        #expect(throws: problem) { try UserTag.Pattern(text) }
    }

    @Test func theLongestPatternLeavesRoomForADigest() throws {
        let pattern = String(repeating: "p", count: 54) + "{user}"
        #expect(try tag(String(repeating: "é", count: 100), pattern).text.utf8.count == 120)
    }

    /// What a worker plans for the name, or for the form, is the tag that a device registers with.
    @Test(arguments: [
        "alice", "Bob", "é", "e\u{301}", "Jürgen", "Anna Meier", "a+b@example.com", "a\\\"b", String(repeating: "한", count: 60),
        String(repeating: "n", count: 112), String(repeating: "n", count: 255),
    ])
    func registeringAndSendingMeanTheSameTag(_ name: String) throws {
        var configuration = FanOutPlanner.Configuration()
        configuration.userTag = ("u:", "@app")
        let tag = try tag(name, "u:{user}@app")
        var planning = Planning(configuration)
        for given in [tag.form, name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")] {
            try planning.plan(#""platforms":["apple"],"audience":{"users":["\#(given)"]}"#)
            #expect(try planning.tags() == [tag.text])
        }
    }
}

struct TagRulesTests {
    private let rules: TagRules
    private let alice: UserTag

    init() throws {
        let pattern = try UserTag.Pattern("username:{user}")
        rules = TagRules(users: pattern, reserved: ["Admins", "beta:internal"])
        alice = pattern.tag(of: "alice")
    }

    private func pointers(_ tags: [String]) -> [String] {
        rules.check(tags, of: alice, at: "/Tags").faults.map(\.pointer)
    }

    @Test func legalTagsAreKeptOnceAndTheUsersOwnIsLeftOut() {
        let checked = rules.check(
            ["World", "username:alice", "world", "a@b#c", "USERNAME:ALICE", "from"], of: alice, at: "/Tags")
        #expect(checked.tags == ["World", "a@b#c", "from"])
        #expect(checked.faults.isEmpty)
    }

    @Test(arguments: [
        "username:bob", "UserName:Bob", "username:", "from:alice", "FROM:x", "$InstallationId:{4f1c}", "$UserId:{bob}", "$x",
        "admins",
        "Beta:Internal", "", "a b", "a+b", "é", "a,b", String(repeating: "x", count: 121),
    ])
    func reservedAndIllegalTagsAreFaults(_ tag: String) {
        #expect(pointers(["ok", tag]) == ["/Tags/1"])
    }

    @Test func reservedTagsThatADeviceHoldsAreAllowed() {
        let tags = ["ADMINS", "news", "from:x", "beta:internal", "username:bob"]
        let held: Set<String> = ["admins", "from:x", "username:bob"]
        let checked = rules.check(tags, beside: alice.folded, holding: held, at: "/tags")
        #expect(checked.tags == ["ADMINS", "news", "from:x"] && checked.faults.map(\.pointer) == ["/tags/3", "/tags/4"])
        #expect(tags.filter(rules.isReserved) == ["ADMINS", "from:x", "beta:internal"])
    }

    @Test func fiftyNineTagsAreAllowedBesideTheUsers() {
        let tags = (0..<59).map { "t\($0)" }
        #expect(rules.check(tags + ["t1", "username:alice"], of: alice, at: "/Tags").faults.isEmpty)
        #expect(pointers(tags + ["t59"]) == ["/Tags"])
    }

    @Test func noFaultRepeatsATagAndAHostileListEndsSoon() {
        let checked = rules.check([String](repeating: "CANARY canary", count: 5000), of: alice, at: "/tags")
        #expect((1...33).contains(checked.faults.count))
        #expect(checked.faults.allSatisfy { !$0.message.lowercased().contains("canary") })
        #expect(rules.check(["from:CANARY"], of: alice, at: "/tags").faults.allSatisfy { !$0.message.contains("CANARY") })
    }
}
