public import Basics
public import PushModel

/// The sweep of a worker's delay lanes after an order has ended before its time, or cancels what waits: each record that is there is examined
/// before its time, and waits on where it still has to.
///
/// It begins some time after it was requested, so that every worker has heard of the end by then and puts nothing more to wait for it. A little
/// later it is done once more, for what was still on its way to a lane. A few sweeps may follow each other so. More are spread over time, because
/// each writes again what waits on.
/// In each partition it ends at the first record that was written later, or at the end.
public struct LaneSweep: Sendable {
    /// The time from a request to the sweep: 2 s in nanoseconds.
    public static let patience: Int64 = 2_000_000_000
    /// The time in which a process counts as started again, as releases count as young: 10 min in nanoseconds.
    public static let youth: Int64 = 600_000_000_000
    /// The time from a sweep to the second one for the same request: 8 s in nanoseconds.
    public static let pause: Int64 = 8_000_000_000
    /// The sweeps that may follow each other at once.
    public static let most = 6
    /// The time after which another one may: 30 s in nanoseconds.
    public static let interval: Int64 = 30_000_000_000

    private let firstSlot: Int
    /// The partitions whose sweep has not ended.
    private var isOpen: [Bool]
    /// The time of the last sweep's begin.
    private var begin = Timestamp.past
    private var due: MonotonicTime?
    /// True once it is known whether the assignment begins with a sweep.
    public private(set) var isConsidered = false
    /// The sweeps that are still to come.
    private var rounds = 0
    /// The sweeps that may begin at once, and the time from which the next one is counted.
    private var allowance = most
    private var countedAt = MonotonicTime.past

    /// No sweep of the partitions at some slots.
    public init(_ slots: Range<Int>) {
        firstSlot = slots.lowerBound
        isOpen = slots.map { _ in false }
    }

    /// Requests a sweep.
    public mutating func request(now: MonotonicTime) {
        let next = now + Self.patience
        due = rounds == 2 ? due ?? next : next
        rounds = 2
    }

    /// Decides whether the assignment begins with a sweep, because records may wait for what has ended.
    public mutating func consider(isNeeded: Bool, now: MonotonicTime) {
        isConsidered = true
        if isNeeded { request(now: now) }
    }

    /// Begins a sweep if one is due.
    ///
    /// - Parameters:
    ///   - now: The present moment.
    ///   - time: The same by the wall clock.
    /// - Returns: True if one begins.
    public mutating func begins(now: MonotonicTime, at time: Timestamp) -> Bool {
        guard let due, due <= now, takeAllowance(now: now) else { return false }
        rounds -= 1
        self.due = rounds > 0 ? now + Self.pause : nil
        begin = time
        for place in isOpen.indices { isOpen[place] = true }
        return true
    }

    private mutating func takeAllowance(now: MonotonicTime) -> Bool {
        while allowance < Self.most, countedAt + Self.interval <= now {
            allowance += 1
            countedAt = countedAt + Self.interval
        }
        guard allowance > 0 else { return false }
        if allowance == Self.most { countedAt = now }
        allowance -= 1
        return true
    }

    /// True if a record of a partition is examined before its time. The first one that was written after the begin ends the sweep there.
    public mutating func covers(recordWrittenAt written: Timestamp, in slot: Int) -> Bool {
        let place = slot - firstSlot
        guard isOpen.indices.contains(place), isOpen[place] else { return false }
        isOpen[place] = written < begin
        return isOpen[place]
    }

    /// True while a partition is being swept.
    public func isSweeping(_ slot: Int) -> Bool {
        let place = slot - firstSlot
        return isOpen.indices.contains(place) && isOpen[place]
    }

    /// The end of a partition was read: nothing more of it is there.
    public mutating func reachedEnd(of slot: Int) {
        let place = slot - firstSlot
        if isOpen.indices.contains(place) { isOpen[place] = false }
    }
}
