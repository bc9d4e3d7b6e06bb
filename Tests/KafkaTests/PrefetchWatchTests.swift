import TestSupport
import Testing

@testable import Kafka

@Suite(.tags(.c)) struct PrefetchWatchTests {
    /// What the queues hold at each look, and at which looks it is said that one runs low.
    @Test(arguments: [
        (looks: [[0], [3], [49]], low: [] as [Int]),
        ([[100], [60], [50], [49], [48]], [3]),
        ([[100], [10], [120], [10]], [1, 3]),
        ([[100, 100], [10, 100], [100, 10]], [1, 2]),
        ([[100, 0], [100, 0], [49, 0]], [2]),
        ([[100], [10, 0], [10, 0]], []),
        ([[], []], []),
    ])
    func aQueueThatWasFullRunsLowBelowHalf(looks: [[Int]], low: [Int]) {
        var watch = PrefetchWatch(limit: 100)
        let said = looks.indices.filter { look in
            watch.runsLow(counts: looks[look].count) { looks[look].indices.contains($0) ? looks[look][$0] : -1 }
        }
        #expect(said == low)
    }
}
