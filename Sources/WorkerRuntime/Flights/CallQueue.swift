import Basics

/// A call that waits. It is not removed when what it waits for goes away; the generation tells the owner that it is stale.
struct WaitingCall {
    var call: CallID
    var generation: UInt32
}

extension MomentHeap where Moment == MonotonicTime, Element == WaitingCall {
    /// When the first wait of each of some flights is over, monotonic nanoseconds; the flights' generations by their indices.
    func firstDue(of generations: [Int: UInt32]) -> [Int: MonotonicTime] {
        var due: [Int: MonotonicTime] = [:]
        for entry in entries where generations[entry.element.call.flight] == entry.element.generation {
            due[entry.element.call.flight] = min(due[entry.element.call.flight] ?? .never, entry.due)
        }
        return due
    }
}

/// Calls that wait for their turn, first come first served; a ring, so that nothing is moved.
struct CallQueue {
    private var items: [(call: CallID, generation: UInt32)?]
    private var head = 0
    private(set) var count = 0

    /// A queue with room for so many, at least 1; it grows.
    init(room: Int = 64) {
        items = Array(repeating: nil, count: room)
    }

    var isEmpty: Bool { count == 0 }

    mutating func append(_ call: CallID, generation: UInt32) {
        if count == items.count { grow() }
        items[(head + count) % items.count] = (call, generation)
        count += 1
    }

    mutating func removeFirst() -> (call: CallID, generation: UInt32)? {
        guard count > 0 else { return nil }
        defer {
            items[head] = nil
            head = (head + 1) % items.count
            count -= 1
        }
        return items[head]
    }

    /// Takes out the calls that are not wanted any more; the others keep their order.
    mutating func removeAll(unless isWanted: (CallID, UInt32) -> Bool) {
        for _ in 0..<count {
            if let item = removeFirst(), isWanted(item.call, item.generation) {
                append(item.call, generation: item.generation)
            }
        }
    }

    private mutating func grow() {
        items = Array(items[head...] + items[..<head]) + Array(repeating: nil, count: items.count)
        head = 0
    }
}
