/// A first-in, first-out queue: a ring of places, in which elements move only when it grows or shrinks.
///
/// The ring doubles when it is full, and halves when no more than an eighth of it is in use, down to room for 64. So the memory of a burst
/// is given back, and adding and taking out at either end takes constant time on average. No memory is taken before the first element.
/// Positions count from the first element, which is at 0.
public struct FIFO<Element> {
    /// None, or a power of two of them. A place without an element is nil.
    @usableFromInline var places: [Element?]
    /// The place of the first element.
    @usableFromInline var head: Int
    @usableFromInline var length: Int

    /// An empty queue.
    @inlinable public init() {
        places = []
        head = 0
        length = 0
    }

    /// The number of elements.
    @inlinable public var count: Int { length }

    /// Adds an element behind all others.
    @inlinable public mutating func append(_ element: consuming Element) {
        if length == places.count { move(toRoomFor: Swift.max(1, 2 * length)) }
        places[place(length)] = element
        length += 1
    }

    /// Adds an element before all others.
    @inlinable public mutating func prepend(_ element: consuming Element) {
        if length == places.count { move(toRoomFor: Swift.max(1, 2 * length)) }
        head = place(-1)
        places[head] = element
        length += 1
    }

    /// Adds an element before the one at a position. Each one behind it moves by one place.
    ///
    /// - Parameters:
    ///   - element: What to add.
    ///   - position: Where it is then, 0 – `count`.
    @inlinable public mutating func insert(_ element: consuming Element, at position: Int) {
        precondition(position >= 0 && position <= length, "no such position")
        append(element)
        var index = length - 1
        while index > position {
            places.swapAt(place(index), place(index - 1))
            index -= 1
        }
    }

    /// Takes out the first element.
    ///
    /// - Returns: The element; nil when there is none.
    @inlinable public mutating func popFirst() -> Element? {
        guard length > 0 else { return nil }
        let element = places[head].take()
        head = place(1)
        length -= 1
        giveBack()
        return element
    }

    /// Takes out the last element.
    ///
    /// - Returns: The element; nil when there is none.
    @inlinable public mutating func popLast() -> Element? {
        guard length > 0 else { return nil }
        let element = places[place(length - 1)].take()
        length -= 1
        giveBack()
        return element
    }

    /// Takes out the element at a position. Each one before it moves by one place.
    ///
    /// - Parameter position: Where it is, 0 to before `count`.
    /// - Returns: The element; nil when there is none at the position.
    @inlinable public mutating func remove(at position: Int) -> Element? {
        guard position >= 0 && position < length else { return nil }
        var index = position
        while index > 0 {
            places.swapAt(place(index), place(index - 1))
            index -= 1
        }
        return popFirst()
    }

    /// Takes out every element of which `isMeant` says so. The others keep their order.
    @inlinable public mutating func removeAll(where isMeant: (Element) -> Bool) {
        for _ in 0..<length {
            if let element = popFirst(), !isMeant(element) { append(element) }
        }
    }

    /// The place of a position. -1 is the place before the first element.
    @inlinable func place(_ position: Int) -> Int { (head + position) & (places.count - 1) }

    /// The place of an element.
    @inlinable func occupiedPlace(_ position: Int) -> Int {
        precondition(position >= 0 && position < length, "no element at this position")
        return place(position)
    }

    @inlinable mutating func giveBack() {
        if places.count > 64, length <= places.count / 8 { move(toRoomFor: places.count / 2) }
    }

    @inlinable mutating func move(toRoomFor room: Int) {
        var moved: [Element?] = []
        moved.reserveCapacity(room)
        for position in 0..<length { moved.append(places[place(position)].take()) }
        for _ in length..<room { moved.append(nil) }
        places = moved
        head = 0
    }
}

extension FIFO: Sendable where Element: Sendable {}

extension FIFO: RandomAccessCollection {
    /// Positions are numbers.
    public typealias Indices = Range<Int>

    /// The position of the first element: 0.
    @inlinable public var startIndex: Int { 0 }

    /// The position behind the last element: `count`.
    @inlinable public var endIndex: Int { length }

    /// The element at a position from 0 to before `count`.
    @inlinable public subscript(position: Int) -> Element {
        get { places[occupiedPlace(position)]! }
        set { places[occupiedPlace(position)] = newValue }
    }
}
