import Basics

/// What the loop knows of the partitions of delay lanes as a whole.
struct DelayedPartitions {
    /// Their slots, behind all others.
    var slots = 0..<0
    /// Whether a read may find a record in one of them.
    var mayHaveRecords = false
    /// Whether one of them waits for its window.
    var isBlocked = false
    /// Whether it was said that requests of another group wait in them.
    var hasSaidForeign = false
    /// When to check the first of their heads again, monotonic nanoseconds.
    var nextLook = MonotonicTime.never

    /// Whether there may be something to do.
    func isWorthALook(_ now: MonotonicTime) -> Bool { mayHaveRecords || now >= nextLook }
}
