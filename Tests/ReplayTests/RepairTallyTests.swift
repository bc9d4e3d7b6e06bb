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
        if !replayed.isEmpty { history.noteReplay(of: SendSet(replayed), at: place) }
        for (index, sends) in [ended, delivered].enumerated() where !sends.isEmpty {
            let outcome = index == 0 ? "transient" : "success"
            history.noteResult(try document(Self.replay(sends.map { _ in outcome }, of: sends)), addsPlaces: false)
        }
        #expect(Standing(of: SendSet(failed), at: place, after: history) == standing)
    }

    private static func replay(_ outcomes: [String], of sends: [Int], job: String = "j", kind: String = "final") -> String {
        result(
            outcomes, at: "push.requests-own.v1:0:1", id: "\(job):r-1", kind: kind,
            replay:
                #"{"parent_origin":"\#(place)","job_id":"\#(job)","sends":[\#(sends.map { "\($0)" }.joined(separator: ","))]}"#)
    }

    private func tally(_ results: [String], replayed: Bool = true, in order: ([String]) -> [String] = { $0 }) throws
        -> FailureTally
    {
        var history = ReplayHistory()
        history.noteJob("j")
        if replayed { history.noteReplay(of: SendSet([0]), at: place) }
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

    @Test func anInterimResultOfAReplayEndsNothing() throws {
        let tally = try tally([
            result(["transient"]), Self.replay(["success"], of: [0], kind: "interim").replacing("\"sent\"", with: "\"retrying\""),
        ])
        #expect(tally.count(of: .beingRepaired) == 1)
    }
}
