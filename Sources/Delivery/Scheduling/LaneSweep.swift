public import Basics

/// The sweep of a worker's delay lanes after a hold or a limit has ended before its time: each record that was there is examined once, and
/// waits on where it still has to.
///
/// It begins some time after it was requested, so that every worker has heard of the end by then and puts nothing more to wait for it. After
/// an interval it is done once more, for what was still on its way to a lane. It is not done more often, because it writes again what waits on.
public struct LaneSweep: Sendable {
    /// The time from a request to the sweep: 2 s in nanoseconds.
    public static let patience: Int64 = 2_000_000_000
    /// The time in which a process counts as started again, as releases count as young: 10 min in nanoseconds.
    public static let youth: Int64 = 600_000_000_000
    /// The least time between two sweeps: 30 s in nanoseconds.
    public static let interval: Int64 = 30_000_000_000

    private let firstSlot: Int
    /// The offset at which the sweep of each partition ends.
    private var ends: [Int64]
    private var due: MonotonicTime?
    /// The sweeps that are still to come.
    private var rounds = 0
    /// True once it is known whether the assignment begins with a sweep.
    public private(set) var isConsidered = false
    private var earliest = MonotonicTime.past

    /// No sweep of the partitions at some slots.
    public init(_ slots: Range<Int>) {
        firstSlot = slots.lowerBound
        ends = slots.map { _ in 0 }
    }

    /// Requests a sweep.
    public mutating func request(now: MonotonicTime) {
        if rounds == 0 || due == nil { due = max(now + Self.patience, earliest) }
        rounds = 2
    }

    /// Decides whether the assignment begins with a sweep, because records may wait for what has ended.
    public mutating func consider(isNeeded: Bool, now: MonotonicTime) {
        isConsidered = true
        if isNeeded { request(now: now) }
    }

    /// True if a sweep must begin now. Then it counts as begun.
    public mutating func isDue(now: MonotonicTime) -> Bool {
        guard let due, due <= now else { return false }
        rounds -= 1
        earliest = now + Self.interval
        self.due = rounds > 0 ? earliest : nil
        return true
    }

    /// Begins the sweep of a partition, which ends before an offset.
    public mutating func begin(_ slot: Int, end: Int64) { ends[slot - firstSlot] = end }

    /// True if the record at an offset is examined before its time.
    public func covers(_ offset: Int64, in slot: Int) -> Bool {
        let place = slot - firstSlot
        return ends.indices.contains(place) && offset < ends[place]
    }
}
