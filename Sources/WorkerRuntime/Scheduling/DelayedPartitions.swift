import Basics
import Delivery

/// The loop's knowledge of the partitions of delay lanes as a whole.
struct DelayedPartitions {
    /// Their slots, behind all others.
    let slots: Range<Int>
    var group: CursorGroup
    /// The moment to check the first of their heads again, monotonic nanoseconds.
    var nextCheck = MonotonicTime.never

    /// The slots whose first record must not wait: its request is cancelled. It ends even when there is no room for calls.
    var cancelledHeads: [Int] = []

    init(_ slots: Range<Int> = 0..<0) {
        self.slots = slots
        group = CursorGroup(slots)
    }

    /// True if there may be something to do.
    func isWorthACheck(_ now: MonotonicTime) -> Bool { group.mayHaveRecords || now >= nextCheck }
}
