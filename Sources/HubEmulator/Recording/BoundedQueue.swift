/// The newest `capacity` values, in order; older ones go.
struct BoundedQueue<Element: Sendable>: Sendable {
    private var storage: [Element?] = []
    private var head = 0
    let capacity: Int

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    var count: Int { storage.count - head }

    /// Adds a value behind the others.
    ///
    /// - Returns: The oldest value, if it had to go.
    @discardableResult
    mutating func append(_ element: Element) -> Element? {
        let dropped = count == capacity ? popFirst() : nil
        storage.append(element)
        return dropped
    }

    /// Takes the oldest value out.
    mutating func popFirst() -> Element? {
        guard head < storage.count else { return nil }
        let first = storage[head]
        storage[head] = nil
        head += 1
        if head > 64, head * 2 > storage.count {
            storage.removeFirst(head)
            head = 0
        }
        return first
    }

    /// The value at `position`, 0 being the oldest.
    subscript(_ position: Int) -> Element? {
        get { storage[head + position] }
        set { storage[head + position] = newValue }
    }

    mutating func removeAll() {
        storage = []
        head = 0
    }

    /// Every value, the oldest first.
    var elements: [Element] { storage[head...].compactMap { $0 } }
}
