/// A binary heap of what waits for moments, the earliest first. Adding and removing take the logarithm of its size.
public struct MomentHeap<Moment: Comparable, Element> {
    @usableFromInline var heap: [(due: Moment, element: Element)]

    /// All that waits, the earliest first, and the others in no order.
    @inlinable public var entries: [(due: Moment, element: Element)] { heap }

    /// Nothing waits.
    @inlinable public init() { heap = [] }

    /// A heap of these, in any order.
    ///
    /// - Parameter entries: Each with its moment.
    @inlinable public init(_ entries: [(due: Moment, element: Element)]) {
        // What is sorted is a heap.
        heap = entries.sorted { $0.due < $1.due }
    }

    /// The moment of the first one, or nil when nothing waits.
    @inlinable public var first: Moment? { heap.first?.due }

    /// The number of elements that wait.
    @inlinable public var count: Int { heap.count }

    /// Adds one.
    ///
    /// - Parameters:
    ///   - element: What waits.
    ///   - due: Its moment.
    @inlinable public mutating func add(_ element: Element, at due: Moment) {
        heap.append((due, element))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].due < heap[parent].due else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes out the first one if its moment has come.
    ///
    /// - Parameter now: The present moment.
    /// - Returns: The first one, or nil.
    @inlinable public mutating func removeDue(_ now: Moment) -> Element? {
        guard let first = heap.first, first.due <= now else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first.element }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].due < heap[least].due {
                least = child
            }
            guard least != parent else { return first.element }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}

extension MomentHeap: Sendable where Moment: Sendable, Element: Sendable {}
