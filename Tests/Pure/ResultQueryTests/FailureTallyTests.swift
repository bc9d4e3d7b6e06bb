import PushModel
import Testing

@testable import ResultQuery

@Suite struct FailureTallyTests {
    private static func record(
        _ id: String, code: String? = "hub_throttled", hub: String = "shop", safety: String = "safe", sends: String = ""
    ) -> String {
        let error = code.map { #""error":{"code":"\#($0)"},"# } ?? ""
        return #"{"request_id":"\#(id)",\#(error)"hub":"\#(hub)","replay_safety":"\#(safety)","sends":[\#(sends)]}"#
    }

    private static func send(_ platform: String, _ outcome: String) -> String {
        #"{"platform":"\#(platform)","outcome":"\#(outcome)"}"#
    }

    private func tally(_ records: [(json: String, time: Int64)]) throws -> FailureTally {
        var tally = FailureTally()
        for record in records { tally.add(try #require(Records.read(record.json)), writtenAt: record.time) }
        return tally
    }

    @Test func resultsOfOneCauseAreCountedTogether() throws {
        let apple = Self.send("apple", "throttled")
        let tally = try tally([
            (Self.record("b", sends: apple), 20), (Self.record("a", sends: apple), 10),
            (Self.record("c", safety: "ambiguous", sends: apple), 30), (Self.record("d", hub: "toys", sends: apple), 40),
            (Self.record("e", code: "hub_timeout", sends: apple), 50),
        ])
        #expect(tally.count == 5)
        #expect(tally.groups.map(\.count) == [3, 1, 1])
        let first = try #require(tally.groups.first)
        #expect(first.cause == FailureTally.Cause(code: "hub_throttled", hub: "shop", platforms: ["apple"]))
        #expect(first.first == 10 && first.last == 30)
        #expect(first.safety == [.safe: 2, .ambiguous: 1])
        #expect(first.latestRequest == "c")
        // Of groups of one size the order is always the same.
        #expect(tally.groups.dropFirst().map(\.cause.code) == ["hub_throttled", "hub_timeout"])
    }

    /// A replay repairs the part, and nothing repairs the result of the whole.
    @Test func aWholeIsCountedByItsParts() throws {
        let whole = Self.record("news").replacing(#""hub""#, with: #""parts":{"count":3,"sent":2,"failed":1},"hub""#)
        let tally = try tally([(whole, 10), (Self.record("news.1"), 20)])
        #expect(tally.count == 1 && tally.groups.map(\.latestRequest) == ["news.1"])
        var ending = ByteWriter()
        ResultFacet.ending.write(of: try #require(Records.members(whole)), to: &ending)
        let part = try #require(Records.read(ending.text.replacing("{\"", with: "{\"request_id\":\"x\",\"", maxReplacements: 1)))
        var byIndex = FailureTally()
        byIndex.add(part, count: 5, from: 1, to: 2, latest: "news")
        #expect(byIndex.count == 0, "\(ending.text)")
    }

    @Test func onlyPlatformsThatFailedArePartOfTheCause() throws {
        let sends = [("apple", "success"), ("fcmv1", "throttled"), ("windows", "ambiguous"), ("fcmv1", "throttled")]
        let tally = try tally([(Self.record("a", sends: sends.map { Self.send($0.0, $0.1) }.joined(separator: ",")), 1)])
        #expect(tally.groups.map(\.cause.platforms) == [["fcmv1", "windows"]])
    }

    @Test func whatIsRepairedIsCountedBesideWhatIsOpen() throws {
        var tally = FailureTally()
        let standings: [FailureTally.Standing] = [.open, .repaired, .beingRepaired, .failedAgain, .repaired]
        for (index, standing) in standings.enumerated() {
            let record = try #require(Records.read(Self.record("r\(index)")))
            tally.add(record, writtenAt: Int64(index), as: standing)
        }
        tally.add(try #require(Records.read(Self.record("x", code: "hub_timeout"))), writtenAt: 9, as: .repaired)
        let group = try #require(tally.groups.first)
        #expect(group.standings == [.open: 1, .repaired: 2, .beingRepaired: 1, .failedAgain: 1])
        #expect(group.count == 5 && group.openCount == 1 && group.safety == [.safe: 1])
        #expect(group.first == 0 && group.last == 4)
        #expect(group.latestRequest == "r0", "the last that is open")
        #expect(tally.groups.map(\.openCount) == [1, 0] && tally.count(of: .repaired) == 3 && tally.count == 6)
    }

    @Test func everyResultIsCountedOnce() throws {
        let tally = try tally([
            (Self.record("a"), 1), (Self.record("b", sends: Self.send("apple", "throttled") + "," + Self.send("adm", "auth")), 1),
            (Self.record("c", code: nil), 1), (Records.least, 1), (Records.partial, 1),
        ])
        #expect(tally.groups.reduce(0) { $0 + $1.count } == 5)
    }

    @Test(arguments: [
        Records.least,
        #"{"request_id":"a","error":7,"hub":null,"sends":[7,{},{"outcome":7,"platform":"x"}],"replay_safety":"new"}"#,
    ])
    func strangeResultsHaveNoCause(json: String) throws {
        let group = try #require(try tally([(json, 5)]).groups.first)
        #expect(group.cause == FailureTally.Cause(code: "", hub: "", platforms: []))
        #expect(group.safety.isEmpty)
    }
}
