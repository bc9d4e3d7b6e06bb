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
            watch.runsLow(queues: looks[look].count, slots: looks[look].indices) { .init(count: looks[look][$0]) }
        }
        #expect(said == low)
    }

    /// A queue that was full is looked at although it is named no more.
    @Test func whatWasFullIsLookedAtUntilItRunsLow() {
        var watch = PrefetchWatch(limit: 100)
        var looks: [Int] = []
        func runsLow(_ slots: [Int], counts: [Int]) -> Bool {
            looks = []
            return watch.runsLow(queues: 4, slots: slots) {
                looks.append($0)
                return .init(count: counts[$0])
            }
        }
        #expect(!runsLow([1, 2], counts: [0, 100, 5, 0]))
        #expect(!runsLow([], counts: [0, 60, 0, 0]))
        #expect(looks == [1])
        #expect(runsLow([0], counts: [9, 10, 0, 0]))
        #expect(Set(looks) == [0, 1])
        #expect(!runsLow([], counts: [0, 0, 0, 0]))
        #expect(looks.isEmpty)
    }

    /// A queue of at most 100 records and 1,000 bytes: what it holds at each look, and the bytes of the record read last.
    @Test(
        arguments: [
            // Its size is unknown until a record is read.
            ([(3, 0), (3, 0), (2, 400), (1, 400)], [3]),
            // All that it held was read between two looks.
            ([(3, 0), (0, 400)], [1]),
            ([(3, 400), (2, 400), (1, 400), (0, 400)], [2]),
            ([(3, 400), (1, 400), (3, 400), (1, 400)], [1, 3]),
            // Small records are counted, not weighed.
            ([(99, 5), (10, 5), (0, 5)], []),
            ([(100, 5), (49, 5)], [1]),
            // One large record among small ones changes little.
            ([(50, 1), (50, 1), (50, 20), (20, 1), (0, 1)], []),
        ] as [([(Int, Int)], [Int])])
    func aQueueOfLargeRecordsIsFullByItsBytes(looks: [(Int, Int)], low: [Int]) {
        var watch = PrefetchWatch(limit: 100, byteLimit: 1000)
        let said = looks.indices.filter { look in
            watch.runsLow(queues: 1, slots: [0]) { _ in .init(count: looks[look].0, valueByteCount: looks[look].1) }
        }
        #expect(said == low)
    }
}
