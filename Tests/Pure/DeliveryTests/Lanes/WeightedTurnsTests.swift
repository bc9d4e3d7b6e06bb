import Delivery
import TestSupport
import Testing

struct WeightedTurnsTests {
    private static func turns(_ weights: [Int], _ waiting: [UInt64]) -> [Int?] {
        var turns = WeightedTurns(weights: weights)
        return waiting.map { turns.next(among: $0) }
    }

    private struct Case {
        var weights: [Int]
        /// The queues that have work before each turn, as bits.
        var waiting: [UInt64]
        var expected: [Int?]
    }

    private static let cases = [
        Case(weights: [8, 4, 1], waiting: [0, 0b100, 0b010, 0], expected: [nil, 2, 1, nil]),
        Case(weights: [1, 1, 1], waiting: [0b111, 0b111, 0b111, 0b111], expected: [0, 1, 2, 0]),
        Case(weights: [2, 1], waiting: [0b11, 0b11, 0b11, 0b11, 0b11, 0b11], expected: [0, 1, 0, 0, 1, 0]),
        // What the first does not use is the second's, and not given back later.
        Case(
            weights: [4, 1], waiting: [0b10, 0b10, 0b10, 0b10, 0b11, 0b11, 0b11, 0b11, 0b11, 0b11],
            expected: [1, 1, 1, 1, 0, 0, 0, 0, 0, 1]),
        // One that comes late does not wait for those that were there before.
        Case(weights: [1, 1000], waiting: [0b01, 0b01, 0b01, 0b11], expected: [0, 0, 0, 1]),
        Case(weights: [0, -5], waiting: [0b11, 0b11, 0b11], expected: [0, 1, 0]),
        // There is no such queue, and no queues at all.
        Case(weights: [1], waiting: [0b10], expected: [nil]), Case(weights: [], waiting: [1], expected: [nil]),
    ]

    @Test(arguments: cases.indices) func turnsAreGivenByWeight(_ index: Int) {
        let row = Self.cases[index]
        #expect(Self.turns(row.weights, row.waiting) == row.expected)
    }

    @Test(arguments: [[8, 4, 1], [1, 1, 1], [1000, 1, 10], [3, 7], [5, 4, 3, 2, 1]])
    func withWorkInAllQueuesSharesAreExactAtEveryMoment(_ weights: [Int]) {
        var turns = WeightedTurns(weights: weights)
        let all: UInt64 = 1 << UInt64(weights.count) - 1
        let sum = Double(weights.reduce(0, +))
        var counts = weights.map { _ in 0 }
        for turn in 1...20_000 {
            guard let chosen = turns.next(among: all), weights.indices.contains(chosen) else {
                Issue.record("somebody has work")
                return
            }
            counts[chosen] += 1
            for queue in weights.indices {
                let share = Double(turn * weights[queue]) / sum
                // A queue is ahead or behind by no more turns than there are queues; the rest is rounding.
                #expect(abs(Double(counts[queue]) - share) < Double(weights.count) + Double(turn) / 10_000)
            }
        }
    }

    /// Whatever queues come and go: work is never left while turns are given away, every queue with work has its turn within the turns
    /// that its weight promises, and nobody gains by having been idle.
    @Test(arguments: 0..<40) func nobodyIsLeftOutWhateverComesAndGoes(_ seed: Int) {
        var random = SeededRandom(seed)
        let weights = (0..<(2 + random.below(5))).map { _ in 1 + random.below(20) }
        let sum = weights.reduce(0, +)
        var turns = WeightedTurns(weights: weights)
        var waiting: UInt64 = 0
        var turnsWaited = weights.map { _ in 0 }
        for _ in 0..<5000 {
            for queue in weights.indices where random.below(10) == 0 { waiting ^= 1 << UInt64(queue) }
            let chosen = turns.next(among: waiting)
            #expect((chosen == nil) == (waiting == 0))
            guard let chosen else { continue }
            #expect(weights.indices.contains(chosen) && waiting & (1 << UInt64(chosen)) != 0)
            for queue in weights.indices {
                let isWaiting = waiting & (1 << UInt64(queue)) != 0
                turnsWaited[queue] = isWaiting && queue != chosen ? turnsWaited[queue] + 1 : 0
                #expect(turnsWaited[queue] <= sum / weights[queue] + 2 * weights.count)
            }
        }
    }
}
