@testable import Results
import Publishing
import Testing

/// The results of one request among those that a search reads.
@Suite struct FinalTraceTests {
    private func record(_ kind: String, members: String = "", at time: Int64 = 0) throws -> ResultRecord {
        let json = #"{"request_id":"a","kind":"\#(kind)","state":"sent"\#(members)}"#
        return try #require(ResultRecord(json: Array(json.utf8), partition: 0, offset: 0, timestamp: time))
    }

    /// What is read, whether the search goes on, and how many outcomes it tells. An outcome has its call's index, and may be of another record.
    @Test(
        arguments: [
            ([], false, 0), (["final"], true, 0), (["0"], false, 0), (["followed"], false, 0), (["followed", "0"], false, 1),
            (["followed", "0", "1"], true, 2), (["0", "followed", "1"], true, 2), (["0", "1", "followed"], true, 2),
            (["followed", "0", "0"], false, 1), (["0", "0", "followed"], false, 1), (["followed", "callless", "0"], false, 1),
            (["followed", "0", "elsewhere 1"], false, 2), (["elsewhere 0", "elsewhere 1", "followed"], false, 2),
            (["elsewhere 0", "0", "followed", "1"], true, 3),
        ] as [([String], Bool, Int)])
    func aSearchGoesOnToTheLastOutcome(words: [String], isComplete: Bool, count: Int) throws {
        var trace = FinalTrace(of: "a") { _ in true }
        for word in words {
            let offset = word.hasPrefix("elsewhere") ? 8 : 7
            let origin = #","origin":{"topic":"requests","partition":0,"offset":"\#(offset)"}"#
            let call = word.last.flatMap(\.wholeNumberValue).map { #","sends":[{"index":\#($0)}]"# } ?? ""
            switch word {
            case "final": trace.take(try record("final", members: origin))
            case "followed": trace.take(try record("final", members: #","followed":true,"targets":{"accepted":2}"# + origin))
            default: trace.take(try record("outcome", members: call + origin))
            }
        }
        #expect(trace.isComplete == isComplete)
        guard case .final(_, _, let outcomes) = trace.answer(isWhole: false) else { return }
        #expect(outcomes?.areWhole == (words.contains("followed") ? isComplete : nil))
        #expect(outcomes?.found.count ?? 0 == count)
    }

    @Test func afterTheLatestMomentNoOutcomeIsSought() throws {
        var trace = FinalTrace(of: "a") { _ in true }
        #expect(!trace.hasAllOutcomes(at: .max))
        trace.take(try record("final", members: #","followed":true,"targets":{"accepted":1}"#, at: 1000))
        #expect(!trace.hasAllOutcomes(at: 1000 + RequestStory.longestOutcome))
        #expect(trace.hasAllOutcomes(at: 1001 + RequestStory.longestOutcome))
    }
}
