@testable import GatewayAPI
import TestSupport
import Testing

/// Who holds most of what is kept for all.
struct HoldingsTests {
    @Test(
        arguments: [
            ([("a", 1)], "a", 1), ([("a", 1), ("b", 2)], "b", 3), ([("a", 5), ("b", 2), ("a", -4)], "b", 3),
            ([("a", 5), ("b", 2), ("a", -5)], "b", 2), ([("a", 5), ("a", -9)], nil, 0), ([("a", -1)], nil, 0), ([], nil, 0),
            ([("a", 3), ("b", 2), ("c", 1), ("c", 9), ("a", 0)], "c", 15),
        ] as [([(String, Int)], String?, Int)])
    func whoeverHoldsMostIsKnown(changes: [(String, Int)], greediest: String?, total: Int) {
        var holdings = Holdings<String>()
        for (holder, amount) in changes { holdings.change(holder, by: amount) }
        #expect(holdings.greediest == greediest && holdings.total == total)
    }

    /// Random changes against a plain dictionary.
    @Test(arguments: 0..<20) func itIsWhatADictionaryIs(seed: Int) {
        var generator = SeededRandom(seed)
        var (holdings, plain) = (Holdings<Int>(), [Int: Int]())
        for _ in 0..<2_000 {
            let holder = Int.random(in: 0..<40, using: &generator)
            let amount = Int.random(in: -60...50, using: &generator)
            holdings.change(holder, by: amount)
            let left = max(0, plain[holder, default: 0] + amount)
            plain[holder] = left == 0 ? nil : left
            #expect(holdings[holder] == left && holdings.total == plain.values.reduce(0, +))
            #expect(holdings.holderCount == plain.count)
            #expect(holdings.greediest.flatMap { plain[$0] } == plain.values.max(), "\(plain)")
        }
    }
}
