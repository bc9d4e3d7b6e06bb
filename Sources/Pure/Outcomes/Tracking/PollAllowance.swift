public import Basics

/// The number of telemetry polls that a worker may make, so that sends keep their place at the hub.
///
/// A share of the calls in flight is theirs at most. Of the rate they have two polls for every call that began to be followed, and 100 a
/// second for those that others left. What was not used is kept: of the former up to 100,000, of the latter two seconds' worth. Times are
/// nanoseconds of a monotonic clock that the owner reads.
public struct PollAllowance: Sendable {
    /// The polls a second that are always allowed.
    public static let perSecond: Int64 = 100
    /// The polls allowed for each call that is followed.
    public static let perCall: Int64 = 2
    /// Questions by the second that are kept for later.
    public static let burst: Int64 = 200
    /// Questions for followed calls that are kept for later.
    private static let largestCredit: Int64 = 100_000

    /// Polls in flight.
    public private(set) var inFlight = 0

    private static let nanosecondsPerPoll = 1_000_000_000 / perSecond
    private var credit = burst
    private var creditedAt: MonotonicTime?

    /// The allowance of a worker that follows nothing yet.
    public init() {}

    /// Notes that one more call is followed.
    public mutating func tracked() { credit = min(credit + Self.perCall, Self.largestCredit) }

    /// True if a poll may be made at `now`.
    ///
    /// - Parameters:
    ///   - limit: The hub calls that may be in flight at once; a quarter of them may be polls, one at least.
    ///   - now: The present moment.
    /// - Returns: Whether the share and the rate allow one.
    public mutating func mayPoll(limit: Int, now: MonotonicTime) -> Bool {
        refill(now)
        return inFlight < max(1, limit / 4) && credit > 0
    }

    /// The moment at which a poll may be made that may not be for the sake of the rate, or nil when the rate allows one.
    public mutating func nextPoll(now: MonotonicTime) -> MonotonicTime? {
        refill(now)
        return credit > 0 ? nil : (creditedAt ?? now) + Self.nanosecondsPerPoll
    }

    /// Notes that a poll is made.
    public mutating func noteStart() {
        credit -= 1
        inFlight += 1
    }

    /// Notes that a poll has ended, however it did.
    public mutating func noteEnd() { inFlight -= 1 }

    private mutating func refill(_ now: MonotonicTime) {
        guard let since = creditedAt else {
            creditedAt = now
            return
        }
        let earned = max(0, now - since) / Self.nanosecondsPerPoll
        guard earned > 0 else { return }
        creditedAt = since + earned * Self.nanosecondsPerPoll
        if credit < Self.burst { credit = min(credit + earned, Self.burst) }
    }
}
