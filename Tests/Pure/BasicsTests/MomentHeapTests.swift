import TestSupport
import Testing

@testable import Basics

/// What waits comes out in the order of its moments.
@Suite
struct MomentHeapTests {
    @Test(arguments: [1, 2, 3]) func waitsEndInTheOrderOfTheirMoments(_ seed: Int) {
        var generator = SeededRandom(seed)
        var heap = MomentHeap<Int64, Int64>()
        var expected: [Int64] = []
        for _ in 0..<2000 {
            if Bool.random(using: &generator) || expected.isEmpty {
                let due = Int64.random(in: 0..<500, using: &generator)
                heap.add(due, at: due)
                expected.append(due)
                expected.sort()
            } else {
                let now = Int64.random(in: 0..<500, using: &generator)
                let due = heap.removeDue(now)
                #expect(due == expected.first.flatMap { $0 <= now ? $0 : nil })
                if due != nil { expected.removeFirst() }
            }
            #expect(heap.first == expected.first && heap.entries.count == expected.count)
        }
    }

    @Test func aHeapOfGivenEntriesBeginsWithTheEarliest() {
        var heap = MomentHeap([(due: 5, element: "c"), (due: 1, element: "a"), (due: 3, element: "b")])
        #expect((0..<4).map { _ in heap.removeDue(9) } == ["a", "b", "c", nil])
    }
}
