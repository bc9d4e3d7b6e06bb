/// What is known of a partition's queue in the library: whether a read may find a record.
///
/// The library signals a partition when its queue stops being empty, and then no more until it was read until empty. That nothing is left
/// lying rests on four rules, which `PartitionCursor` and `CursorGroup` keep:
///
/// 1. `mayHaveRecords` of a partition ends with a read that found nothing, and with nothing else: not when there is no room, nor when the
///    window is full. Whatever comes after that read is signalled.
/// 2. Whoever takes a signal marks all partitions that it may be for, in the same turn and before any of them is read. A group of partitions
///    has a descriptor of its own, so the signal of one is not taken with that of another.
/// 3. `mayHaveRecords` of a group says whether one of its partitions can be read. It is worked out again after each round of reading. Until
///    the next round a partition becomes readable in two ways only, by a signal or by a window that moves, and both set it.
/// 4. A new assignment begins with all marks set. So what lay in a queue before its signals were asked for is read too.
public struct PartitionCursor: Sendable, Equatable {
    /// True if a read may find a record.
    public private(set) var mayHaveRecords: Bool

    /// A cursor at a partition that was not read yet, by rule 4; or one that is not read at all.
    public init(mayHaveRecords: Bool = true) { self.mayHaveRecords = mayHaveRecords }

    /// Notes that records may have arrived.
    public mutating func noteArrivals() { mayHaveRecords = true }

    /// Notes that a read found nothing.
    public mutating func wasEmpty() { mayHaveRecords = false }
}

/// Partitions that share a descriptor, and are read in rounds. A group without records costs a turn no more than a look at
/// `mayHaveRecords`.
public struct CursorGroup: Sendable, Equatable {
    /// The slots of its partitions.
    public private(set) var slots: [Int]
    /// The index in `slots` at which the next round begins, so that no partition is always the first.
    public private(set) var first = 0
    /// True if a round may find a record. Else only a signal can change that, or a window that moves.
    public private(set) var mayHaveRecords: Bool
    /// True while a partition waits for its window.
    public private(set) var isBlocked = false

    /// A group that was not read yet, by rule 4.
    public init(_ slots: some Sequence<Int> = []) {
        self.slots = Array(slots)
        mayHaveRecords = !self.slots.isEmpty
    }

    /// Notes that records may have arrived, or that something else lets a round find one. The cursors of its partitions are marked by whoever
    /// has them.
    public mutating func noteArrivals() { mayHaveRecords = !slots.isEmpty }

    /// Notes that a window has moved.
    public mutating func windowMoved() { if isBlocked { mayHaveRecords = true } }

    /// The slots in the order of the next round.
    public func slot(ofStep step: Int) -> Int { slots[(first + step) % slots.count] }

    /// Begins a round. What is marked from now on, by a signal or by a window that moves, stays for the next one. The order of this round is
    /// that of `slot(ofStep:)` before.
    public mutating func beginRound() {
        first = slots.isEmpty ? 0 : (first + 1) % slots.count
        mayHaveRecords = false
        isBlocked = false
    }

    /// Notes how a partition was left in the round.
    ///
    /// - Parameters:
    ///   - canRead: Whether it can be read still.
    ///   - isBlocked: Whether it waits for its window.
    public mutating func noteRead(canRead: Bool, isBlocked: Bool) {
        if canRead { mayHaveRecords = true }
        if isBlocked { self.isBlocked = true }
    }
}
