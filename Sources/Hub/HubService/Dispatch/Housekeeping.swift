import Basics
import HubServer
import Synchronization

/// The work of a walker beside its walks: it counts those that wait, forgets what is over, and reports failures.
final class Housekeeping {
    private static let reportInterval = Duration.seconds(1)
    private static let forgetInterval = Duration.seconds(60)
    private static let failureInterval = Duration.seconds(10)
    /// The registrations and installations that are forgotten in one change.
    private static let portion = 500

    private let journal: any MessageJournal
    private let devices: any DeviceStore
    private let inbox: WalkerInbox
    private let observe: @Sendable (DispatchEvent) -> Void
    private var hasChanged = true
    private var reportsAt = MonotonicTime.past
    private var forgetAt = MonotonicTime.past
    private var reportsFailureAt = MonotonicTime.past
    /// The time of the oldest notification at the last count, or of the first count that failed.
    private var oldest: Int64?

    init(
        journal: any MessageJournal, devices: any DeviceStore, inbox: WalkerInbox,
        observe: @escaping @Sendable (DispatchEvent) -> Void
    ) {
        (self.journal, self.devices, self.inbox, self.observe) = (journal, devices, inbox, observe)
    }

    /// Notes that the number of those that wait has changed.
    func noteChange() { hasChanged = true }

    /// Reports a failure, one in 10 s. Something waits because of it.
    func noteFailure(_ refusal: RefusedCall?, at now: WalkMoment) {
        hasChanged = true
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
    /// - Returns: The pause until the next turn.
    func turn(isIdle: Bool, at now: WalkMoment, by terms: DispatchTerms) -> Duration {
        let mayWait = hasChanged || !isIdle || inbox.waitingCount.load(ordering: .relaxed) > 0
        if reportsAt <= now.steady, mayWait { count(at: now) }
        guard forgetAt <= now.steady else { return Self.reportInterval }
        do throws(RefusedCall) {
            let count = try forgetPortion(at: now.wall, by: terms)
            let pause = count == 0 ? Self.forgetInterval : isIdle ? .zero : Self.reportInterval
            forgetAt = now.steady.advanced(by: pause)
            return min(pause, Self.reportInterval)
        } catch {
            forgetAt = now.steady.advanced(by: Self.failureInterval)
            noteFailure(error, at: now)
            return Self.reportInterval
        }
    }

    /// Forgets some of the registrations that have expired, and of the notifications whose time is over. Returns how many.
    private func forgetPortion(at now: Int64, by terms: DispatchTerms) throws(RefusedCall) -> Int {
        let expiredCount = 0
        let (end, isOver) = now.subtractingReportingOverflow(terms.retention.wholeMilliseconds)
        return try expiredCount + (isOver ? 0 : journal.forget(endedBefore: end))
    }

    /// Counts those that wait. While the journal cannot be read, the number is what is known, and the age goes on.
    private func count(at now: WalkMoment) {
        reportsAt = now.steady.advanced(by: Self.reportInterval)
        hasChanged = false
        do throws(RefusedCall) {
            let count = try journal.unfinishedCount()
            oldest = count == 0 ? nil : try journal.oldestDue()
            inbox.waitingCount.store(count, ordering: .relaxed)
        } catch {
            oldest = oldest ?? now.wall
            noteFailure(error, at: now)
        }
        let age = oldest.map { max(0, now.wall.subtractingReportingOverflow($0).partialValue) } ?? 0
        observe(.waiting(count: inbox.waitingCount.load(ordering: .relaxed), oldest: .milliseconds(age)))
    }
}
