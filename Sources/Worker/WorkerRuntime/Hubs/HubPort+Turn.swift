import Basics
import CurlHTTP
import Delivery
import Outcomes

/// The port's wishes for the loop's turns.
extension HubPort {
    /// The moment when the loop must turn for the hub. Not after `now` for at once. No call is begun while a commit is overdue.
    func wakeTime(isCommitOverdue: Bool, now: MonotonicTime) -> MonotonicTime {
        if connections.hasCompletions { return now }
        var wake = MonotonicTime.never
        if !isCommitOverdue && ready.hasCalls(in: openLanes(now: now)) {
            wake = limits.waitEnd(now: now) ?? now
            if wake <= now { return now }
        }
        if let timer = connections.nextTimer { wake = min(wake, timer) }
        if isFleetOpen, let due = limits.rate?.nextDue { wake = min(wake, due) }
        if let moment = nextPollMoment(isCommitOverdue: isCommitOverdue, now: now) { wake = min(wake, moment) }
        return wake
    }

    /// True if a poll may be made now. While the hub is out, none is: the circuit's probes are calls of waiting requests.
    func mayPoll(isCommitOverdue: Bool, now: MonotonicTime) -> Bool {
        !isCommitOverdue && limits.mayAsk(now: now, areCallsWaiting: !ready.isEmpty) && polls.pause.end(now: now) == nil
            && polls.allowance.mayPoll(limit: limits.concurrency.limit, now: now)
    }

    /// The moment when the loop must turn for the sake of polls that wait for a moment. Nil when they wait for nothing, or something else.
    func nextPollMoment(isCommitOverdue: Bool, now: MonotonicTime) -> MonotonicTime? {
        guard !polls.queue.isEmpty, limits.circuit.state == .closed else { return nil }
        var moment = limits.waitEnd(now: now)
        if let end = polls.pause.end(now: now) { moment = max(moment ?? end, end) }
        if let next = polls.allowance.nextPoll(now: now) { moment = max(moment ?? next, next) }
        return moment ?? (mayPoll(isCommitOverdue: isCommitOverdue, now: now) ? now : nil)
    }

    /// Takes down at the end of a turn what the turn has left.
    func endTurn(isCommitOverdue: Bool, now: MonotonicTime) {
        limits.noteWaiting(!ready.isEmpty && !isCommitOverdue, now: now)
        metrics.turnEnded(inFlight: limits.inFlight, waiting: waitingForRetry, throttled: limits.pause.totalNanoseconds)
    }
}
