import Basics

/// The deadlines of those who wait, the earliest first.
struct DeadlineHeap {
    /// One deadline.
    struct Entry: Sendable {
        /// When it is over.
        let due: MonotonicTime
        /// Who waits, and for what.
        let ticket: ResultFollower.Ticket
    }

    private var entries: [Entry]

    /// A heap of these, in any order.
    init(_ entries: [Entry] = []) {
        // What is sorted is a heap.
        self.entries = entries.sorted { $0.due < $1.due }
    }

    /// How many there are.
    var count: Int { entries.count }

    /// The earliest.
    var first: Entry? { entries.first }

    /// Adds a deadline.
    mutating func push(_ entry: Entry) {
        entries.append(entry)
        var child = entries.count - 1
        while child > 0, entries[child].due < entries[(child - 1) / 2].due {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Removes the earliest, if there is one.
    mutating func removeFirst() {
        guard entries.count > 1 else { return entries.removeAll(keepingCapacity: true) }
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count {
                if entries[child].due < entries[least].due { least = child }
            }
            guard least != parent else { return }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}
