import TestSupport
import Testing

@testable import Delivery

/// Who has the most of something.
@Suite struct ShareRankingTests {
    /// Against counting all of them.
    @Test(arguments: 1...8) func inEveryOrderItIsWhatCountingWouldSay(_ seed: Int) {
        var random = SeededRandom(seed)
        var ranking = ShareRanking<Int>()
        var counts = [Int](repeating: 0, count: 5)
        #expect(ranking.first == nil && ranking.most == 0)
        for step in 0..<3000 {
            let owner = random.below(counts.count)
            // Now it grows, now it shrinks, so that it is empty now and then.
            let isMore = counts[owner] == 0 || random.below(10) < ((step / 300).isMultiple(of: 2) ? 7 : 2)
            let old = counts[owner]
            counts[owner] += isMore ? 1 : -1
            ranking.move(owner, from: old, to: counts[owner])
            let most = counts.max() ?? 0
            #expect(ranking.most == most)
            #expect(ranking.first.map { counts[$0] } == (most == 0 ? nil : most))
        }
    }
}
