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
