public import PushModel

/// The lanes in which requests wait that are not to be sent yet: in each, every record waits equally long, so that it is in due order by
/// construction. Waits are milliseconds.
///
/// A wait shorter than the smallest lane is not for a lane. A longer one takes the largest lane that is shorter than it by `margin` or
/// more, and, when that is over, another one for what is left.
public struct DelayLanes: Sendable, Equatable {
    /// The time that a record waits in each lane, the shortest first: 10 s, 1 min, 10 min, 1 h.
    public static let lengths: [Int64] = [10_000, 60_000, 600_000, 3_600_000]
    /// The lanes' words in the names of their topics.
    public static let names = ["10s", "1m", "10m", "1h"]

    /// The least time by which a wait must be longer than its lane: 500 ms. A record is written some time after it was decided,
    /// with others of a commit (`CommitSchedule`). With less time left it could be due before the one in front of it, which is
    /// looked at first.
    public static let margin: Int64 = 500

    /// The lanes that can be used, by their place in `lengths`.
    public private(set) var available: [Int]

    /// All lanes, or those that can be used.
    public init(_ available: some Sequence<Int> = lengths.indices) {
        self.available = available.filter { Self.lengths.indices.contains($0) }.sorted()
    }

    /// The lane for a wait.
    ///
    /// - Parameter wait: How long is left.
    /// - Returns: The place of the lane in `lengths`; nil when the wait is too short for any lane that can be used.
    public func lane(for wait: Int64) -> Int? { available.last { Self.lengths[$0] + Self.margin <= wait } }

    /// The lane for a request that need not wait for long, but whose history the partition's next owner is to know. It may wait there
    /// for as long as the shortest lane is, behind what was written before it.
    ///
    /// - Parameters:
    ///   - expiresAt: When the request is of no use any more; nil for never.
    ///   - now: The present moment.
    /// - Returns: The shortest lane; nil when that cannot be used, or the request could expire there.
    public func laneToNextOwner(expiresAt: Timestamp?, now: Timestamp) -> Int? {
        guard available.first == 0 else { return nil }
        return expiresAt.map { $0.milliseconds(since: now) > Self.lengths[0] + Self.margin } ?? true ? 0 : nil
    }

    /// The lane that stands in for another: the nearest that is no longer, or else the shortest. The records of a shorter one are checked
    /// before their time, and handed on.
    ///
    /// - Parameter lane: The place of a lane in `lengths`.
    /// - Returns: The same where it can be used; nil when no lane can.
    public func nearest(to lane: Int) -> Int? { available.last { $0 <= lane } ?? available.first }

    /// The moment to check a record of a lane again: when it has been there for the lane's length, or is due, whichever comes
    /// first.
    ///
    /// What the record says is not believed beyond the lane's length from now, because all behind it wait as well.
    ///
    /// - Parameters:
    ///   - lane: The place of its lane in `lengths`.
    ///   - written: When it was written there.
    ///   - due: When it is due.
    ///   - now: The present moment.
    /// - Returns: That moment.
    public static func recheckTime(in lane: Int, written: Timestamp, due: Timestamp, now: Timestamp) -> Timestamp {
        let length = lengths[lane]
        return min(due, written.adding(milliseconds: length), now.adding(milliseconds: length))
    }

    /// True if a worker may have gone on with a record that waits, or with one behind it: it may have been checked again.
    ///
    /// - Parameters:
    ///   - lane: The place of its lane in `lengths`; nil for a held request, which goes on at any time.
    ///   - written: When it was written there; nil when that is not known.
    ///   - due: When it is due; nil when that is not known.
    ///   - now: The present moment.
    /// - Returns: False only if its time has not come. A time of writing that is further ahead than the lane's length proves nothing.
    public static func mayHaveGoneOn(in lane: Int?, written: Timestamp?, due: Timestamp?, now: Timestamp) -> Bool {
        guard let lane, let written, let due else { return true }
        if written > now.adding(milliseconds: lengths[lane]) { return true }
        return recheckTime(in: lane, written: written, due: due, now: now) <= now
    }
}
