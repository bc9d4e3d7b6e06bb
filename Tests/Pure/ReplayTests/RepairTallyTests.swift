import PushModel
import ResultQuery
import Testing

@testable import Replay

@Suite struct RepairTallyTests {
    typealias Standing = FailureTally.Standing

    /// Sends that failed, those that were replayed, those of which a replay has a result, those that it delivered, and what that makes.
    @Test(
        arguments: [
            ([0], [], [], [], .open), ([0], [0], [], [], .beingRepaired), ([0], [0], [0], [], .failedAgain),
            ([0], [0], [0], [0], .repaired), ([0, 1], [0], [0], [0], .open), ([0, 1], [0, 1], [0], [0], .beingRepaired),
            ([0, 1], [0, 1], [0, 1], [0], .failedAgain), ([0, 1], [0, 1, 2], [0, 1], [0, 1], .repaired),
            ([], [0], [0], [0], .open),
        ] as [([Int], [Int], [Int], [Int], Standing)])
    func whatBecameOfARequestFollowsFromItsReplays(
        failed: [Int], replayed: [Int], ended: [Int], delivered: [Int], standing: Standing
    ) throws {
        var history = ReplayHistory()
        history.noteJob("j")
        if !replayed.isEmpty { history.noteReplay(of: SendSet(replayed), in: placed) }
        for (index, sends) in [ended, delivered].enumerated() where !sends.isEmpty {
            let outcome = index == 0 ? "transient" : "success"
            history.noteResult(try document(Self.replay(sends.map { _ in outcome }, of: sends)), addsPlaces: false)
        }
        #expect(Standing(of: SendSet(failed), in: placed, after: history) == standing)
    }

    private static func replay(_ outcomes: [String], of sends: [Int], job: String = "j", kind: String = "final") -> String {
        result(
            outcomes, at: "push.requests-own.v1:0:1", id: "\(job):r-1", kind: kind,
            replay: lineage(placed, sends: sends, job: job))
    }

    private func tally(_ results: [String], replayed: Bool = true, in order: ([String]) -> [String] = { $0 }) throws
        -> FailureTally
    {
        var history = ReplayHistory()
        history.noteJob("j")
        if replayed { history.noteReplay(of: SendSet([0]), in: placed) }
        var tally = RepairTally(history)
        for json in order(results) {
            let bytes = Array(json.utf8)
            tally.note(bytes.span)
            let document = try document(json)
            if document.text("state", of: document.root) != "sent" { tally.add(document, writtenAt: 7) }
        }
        return tally.close()
    }

    @Test(arguments: [false, true]) func theOrderOfTheResultsDoesNotMatter(isReversed: Bool) throws {
        let failed = result(["transient"])
        let tally = try tally([failed, Self.replay(["success"], of: [0])]) { isReversed ? $0.reversed() : $0 }
        #expect(tally.count == 1 && tally.count(of: .repaired) == 1)
    }

    @Test func aReplayThatFailedCountsInPlaceOfWhatItRepeats() throws {
        let tally = try tally([result(["transient"]), Self.replay(["transient"], of: [0])])
        #expect(tally.count(of: .open) == 1 && tally.count(of: .failedAgain) == 1)
        #expect(tally.groups.map(\.latestRequest) == ["j:r-1"])
    }

    /// Whoever can write a result must not make failures look repaired.
    @Test(arguments: [("stranger", true, Standing.beingRepaired), ("stranger", false, .open), ("j", false, .open)])
    func onlyWhatJobsHaveRepeatedCounts(job: String, replayed: Bool, standing: Standing) throws {
        let tally = try tally([result(["transient"]), Self.replay(["success"], of: [0], job: job)], replayed: replayed)
        #expect(tally.count == 1 && tally.count(of: standing) == 1)
    }

    /// Ids and times of the request that a replay has delivered, and of one that failed at the same place; with what the records of before
    /// say, they can be the same.
    @Test(
        arguments: [
            ("r-1", 1, "r-1", 1, true), ("r-1", 1, "r-1", 2, false), ("r-1", 1, "r-2", 1, false), ("r-1", nil, "r-1", 2, true),
            ("r-1", nil, "r-2", 2, false), (nil, nil, "r-2", 2, true), (nil, 1, "r-2", 2, false), ("r-1", 1, "r-1", nil, true),
        ] as [(String?, Int64?, String, Int64?, Bool)])
    func aFailureAtThePlaceOfAnotherRequestIsNotRepaired(
        repeated: String?, then: Int64?, failed: String, now: Int64?, isRepaired: Bool
    ) throws {
        func moment(_ seconds: Int64?) -> Timestamp? { seconds.map { Timestamp(milliseconds: $0 * 1000) } }
        let parent = Original(at: place, id: repeated, publishedAt: moment(then))
        var history = ReplayHistory()
        history.noteJob("j")
        history.noteReplay(of: SendSet([0]), in: parent)
        var tally = RepairTally(history)
        let replay = result(["success"], at: "push.requests-own.v1:0:1", id: "j:0", replay: lineage(parent, sends: [0]))
        tally.note(Array(replay.utf8).span)
        let failure = result(["transient"], id: failed, published: moment(now)?.text)
        tally.add(try document(failure), writtenAt: 7)
        #expect(tally.close().count(of: isRepaired ? .repaired : .open) == 1)
    }

    @Test func anInterimResultOfAReplayEndsNothing() throws {
        let tally = try tally([
            result(["transient"]), Self.replay(["success"], of: [0], kind: "interim").replacing("\"sent\"", with: "\"retrying\""),
        ])
        #expect(tally.count(of: .beingRepaired) == 1)
    }
}
