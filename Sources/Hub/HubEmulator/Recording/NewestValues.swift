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

    /// Takes the oldest value out.
    mutating func popFirst() -> Element? { queue.popFirst() }

    /// The value at `position`, 0 being the oldest.
    subscript(_ position: Int) -> Element {
        get { queue[position] }
        set { queue[position] = newValue }
    }

    mutating func removeAll() { queue = FIFO() }

    /// Every value, the oldest first.
    var elements: [Element] { Array(queue) }
}
