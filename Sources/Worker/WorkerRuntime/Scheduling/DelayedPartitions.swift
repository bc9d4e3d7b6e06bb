import Basics
import Delivery
import PushModel

/// The loop's knowledge of the partitions of delay lanes as a whole.
struct DelayedPartitions {
    /// Their slots, behind all others.
    let slots: Range<Int>
    var group: CursorGroup
    /// The slots whose first record must not wait: its request is cancelled. It ends even when there is no room for calls.
    var cancelledHeads: [Int] = []
    /// The examination of what waits there before its time.
    var sweep: LaneSweep

    /// The partitions by the moment of the next check of their first record.
    private var checks = MomentHeap<Timestamp, Int>()
    /// The moment for which each partition is in the heap last. An entry for another one is outdated.
    private var planned: [Timestamp?]

    init(_ slots: Range<Int> = 0..<0) {
        self.slots = slots
        group = CursorGroup(slots)
        sweep = LaneSweep(slots)
        planned = slots.map { _ in nil }
    }

    /// The moment of the next check, `never` when none is planned. `now` is the present moment, which is `time` by the wall clock.
    func nextCheck(_ now: MonotonicTime, by time: Timestamp) -> MonotonicTime {
        checks.first.map { now + $0.nanoseconds(since: time) } ?? .never
    }

    /// Has the first record of a partition checked at a moment.
    mutating func check(_ slot: Int, at moment: Timestamp) {
        guard planned[slot - slots.lowerBound] != moment else { return }
        planned[slot - slots.lowerBound] = moment
        checks.add(slot, at: moment)
    }

    /// Lets those partitions be read whose moment has come.
    mutating func markDue(at now: Timestamp) {
        while let due = checks.first, let slot = checks.removeDue(now) {
            guard planned[slot - slots.lowerBound] == due else { continue }
            planned[slot - slots.lowerBound] = nil
            group.mark(slot)
        }
    }
}
