/// What waits for moments: a binary heap, the earliest first.
struct MomentHeap<Moment: Comparable, Element> {
    private(set) var entries: [(due: Moment, element: Element)] = []

    /// When the first one's moment is.
    var first: Moment? { entries.first?.due }

    mutating func add(_ element: Element, at due: Moment) {
        entries.append((due, element))
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].due < entries[parent].due else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes out the first one if its moment has come.
    mutating func removeDue(_ now: Moment) -> Element? {
        guard let first = entries.first, first.due <= now else { return nil }
        let last = entries.removeLast()
        guard !entries.isEmpty else { return first.element }
        entries[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count && entries[child].due < entries[least].due {
                least = child
            }
            guard least != parent else { return first.element }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}
