public import PushModel

/// The place for a request that must not be sent yet, and the time that one waits again for which there is no room. Waits are
/// milliseconds.
public struct DelayPolicy: Sendable, Equatable {
    /// The time that the shortest lane takes, and the longest.
    public static let shortestStay = DelayLanes.lengths[0] + DelayLanes.margin
    private static let longestStay = DelayLanes.lengths[DelayLanes.lengths.count - 1] + DelayLanes.margin

    /// The delay lanes that can be written to.
    public var lanes: DelayLanes

    /// A policy over the lanes that can be written to.
    public init(_ lanes: DelayLanes) { self.lanes = lanes }

    /// True if a request can wait in a lane.
    public var hasLanes: Bool { !lanes.available.isEmpty }

    /// The moment until which a request waits: not beyond its expiry, of which its publisher is to hear in time.
    public static func moment(until due: Timestamp, expiresAt: Timestamp?) -> Timestamp { min(due, expiresAt ?? due) }

    /// The lane in which a request waits that has no key.
    ///
    /// - Parameters:
    ///   - due: The moment at which it may go on.
    ///   - expiresAt: Its expiry, or nil for never.
    ///   - isLeft: Whether it is left to the partition's next owner, who is to know what became of its calls.
    ///   - now: The present moment.
    /// - Returns: The place of the lane in `DelayLanes.lengths`, or nil if it waits in memory.
    public func lane(until due: Timestamp, expiresAt: Timestamp?, isLeft: Bool, now: Timestamp) -> Int? {
        let lane = lanes.lane(for: Self.moment(until: due, expiresAt: expiresAt).milliseconds(since: now))
        return lane ?? (isLeft ? lanes.laneToNextOwner(expiresAt: expiresAt, now: now) : nil)
    }

    /// The lane in which a request waits on that comes from a lane and is not due. Nil when it waits no more, or has expired.
    public func nextLane(until due: Timestamp, expiresAt: Timestamp?, now: Timestamp) -> Int? {
        expiresAt.map { $0 > now } ?? true ? lanes.lane(for: due.milliseconds(since: now)) : nil
    }

    /// True if the wait of a request with a key is long enough to be held.
    static func isLong(until due: Timestamp, now: Timestamp) -> Bool { due.milliseconds(since: now) >= shortestStay }

    /// The moment until which a request is deferred whose hub has no room: it waits as long again as it has waited so far. So it is not
    /// written often, and waits no more than twice as long as it had to.
    public static func deferral(publishedAt: Timestamp, now: Timestamp) -> Timestamp {
        now.adding(milliseconds: min(max(now.milliseconds(since: publishedAt), shortestStay), longestStay))
    }
}
