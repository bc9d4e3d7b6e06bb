public import Basics
import PushModel

/// The offset before which a worker may begin the requests of one partition.
///
/// The group's position names that offset. To begin what lies behind it, the worker commits a position that names a further one. So if the
/// worker dies, the next owner knows that none of what lies behind it was begun, whenever it was published and by whichever clock.
///
/// The reserve grows with what is read between two commits, so that hardly any record waits for one under load. A partition without records
/// gives its reserve back after a while, so that what is published after the death of an idle worker was begun by none.
public struct BeginReserve: Sendable, Equatable {
    /// The least reserve of a partition that is read, 64 offsets: as many as are read of one in its turn.
    public static let least: Int64 = 64
    /// The greatest reserve, as wide as the widest window, 16,384 offsets.
    public static let greatest = Int64(OffsetLedger.maximumWindow)
    /// After this time without a record the reserve is given back: 5 s in nanoseconds. The next record waits for a commit.
    public static let restPatience: Int64 = 5_000_000_000

    /// The end that the group's position names, or `max` if it names none and says that any request may be begun.
    private var named: Int64
    /// The end that the offered position names, or nil while none is offered.
    private var offered: Int64?
    /// The place of reading at the last offer.
    private var offeredAt: Int64?
    /// The moment of the last record.
    private var readAt = MonotonicTime.past

    /// A reserve that a position names: the offset before which requests may be begun, or nil for none.
    public init(end: Int64? = nil) { named = end ?? .max }

    /// The offset before which requests may be begun. Until it is known what became of an offered position, the group may stand at the one
    /// or the other.
    public var end: Int64 { min(named, offered ?? .max) }

    /// True if the request at an offset may be begun.
    public func allows(_ offset: Int64) -> Bool { offset < end }

    /// A record was read.
    public mutating func read(at now: MonotonicTime) { readAt = now }

    /// True if a position should be committed that gives the reserve back.
    ///
    /// - Parameters:
    ///   - least: The end that a position must name at least.
    ///   - now: The present moment.
    /// - Returns: Whether it should.
    public func isRestDue(least: Int64, now: MonotonicTime) -> Bool { end > least && isAtRest(now) }

    /// The end for a position that is offered now.
    ///
    /// - Parameters:
    ///   - least: The end that it must name at least.
    ///   - position: Behind the last record that was read.
    ///   - wanted: A record that is read and may not be begun yet.
    ///   - now: The present moment.
    /// - Returns: The end.
    public mutating func next(least: Int64, position: Int64, wanted: Int64?, now: MonotonicTime) -> Int64 {
        let read = max(0, position - (offeredAt ?? position))
        offeredAt = position
        let begin = max(position, wanted?.addingSaturated(1) ?? position)
        let size = wanted == nil && isAtRest(now) ? 0 : max(Self.least, 4 * min(read, Self.greatest / 4))
        return max(least, begin.addingSaturated(size))
    }

    /// A position is offered that names an end, or nil for none.
    public mutating func offer(_ end: Int64?) { offered = end ?? .max }

    /// The offered position is committed.
    public mutating func noteCommit() {
        if let offered { named = offered }
        offered = nil
    }

    /// The offered position is certainly not committed, and is not offered again.
    public mutating func withdrawn() { offered = nil }

    private func isAtRest(_ now: MonotonicTime) -> Bool { now - readAt >= Self.restPatience }
}
