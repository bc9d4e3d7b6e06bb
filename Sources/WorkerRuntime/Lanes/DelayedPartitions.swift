import Basics

/// The loop's knowledge of the partitions of delay lanes as a whole.
struct DelayedPartitions {
    /// Their slots, behind all others.
    var slots = 0..<0
    /// True if a read may find a record in one of them.
    var mayHaveRecords = false
    /// True while one of them waits for its window.
    var isBlocked = false
    /// True if it was said that requests of another group wait in them.
    var hasSaidForeign = false
    /// The moment to check the first of their heads again, monotonic nanoseconds.
    var nextCheck = MonotonicTime.never

    /// True if there may be something to do.
    func isWorthACheck(_ now: MonotonicTime) -> Bool { mayHaveRecords || now >= nextCheck }
}
