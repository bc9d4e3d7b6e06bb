import PushModel
import Testing

@testable import Console

/// The words of hold and limit before any broker is asked.
@Suite struct ScopeFlagsTests {
    private static func arguments(_ line: String) throws -> Arguments {
        try ArgumentParser.parse(line.split(separator: " ").map(String.init), for: .hold)
    }

    @Test(arguments: [
        ("--everything", "everything"), ("--hub north", "hub:north"), ("--tenant acme --hub north", "hub:north tenant:acme"),
        ("--source marketing --lane bulk", "source:marketing lane:bulk"), ("--lane own", "lane:own"),
        ("--label campaign=sale", "label.campaign:sale"), ("--label b=2 --label a=1", "label.a:1 label.b:2"),
        ("--label a=x=y", #"label.a:"x=y""#), ("--user alice", "user:alice"), ("--request news-1", "request:news-1"),
    ])
    func flagsNameAScope(line: String, text: String) throws {
        let scope = try #require(try ScopeFlags.scope(Self.arguments(line)))
        #expect(scope.text == text)
        #expect(scope.isEverything == (text == "everything"))
    }

    @Test func withoutAFlagThereIsNoScope() throws {
        #expect(try ScopeFlags.scope(Self.arguments("--reason r")) == nil)
    }

    private static let long = String(repeating: "x", count: OrderScope.maximumByteCount + 1)

    @Test(
        arguments: [
            (["hold", "--reason", "r"], "name a scope"), (["hold", "--tenant", "a"], "--reason is missing"),
            (["hold", "--tenant", "a", "--reason", ""], "--reason: it must say something"),
            (["hold", "--tenant", "a", "--reason", " \u{A0}"], "--reason: it must say something"),
            (["hold", "--tenant", "a", "--reason", String(repeating: "é", count: 201)], "--reason: at most 200 characters"),
            (["hold", "--everything", "--hub", "n", "--lane", "own", "--reason", "r"], "leave it out, or --hub and --lane"),
            (["hold", "--tenant", "", "--reason", "r"], "--tenant: expected 1 to 288 bytes"),
            (["hold", "--hub", long, "--reason", "r"], "--hub: expected 1 to 288 bytes"),
            (["hold", "--label", "campaign:sale", "--reason", "r"], "--label: expected NAME=VALUE"),
            (["hold", "--label", "campaign=", "--reason", "r"], "--label: expected 1 to 288 bytes"),
            (["hold", "--label", "a=1", "--label", "a=2", "--reason", "r"], "--label: a request has one value of 'a'"),
            (["hold", "--lane", "slow", "--reason", "r"], "--lane: 'slow' is not one of high, normal, bulk, own"),
            (["hold", "--hub", "a", "--hub", "b", "--reason", "r"], "--hub is given twice"),
            (["hold", "tenant:acme", "--reason", "r"], "'tenant:acme' is one argument too many"),
            (["hold", "--tenant", "a", "--reason", "r", "--for", "0s"], "--for: expected more than 0 and at most 7d"),
            (["hold", "--tenant", "a", "--reason", "r", "--for", "7d1ms"], "--for: expected more than 0 and at most 7d"),
            (["hold", "--tenant", "a", "--reason", "r", "--for", "soon"], "--for: 'soon' is no length of time"),
            (["hold", "--tenant", "a", "--reason", "r", "--until", "14:00"], "--until: '14:00' is no time"),
            (["hold", "--tenant", "a", "--reason", "r", "--until", "2026-11-21T11:59Z"], "--until: 2026-11-21T11:59:00"),
            (["hold", "--tenant", "a", "--reason", "r", "--until", "now"], "has passed"),
            (["hold", "--tenant", "a", "--reason", "r", "--until", "2026-11-28T12:01Z"], "is more than 7d away"),
            (["hold", "--tenant", "a", "--reason", "r", "--until", "1h", "--for", "1h"], "--for and --until say the same"),
            (["hold", "--tenant", "a", "--reason", "r", "--by", " "], "--by: expected 1 to 256 bytes"),
            (["hold", "--tenant", "a", "--reason", "r", "--by", String(repeating: "x", count: 257)], "--by: expected"),
            (["hold", "--tenant", "a", "--reason", "r", "--timeout", "soon"], "--timeout: 'soon' is no length of time"),
            (["limit", "--tenant", "a", "--reason", "r"], "how many calls a second?"),
            (["limit", "0", "--tenant", "a", "--reason", "r"], "use `pushfan hold`"),
            (["limit", "1000001", "--tenant", "a", "--reason", "r"], "'1000001' is no limit; expected 1 to 1000000"),
            (["limit", "many", "--tenant", "a", "--reason", "r"], "'many' is no limit"),
            (["limit", "5", "--reason", "r"], "name a scope"), (["limit", "5", "--tenant", "a"], "--reason is missing"),
            (["release"], "which hold or limit?"), (["release", "h-1", "--reason", " "], "--reason: it must say something"),
            (["release", "h-1", "h-2"], "'h-2' is one argument too many"), (["holds", "h-1"], "'h-1' is one argument too many"),
        ] as [([String], String)])
    func whatCannotBeAnOrderIsRefusedWithTheNameOfTheFlag(words: [String], text: String) {
        // A broker that was asked would give another code.
        let outcome = Harness().run(words + ["--bootstrap", "127.0.0.1:1"])
        #expect(outcome.code == .usage && outcome.output.isEmpty)
        #expect(outcome.messages.contains(text), "\(outcome.messages)")
    }

    @Test(arguments: [
        ("", "2026-11-21T13:00:00Z"), ("--for 7d", "2026-11-28T12:00:00Z"), ("--for 1ms", "2026-11-21T12:00:00.001Z"),
        ("--until 2026-11-21T14:00Z", "2026-11-21T14:00:00Z"), ("--until 20m", "2026-11-21T12:20:00Z"),
        ("--until 2026-11-28T12:00:00Z", "2026-11-28T12:00:00Z"),
    ])
    func anOrderEndsWhenItsFlagsSay(flags: String, end: String) throws {
        let terms = try OrderTerms(Self.arguments("--reason r " + flags), now: Harness().now(), user: "ann@shop")
        #expect(terms.until == Timestamp(Array(end.utf8).span))
        #expect(terms.author == "ann@shop" && terms.reason == "r")
    }

    @Test(arguments: [
        (Int64(0), "0 s"), (59, "59 s"), (60, "1 min 0 s"), (3599, "59 min 59 s"), (3600, "1 h 0 min"), (86_399, "23 h 59 min"),
        (604_800, "7 d 0 h"),
    ])
    func theTimeThatIsLeftHasTwoUnits(seconds: Int64, text: String) {
        #expect(OrderRecord.length(seconds: seconds) == text)
    }
}
