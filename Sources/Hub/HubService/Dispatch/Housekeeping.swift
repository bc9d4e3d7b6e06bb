import Basics
import HubServer
import Synchronization

/// The work of a walker beside its walks: it counts those that wait, forgets old ones, and reports failures.
final class Housekeeping {
    private static let reportInterval = Duration.seconds(1)
    private static let forgetInterval = Duration.seconds(60)
    private static let failureInterval = Duration.seconds(10)

    private let journal: any MessageJournal
    private let inbox: WalkerInbox
    private let observe: @Sendable (DispatchEvent) -> Void
    private var hasChanged = true
    private var reportsAt = MonotonicTime.past
    private var forgetAt = MonotonicTime.past
    private var reportsFailureAt = MonotonicTime.past

    init(journal: any MessageJournal, inbox: WalkerInbox, observe: @escaping @Sendable (DispatchEvent) -> Void) {
        (self.journal, self.inbox, self.observe) = (journal, inbox, observe)
    }

    /// Notes that the number of those that wait has changed.
    func noteChange() { hasChanged = true }

    /// Reports a failure, one in 10 s.
    func report(_ refusal: RefusedCall?, at now: WalkMoment) {
        guard let refusal, reportsFailureAt <= now.steady else { return }
        reportsFailureAt = now.steady.advanced(by: Self.failureInterval)
        observe(.failed(refusal.answer.detail ?? ""))
    }

    /// Does what is due, a little at a time.
    ///
    /// - Parameters:
    ///   - isIdle: No notification is on its way.
    ///   - now: The moment.
    ///   - terms: The present terms.
    ///   - oldest: Finds the time of the oldest notification that is on its way.
    /// - Returns: The pause until the next turn.
    func turn(isIdle: Bool, at now: WalkMoment, by terms: DispatchTerms, oldest: () -> Int64?) -> Duration {
        if reportsAt <= now.steady, hasChanged || !isIdle { count(oldest: oldest(), at: now) }
        guard forgetAt <= now.steady else { return Self.reportInterval }
        let (before, isOver) = now.wall.subtractingReportingOverflow(terms.retention.wholeMilliseconds)
        do throws(RefusedCall) {
            let count = isOver ? 0 : try journal.forget(endedBefore: before)
            let pause = count == 0 ? Self.forgetInterval : isIdle ? .zero : Self.reportInterval
            forgetAt = now.steady.advanced(by: pause)
            return min(pause, Self.reportInterval)
        } catch {
            forgetAt = now.steady.advanced(by: Self.failureInterval)
            report(error, at: now)
            return Self.reportInterval
        }
    }

    /// Counts those that wait.
    private func count(oldest: Int64?, at now: WalkMoment) {
        reportsAt = now.steady.advanced(by: Self.reportInterval)
        guard let backlog = try? journal.backlog(now: now.wall) else { return }
        hasChanged = false
        let count = backlog.dueCount
        if backlog.unreadableCount > 0 {
            report(.unavailable("\(backlog.unreadableCount) notifications cannot be read, and end at their deadlines"), at: now)
        }
        inbox.waitingCount.store(count, ordering: .relaxed)
        let age = oldest.map { max(0, now.wall.subtractingReportingOverflow($0).partialValue) } ?? 0
        observe(.waiting(count: count, oldest: .milliseconds(age)))
    }
}
