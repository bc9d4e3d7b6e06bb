import Basics

/// The newest `capacity` values, in order. Older values are dropped.
struct NewestValues<Element: Sendable>: Sendable {
    private var queue = FIFO<Element>()
    let capacity: Int

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    var count: Int { queue.count }

    /// Adds a value behind the others, and returns the oldest if it had to go.
    @discardableResult
    mutating func append(_ element: Element) -> Element? {
        let dropped = count == capacity ? popFirst() : nil
        queue.append(element)
        return dropped
    }

    /// Adds a value at its place in an order that all values have, which is near the end. The oldest goes if it has to.
    mutating func insert(_ element: Element, by precedes: (Element, Element) -> Bool) {
        if count == capacity { _ = popFirst() }
        let position = queue.lastIndex { !precedes(element, $0) }.map { $0 + 1 } ?? 0
        queue.insert(element, at: position)
    }

    /// Takes the oldest value out.
    mutating func popFirst() -> Element? { queue.popFirst() }

    /// The value at `position`, 0 being the oldest.
    subscript(_ position: Int) -> Element {
        get { queue[position] }
        set { queue[position] = newValue }
    }

    /// The position of the first value that is behind a place, or `count`. All values after it are behind the place, too.
    func firstPosition(where isBehind: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(queue[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    mutating func removeAll() { queue = FIFO() }

    /// Every value, the oldest first.
    var elements: [Element] { Array(queue) }
}
