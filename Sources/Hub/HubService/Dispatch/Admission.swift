import Basics

/// The times at which the walker looks for notifications that are due.
struct Admission {
    /// The longest time between two looks. It also finds what a clock that was set has hidden.
    private static let interval = Duration.seconds(30)

    private var hasNews = true
    private var asksAt = MonotonicTime.past
    private var retryAt = MonotonicTime.past
    private var failureCount = 0
    /// The time of the next scheduled notification, in milliseconds since 1970.
    var nextDue: Int64?

    /// Takes what other threads have told.
    mutating func take(_ content: WalkerInbox.Content) {
        hasNews = hasNews || content.hasNews
        if let due = content.due { nextDue = min(nextDue ?? due, due) }
    }

    /// Notes that there may be more to take in.
    mutating func noteNews() { hasNews = true }

    /// True if no failure keeps it from looking.
    func mayLook(at now: WalkMoment) -> Bool { retryAt <= now.steady }

    /// True if it is time to look.
    func isDue(at now: WalkMoment) -> Bool { mayLook(at: now) && (hasNews || asksForSchedule(at: now)) }

    /// True if it is time to ask for the next scheduled notification.
    func asksForSchedule(at now: WalkMoment) -> Bool { asksAt <= now.steady || nextDue.map { $0 <= now.wall } ?? false }

    /// Notes a look. With `isFull` there may be more.
    mutating func noteReading(isFull: Bool, at now: WalkMoment) {
        (hasNews, failureCount) = (isFull, 0)
        if asksAt <= now.steady { asksAt = now.steady.advanced(by: Self.interval) }
    }

    /// Notes a look that failed.
    mutating func noteFailure(at now: WalkMoment) {
        hasNews = true
        retryAt = now.steady.advanced(by: Walker.pause(afterFailures: failureCount))
        failureCount += 1
    }

    /// The time of the next look, if no news come before.
    func wake(at now: WalkMoment) -> MonotonicTime {
        guard !hasNews else { return max(retryAt, now.steady.advanced(by: .milliseconds(100))) }
        let rest = nextDue.map { max(20, min($0.subtractingReportingOverflow(now.wall).partialValue, 1000)) } ?? 1000
        return max(retryAt, now.steady.advanced(by: .milliseconds(rest)))
    }
}
