@testable import Results
import Publishing
import Testing

/// The results of one request among those that a search reads.
@Suite struct FinalTraceTests {
    private func record(_ kind: String, members: String = "", at time: Int64 = 0) throws -> ResultRecord {
        let json = #"{"request_id":"a","kind":"\#(kind)","state":"sent"\#(members)}"#
        return try #require(ResultRecord(json: Array(json.utf8), partition: 0, offset: 0, timestamp: time))
    }

    /// What is read, and whether the search goes on.
    @Test(
        arguments: [
            ([], false), (["final"], true), (["outcome"], false), (["followed"], false), (["followed", "outcome"], false),
            (["followed", "outcome", "outcome"], true), (["outcome", "followed", "outcome"], true),
        ] as [([String], Bool)])
    func aSearchGoesOnToTheLastOutcome(kinds: [String], isComplete: Bool) throws {
        var trace = FinalTrace(of: "a") { _ in true }
        for kind in kinds {
            let isFollowed = kind == "followed"
            trace.take(
                try record(isFollowed ? "final" : kind, members: isFollowed ? #","followed":true,"targets":{"accepted":2}"# : ""))
        }
        #expect(trace.isComplete == isComplete)
        guard case .final(_, _, let outcomes) = trace.answer(isWhole: false) else { return }
        #expect(outcomes?.areWhole == (kinds.contains("followed") ? isComplete : nil))
        #expect(outcomes?.found.count ?? 0 == (kinds.contains("followed") ? kinds.count - 1 : 0))
    }

    @Test func afterTheLatestMomentNoOutcomeIsSought() throws {
        var trace = FinalTrace(of: "a") { _ in true }
        #expect(!trace.hasAllOutcomes(at: .max))
        trace.take(try record("final", members: #","followed":true,"targets":{"accepted":1}"#, at: 1000))
        #expect(!trace.hasAllOutcomes(at: 1000 + RequestStory.longestOutcome))
        #expect(trace.hasAllOutcomes(at: 1001 + RequestStory.longestOutcome))
    }
}
