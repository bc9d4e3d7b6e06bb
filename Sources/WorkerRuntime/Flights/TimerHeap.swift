/// Calls that wait for a moment: a binary heap, the earliest first.
///
/// Entries are not removed when what they wait for goes away; the generation tells the owner that an entry is stale.
struct TimerHeap {
    /// One wait.
    struct Entry {
        /// Monotonic nanoseconds.
        var due: Int64
        var call: CallID
        var generation: UInt32
    }

    private var entries: [Entry] = []

    /// The number of waits, stale ones included.
    var count: Int { entries.count }

    /// When the first wait is over, or nil when nothing waits.
    var nextDue: Int64? { entries.first?.due }

    /// When the first wait of each of some flights is over; the flights' generations by their indices.
    func firstDue(of generations: [Int: UInt32]) -> [Int: Int64] {
        var due: [Int: Int64] = [:]
        for entry in entries where generations[entry.call.flight] == entry.generation {
            due[entry.call.flight] = min(due[entry.call.flight] ?? .max, entry.due)
        }
        return due
    }

    mutating func add(_ entry: Entry) {
        entries.append(entry)
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].due < entries[parent].due else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// Removes the first wait that is over at `now`.
    mutating func removeDue(_ now: Int64) -> Entry? {
        guard let first = entries.first, first.due <= now else { return nil }
        let last = entries.removeLast()
        guard !entries.isEmpty else { return first }
        entries[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count && entries[child].due < entries[least].due {
                least = child
            }
            guard least != parent else { return first }
            entries.swapAt(parent, least)
            parent = least
        }
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
