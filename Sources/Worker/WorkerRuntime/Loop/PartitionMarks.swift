import Basics
import Delivery

/// The slots of partitions that have something to be done, so that a turn, a commit and a second find it and search for nothing.
struct PartitionMarks {
    /// The partitions without a mark that are looked at in a second all the same. Their ends move without a signal where a transaction
    /// is open or was aborted.
    static let lookedAtInASecond = 64
    /// The interval at which it is seen to that more records are fetched: 10 ms in nanoseconds.
    private static let refillInterval: Int64 = 10_000_000

    /// Those whose lag or status may have changed since they were last measured, or has something that waits.
    private(set) var changed = SlotSet()
    /// Those that may have something to commit.
    private(set) var uncommitted = SlotSet()
    /// Those of which a record that was read waits for a commit that lets it begin.
    private(set) var short = SlotSet()
    /// Those that may have a reserve to give back.
    private(set) var reserved = SlotSet()
    /// Those that are left as they are.
    private(set) var left = SlotSet()
    /// The partitions whose position says that no worker is at work.
    private(set) var closedCount = 0
    /// The number of partitions that a commit would touch.
    var touchedCount: Int { uncommitted.count }
    /// True while a previous owner may go on.
    private(set) var mayOverlap = true

    private let count: Int
    private var nextAdded = 0
    private var nextRefill = MonotonicTime.past

    /// No partition.
    init() { count = 0 }

    /// Partitions that begin: all are marked.
    init(_ partitions: [PartitionState]) {
        count = partitions.count
        for (slot, partition) in partitions.enumerated() { begin(slot, as: partition) }
    }

    /// Marks a partition that begins.
    mutating func begin(_ slot: Int, as partition: PartitionState) {
        touch(slot)
        mayOverlap = true
        reserved.insert(slot)
        if partition.left != nil { left.insert(slot) }
        if partition.isClosed { closedCount += 1 }
    }

    /// Notes that a record of a partition was read or finished.
    mutating func touch(_ slot: Int) {
        changed.insert(slot)
        uncommitted.insert(slot)
    }

    /// Notes that an offered position is not committed, and is offered again.
    mutating func notePutBack(_ slot: Int) {
        touch(slot)
        reserved.insert(slot)
    }

    /// Notes that records may have arrived in a partition.
    mutating func noteArrivals(_ slot: Int) { changed.insert(slot) }

    /// Notes that requests of partitions are in work, some of which were buffered when they were read.
    mutating func note(_ work: PartitionWork) { for slot in work.counts.keys { changed.insert(slot) } }

    /// Keeps those that still have something to commit, when the others were offered.
    mutating func noteOffer(of partitions: [PartitionState]) {
        uncommitted.keep { partitions[$0].isDirty || partitions[$0].isClosed }
    }

    /// True if a partition has something to commit although nothing of it is finished. If none has, the next turn need not look again at
    /// those that have nothing else.
    mutating func haveUncommitted(of partitions: [PartitionState], where hasGap: (Int) -> Bool) -> Bool {
        if uncommitted.slots.contains(where: hasGap) { return true }
        noteOffer(of: partitions)
        return false
    }

    /// Notes that a position of a partition was committed. `closes`: it says that no worker is at work.
    mutating func noteCommit(of slot: Int, wasClosed: Bool, closes: Bool) {
        changed.insert(slot)
        reserved.insert(slot)
        closedCount += (closes ? 1 : 0) - (wasClosed ? 1 : 0)
    }

    /// Notes that a record of a partition waits for a commit.
    mutating func noteShort(_ slot: Int) { short.insert(slot) }

    /// Keeps those that wait for another commit.
    mutating func keepShort(of partitions: [PartitionState]) {
        short.keep { partitions[$0].isReserveShort }
        for slot in short.slots { touch(slot) }
    }

    /// Marks partitions that should give their reserves back, and returns whether there is one.
    mutating func isRestDue(in partitions: [PartitionState], now: MonotonicTime) -> Bool {
        reserved.keep { partitions[$0].hasReserve }
        let due = reserved.slots.filter { partitions[$0].isRestDue(now: now) }
        for slot in due { touch(slot) }
        return !due.isEmpty
    }

    /// Keeps those that are left still, and returns them.
    mutating func keepLeft(of partitions: [PartitionState]) -> [PartitionState] {
        for slot in changed.slots { left.insert(slot) }
        left.keep { partitions[$0].left != nil }
        return left.slots.sorted().map { partitions[$0] }
    }

    /// Adds the next ones of all partitions to those that are measured. To be called once a second.
    mutating func addSome() {
        for _ in 0..<min(count, Self.lookedAtInASecond) {
            changed.insert(nextAdded)
            nextAdded = (nextAdded + 1) % count
        }
    }

    /// Keeps those that change by themselves, when all were measured.
    mutating func noteMeasured(isWaiting: (Int) -> Bool) { changed.keep(where: isWaiting) }

    /// No previous owner may go on any more. Tells the partitions so, once.
    mutating func endOverlap(of partitions: inout [PartitionState]) {
        guard mayOverlap else { return }
        mayOverlap = false
        for slot in partitions.indices {
            partitions[slot].begun.overlapEnded()
            // From now on it may be known that a reserve is more than was begun.
            reserved.insert(slot)
        }
    }

    /// True if it is time to see to it that more records are fetched.
    mutating func isRefillDue(_ now: MonotonicTime) -> Bool {
        guard now >= nextRefill else { return false }
        nextRefill = now + Self.refillInterval
        return true
    }
}
