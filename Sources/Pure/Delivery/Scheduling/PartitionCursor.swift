import Basics

/// The state of a partition's queue in the library: whether a read may find a record.
///
/// The library signals a partition when its queue stops being empty, and then no more until it was read until empty. That nothing is left
/// lying rests on four rules, which `PartitionCursor` and `CursorGroup` keep:
///
/// 1. `mayHaveRecords` of a partition ends with a read that found nothing, and with nothing else: not when there is no room, nor when the
///    window is full. Whatever comes after that read is signalled.
/// 2. Whoever takes a signal marks the partition that it names, in the same turn and before that is read. Where signals may be missing, all
///    partitions are marked.
/// 3. A partition that can be read is ready in its group. After each reading it is ready again if more can be read, or waits if its window is
///    full. One that waits has its turn when its window moves, whatever is signalled before that, and any other when it is signalled.
/// 4. A new assignment begins with all marks set. So what lay in a queue before its signals were asked for is read too.
public struct PartitionCursor: Sendable, Equatable {
    /// True if a read may find a record.
    public private(set) var mayHaveRecords: Bool

    /// A cursor at a partition that was not read yet, by rule 4, or one that is not read at all.
    public init(mayHaveRecords: Bool = true) { self.mayHaveRecords = mayHaveRecords }

    /// Notes that records may have arrived.
    public mutating func noteArrivals() { mayHaveRecords = true }

    /// Notes that a read found nothing.
    public mutating func wasEmpty() { mayHaveRecords = false }
}

/// Partitions that are read in rounds, one after the other in the order in which they became ready. Those that are not ready cost nothing.
public struct CursorGroup: Sendable {
    private enum Place { case idle, ready, waiting, moved, taken, takenAndMoved }

    /// The slots of its partitions, ascending.
    public let slots: [Int]
    /// The partitions that are ready, the first to be read in front.
    private var ready = FIFO<Int>()
    /// Those whose window has moved: they come before the others, for they may have a record in memory that waits for it.
    private var moved = FIFO<Int>()
    /// The place of each slot, counted from the first one.
    private var places: [Place]

    /// A group that was not read yet: by rule 4 all are ready.
    public init(_ slots: some Sequence<Int> = []) {
        let sorted = slots.sorted()
        self.slots = sorted
        places = Array(repeating: .idle, count: (sorted.last ?? -1) - (sorted.first ?? 0) + 1)
        for slot in sorted { mark(slot) }
    }

    /// True if a round may find a record. Else only a signal can change that, or a window that moves.
    public var mayHaveRecords: Bool { !ready.isEmpty || !moved.isEmpty }

    /// The partitions that are ready, in the order of their turns.
    public var readySlots: some Sequence<Int> { ready }

    /// Gives a partition a turn, because something other than its window lets a read find a record.
    public mutating func mark(_ slot: Int) {
        guard place(of: slot) != .ready, place(of: slot) != .moved else { return }
        places[slot - slots[0]] = .ready
        ready.append(slot)
    }

    /// Notes that records may have arrived in a partition, whose cursor is marked by whoever has it. One that waits for its window waits on.
    public mutating func noteArrivals(_ slot: Int) {
        if place(of: slot) != .waiting { mark(slot) }
    }

    /// Notes that the window of a partition has moved, or what else it waited for has come. Its turn comes even where there is no room.
    public mutating func windowMoved(_ slot: Int) {
        switch place(of: slot) {
        case .waiting: move(slot)
        // It may have moved behind the last look at it in this turn.
        case .taken: places[slot - slots[0]] = .takenAndMoved
        case .idle, .ready, .moved, .takenAndMoved: break
        }
    }

    /// Begins a round. What is marked from now on stays for the next one.
    ///
    /// - Returns: The number of partitions that have a turn in it.
    public func beginRound() -> Int { moved.count + ready.count }

    /// Takes the partition whose turn it is. `noteRead` says how it was left.
    ///
    /// - Parameter isFull: Whether there is no room to read. Then only those have a turn whose window has moved.
    /// - Returns: The slot, or nil when none has a turn.
    public mutating func takeFirst(isFull: Bool = false) -> Int? {
        guard let slot = moved.popFirst() ?? (isFull ? nil : ready.popFirst()) else { return nil }
        places[slot - slots[0]] = .taken
        return slot
    }

    /// Notes how a partition was left in the round.
    ///
    /// - Parameters:
    ///   - slot: The partition.
    ///   - canRead: Whether it can be read still.
    ///   - isBlocked: Whether it waits for its window.
    public mutating func noteRead(_ slot: Int, canRead: Bool, isBlocked: Bool) {
        let place = place(of: slot)
        guard place == .taken || place == .takenAndMoved else { return }
        if canRead {
            mark(slot)
        } else if isBlocked, place == .takenAndMoved {
            move(slot)
        } else {
            places[slot - slots[0]] = isBlocked ? .waiting : .idle
        }
    }

    private mutating func move(_ slot: Int) {
        places[slot - slots[0]] = .moved
        moved.append(slot)
    }

    private func place(of slot: Int) -> Place { places[slot - slots[0]] }
}
