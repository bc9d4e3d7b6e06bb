import TestSupport
import Testing

@testable import Basics

/// The queue that everything uses which waits first come, first served.
@Suite struct FIFOTests {
    private enum Step {
        case append(Int)
        case prepend(Int)
        case insert(Int, at: Int)
        case set(Int, at: Int)
        case popFirst(Int?)
        case popLast(Int?)
        case remove(at: Int, Int?)
        case removeEven
    }

    private static func apply(_ step: Step, to queue: inout FIFO<Int>) {
        switch step {
        case .append(let number): queue.append(number)
        case .prepend(let number): queue.prepend(number)
        case .insert(let number, at: let position): queue.insert(number, at: position)
        case .set(let number, at: let position): queue[position] = number
        case .popFirst(let expected):
            let found = queue.popFirst()
            #expect(found == expected)
        case .popLast(let expected):
            let found = queue.popLast()
            #expect(found == expected)
        case .remove(at: let position, let expected):
            let found = queue.remove(at: position)
            #expect(found == expected)
        case .removeEven: queue.removeAll { $0 % 2 == 0 }
        }
    }

    private static let table: [([Step], [Int])] = [
        ([], []),
        ([.popFirst(nil), .popLast(nil), .remove(at: 0, nil), .removeEven], []),
        ([.append(1), .append(2), .append(3)], [1, 2, 3]),
        ([.append(1), .append(2), .popFirst(1)], [2]),
        ([.append(1), .popFirst(1), .popFirst(nil), .append(2)], [2]),
        ([.append(1), .append(2), .append(3), .popFirst(1), .popFirst(2), .append(4), .append(5), .append(6)], [3, 4, 5, 6]),
        ([.prepend(1)], [1]),
        ([.append(1), .append(2), .prepend(3), .prepend(4)], [4, 3, 1, 2]),
        ([.append(1), .append(2), .popLast(2), .append(3)], [1, 3]),
        ([.prepend(1), .prepend(2), .popLast(1), .popLast(2), .popLast(nil)], []),
        ([.insert(1, at: 0), .insert(2, at: 0), .insert(3, at: 2), .insert(4, at: 1)], [2, 4, 1, 3]),
        ([.append(1), .append(2), .append(3), .remove(at: 1, 2)], [1, 3]),
        ([.append(1), .append(2), .append(3), .remove(at: 0, 1), .remove(at: 1, 3)], [2]),
        ([.append(1), .remove(at: 1, nil), .remove(at: -1, nil)], [1]),
        ([.append(1), .append(2), .popFirst(1), .append(3), .set(4, at: 1), .set(5, at: 0)], [5, 4]),
        ([.append(1), .append(2), .append(4), .append(5), .append(6), .removeEven, .append(8)], [1, 5, 8]),
    ]

    @Test(arguments: table.indices) func elementsComeOutInTheOrderInWhichTheyCame(_ row: Int) {
        let (steps, expected) = Self.table[row]
        var queue = FIFO<Int>()
        for step in steps { Self.apply(step, to: &queue) }
        #expect(Array(queue) == expected)
        #expect(queue.count == expected.count && queue.isEmpty == expected.isEmpty)
        #expect(queue.first == expected.first && queue.last == expected.last)
    }

    /// It grows for a thousand steps and shrinks for a thousand, so that the ring does so as well.
    @Test(arguments: 0..<6) func itHoldsWhatAnArrayWouldHold(_ seed: Int) throws {
        var random = SeededRandom(seed)
        var queue = FIFO<Int>()
        var model: [Int] = []
        var largest = 0
        for step in 0..<6000 {
            let isGrowing = step / 1000 % 2 == 0
            if random.below(20) < (isGrowing ? 15 : 5) {
                switch random.below(8) {
                case 0:
                    queue.prepend(step)
                    model.insert(step, at: 0)
                case 1:
                    let position = random.below(model.count + 1)
                    queue.insert(step, at: position)
                    model.insert(step, at: position)
                default:
                    queue.append(step)
                    model.append(step)
                }
            } else {
                switch random.below(100) {
                case 0:
                    queue.removeAll { ($0 + step) % 10 == 0 }
                    model.removeAll { ($0 + step) % 10 == 0 }
                case 1..<10:
                    let expected = model.popLast()
                    let found = queue.popLast()
                    try #require(found == expected)
                case 10..<20:
                    let position = random.below(model.count + 1)
                    let expected = position < model.count ? model.remove(at: position) : nil
                    let found = queue.remove(at: position)
                    try #require(found == expected)
                case 20..<30 where !model.isEmpty:
                    let position = random.below(model.count)
                    queue[position] = -step
                    model[position] = -step
                default:
                    let expected = model.isEmpty ? nil : model.removeFirst()
                    let found = queue.popFirst()
                    try #require(found == expected)
                }
            }
            try #require(queue.count == model.count && queue.elementsEqual(model), "step \(step)")
            try #require(queue.places.count <= max(64, 8 * model.count), "step \(step): \(queue.places.count) places")
            largest = max(largest, queue.places.count)
        }
        #expect(largest >= 256, "the ring has grown and shrunk")
    }

    @Test func theMemoryOfABurstIsGivenBack() {
        var queue = FIFO<Int>()
        for number in 0..<100_000 { queue.append(number) }
        #expect(queue.places.count == 131_072)
        for _ in 0..<100_000 { _ = queue.popFirst() }
        #expect(queue.places.count == 64)
    }

    @Test func aQueueThatStaysShortKeepsItsRing() {
        var queue = FIFO<Int>()
        for number in 0..<10_000 {
            queue.append(number)
            queue.append(number)
            _ = queue.popFirst()
            _ = queue.popFirst()
        }
        #expect(queue.places.count == 2)
    }

    @Test func whatWasTakenOutIsLetGo() {
        final class Thing {}
        var queue = FIFO<Thing>()
        weak var first: Thing?
        weak var second: Thing?
        do {
            let things = [Thing(), Thing(), Thing()]
            first = things[0]
            second = things[1]
            for thing in things { queue.append(thing) }
        }
        #expect(first != nil && second != nil)
        _ = queue.popFirst()
        #expect(first == nil && second != nil)
        _ = queue.remove(at: 0)
        #expect(second == nil && queue.count == 1)
    }

    @Test func aCopyIsAnotherQueue() {
        var queue = FIFO<Int>()
        for number in 0..<5 { queue.append(number) }
        var copy = queue
        _ = copy.popFirst()
        copy[0] = 9
        #expect(Array(queue) == [0, 1, 2, 3, 4])
        #expect(Array(copy) == [9, 2, 3, 4])
    }
}
