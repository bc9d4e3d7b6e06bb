import Basics
package import HubServer

/// The limits and times by which a hub's notifications go to devices.
package struct DispatchTerms: Sendable {
    /// The time from a notification's delivery to its deadline.
    package var messageLifetime: Duration
    /// The time for which the telemetry of a notification is kept after its end.
    package var retention: Duration
    /// The most devices of a page.
    package var pageSize = 1000
    /// The most devices of the first page, so that the first push does not wait for many others.
    package var firstPageSize = 100
    /// The pages of one notification that may be on their way.
    package var pagesPerMessage = 2
    /// The notifications that are on their way at once. Those to many devices leave a quarter to those that begin.
    package var messageCount = 256
    /// The most pushes without an outcome, and the most bytes of them. A page of a long walk leaves a quarter of both to those that begin.
    package var pushCount = 8192
    package var byteCount = 32 << 20
    /// The notifications that may wait before another is refused with 429.
    package var waitingCount = 100_000
    /// The longest wait for the outcome of a push. Beyond it the outcome is not known.
    package var outcomeLimit = Duration.seconds(300)
    /// The longest wait of a test send for its outcomes.
    package var testLimit = Duration.seconds(10)

    package init(messageLifetime: Duration = .seconds(86_400), retention: Duration = .seconds(30 * 86_400)) {
        (self.messageLifetime, self.retention) = (messageLifetime, retention)
    }
}

/// A fact of the work of a hub's dispatcher, for metrics and the log.
package enum DispatchEvent: Sendable, Equatable {
    /// A notification lasts in the journal.
    case accepted
    /// The first push of a notification was handed over, so long after its time.
    case begun(after: Duration)
    /// Pushes have an outcome.
    case pushed(HubPlatform, outcome: String, count: Int)
    /// A notification is at its end, so long after its time.
    case ended(WalkStep.Ending, after: Duration)
    /// Notifications are due and not at their end, the oldest for so long.
    case waiting(count: Int, oldest: Duration)
    /// The journal or the store of devices could not be read or written. It is tried again.
    case failed(String)
}
