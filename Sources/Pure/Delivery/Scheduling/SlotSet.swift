/// Slots of partitions that have something to be done: each is there once. Adding takes no longer when there are many.
public struct SlotSet: Sendable {
    /// The slots, in the order in which they were added.
    public private(set) var slots: [Int] = []
    private var isMember: [Bool] = []

    /// No slot.
    public init() {}

    /// These slots.
    public init(_ slots: some Sequence<Int>) { for slot in slots { insert(slot) } }

    /// The number of its slots.
    public var count: Int { slots.count }

    /// True if there is none.
    public var isEmpty: Bool { slots.isEmpty }

    /// Adds a slot, 0 or more.
    public mutating func insert(_ slot: Int) {
        if slot >= isMember.count { isMember += Array(repeating: false, count: slot + 1 - isMember.count) }
        guard !isMember[slot] else { return }
        isMember[slot] = true
        slots.append(slot)
    }

    /// Removes all slots but those for which `isKept` is true.
    public mutating func keep(where isKept: (Int) -> Bool) {
        slots.removeAll { slot in
            isMember[slot] = isKept(slot)
            return !isMember[slot]
        }
    }
}

/// Slots in the order of their turns. Adding and taking take no longer when there are many.
struct SlotQueue: Sendable {
    private var items: [Int] = []
    private var first = 0

    var isEmpty: Bool { first == items.count }
    var count: Int { items.count - first }
    var slots: ArraySlice<Int> { items[first...] }

    mutating func append(_ slot: Int) {
        // The taken ones make room once they are half of all, so each is moved once at most.
        if first >= 32, first * 2 >= items.count {
            items.removeFirst(first)
            first = 0
        }
        items.append(slot)
    }

    mutating func removeFirst() -> Int? {
        guard first < items.count else { return nil }
        defer { first += 1 }
        return items[first]
    }
}
