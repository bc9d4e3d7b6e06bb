public import Basics

/// A hub that asked to be left alone and refuses as a whole: Retry-After stops every call to it, not only the one that was throttled.
///
/// Moments are nanoseconds of a monotonic clock that the owner reads.
public struct HubPause: Sendable, Equatable {
    /// The longest rest that one answer buys, five minutes in milliseconds. A hub that means it says so again, and one that is mistaken
    /// holds up no more than the request that it was said to.
    public static let maximum: Int64 = 300_000

    private var until = MonotonicTime.past
    private var since = MonotonicTime.past
    /// The time for which the hub was paused in all, nanoseconds. It grows when a pause is over or asked for.
    public private(set) var totalNanoseconds: Int64 = 0

    /// A hub that is not paused.
    public init() {}

    /// Notes that the hub asked for `milliseconds` of rest at `now`, at most `maximum`. A pause is never shortened.
    public mutating func asked(for milliseconds: Int64, now: MonotonicTime) {
        settle(now: now)
        guard milliseconds > 0 else { return }
        if now >= until { since = now }
        until = max(until, now + min(milliseconds, Self.maximum) * 1_000_000)
    }

    /// The moment at which calls may go on, or nil when they may now.
    public mutating func end(now: MonotonicTime) -> MonotonicTime? {
        settle(now: now)
        return now < until ? until : nil
    }

    private mutating func settle(now: MonotonicTime) {
        guard since != .past else { return }
        let counted = min(now, until)
        if counted > since {
            totalNanoseconds += counted - since
            since = counted
        }
        if now >= until { since = .past }
    }
}
