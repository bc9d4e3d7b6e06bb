public import Basics

/// The moment of the next commit: soon while many results come, later while they are few or flood or touch many partitions, at once after a
/// rest.
///
/// A transaction costs a worker about 3.5 ms of processor time whatever it holds (page Kafka, "Costs") and the brokers three times as
/// much. So one for each of a handful of results a second would be dear. A flood comes while a backlog is worked off. A result 0.1 s
/// later does not matter there, but the processors are full, and what fewer commits leave of them goes to requests. Each partition that a
/// commit touches takes a request to the brokers and a position, some 0.06 ms more. From `manyPartitions` to five times as many the time
/// between two commits grows with them, so that they take no larger share of it. Long intervals need no more.
///
/// Moments are nanoseconds of a monotonic clock that the owner reads.
public struct CommitSchedule: Sendable, Equatable {
    /// The least time between the beginnings of two commits, nanoseconds.
    public let interval: Int64

    /// The least time between them while results come more seldom than every `sparseness`: 250 ms in nanoseconds.
    public static let sparseInterval: Int64 = 250_000_000

    /// The mean time between two results from which on they are few: 50 ms in nanoseconds.
    public static let sparseness: Int64 = 50_000_000

    /// The least time between them while results flood: 120 ms in nanoseconds.
    public static let floodInterval: Int64 = 120_000_000

    /// The mean time between two results up to which they are a flood: 0.25 ms in nanoseconds.
    public static let floodSpacing: Int64 = 250_000

    /// The partitions up to which a commit is no dearer than that.
    public static let manyPartitions = 120

    private var last = MonotonicTime.past

    /// A schedule that has seen no commit: the first may begin at once. Two are `interval` nanoseconds apart at least, which
    /// beyond 250 ms always holds.
    public init(interval: Int64) { self.interval = max(0, interval) }

    /// Notes that a commit begins at `now`.
    public mutating func noteStart(at now: MonotonicTime) { last = now }

    /// The moment at which the next commit begins.
    ///
    /// - Parameters:
    ///   - waiting: How many results wait for it, 1 or more.
    ///   - partitions: How many partitions it touches at most; no more than there are results.
    ///   - now: The present moment.
    /// - Returns: A moment; `now` or earlier means that the commit is due.
    public func due(waiting: Int, partitions: Int, now: MonotonicTime) -> MonotonicTime {
        guard last != .past else { return now }
        // How dense the results are, by the time in which so many came; the longer none follows, the less dense they are.
        let elapsed = max(now - last, interval)
        let least =
            if elapsed / Self.sparseness >= Int64(waiting) {
                Self.sparseInterval
            } else if elapsed / Self.floodSpacing < Int64(waiting) {
                Self.floodInterval
            } else {
                interval
            }
        let touched = max(Self.manyPartitions, min(partitions, waiting, 5 * Self.manyPartitions))
        return last + max(interval, least, min(least, Self.floodInterval) * Int64(touched) / Int64(Self.manyPartitions))
    }
}
