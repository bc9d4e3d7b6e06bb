import Basics
import Delivery
import FanOut
import HTTP1
import HubREST
import PushModel

/// The life of a request's calls, as the request and its report have it. `HubPort` changes their phases, and counts them.
extension Flight {
    /// True if a device may have heard of the request: then its history is ours to hand over, or its result ours to write.
    var mustFinish: Bool {
        // Of one from a delay lane that was not sent since, its record says what was.
        work.wasSent
            && (work.calls.contains(where: \.mayHaveArrived)
                || report.calls.contains { $0.outcome == .success || $0.outcome == .ambiguous })
    }

    /// Calls `body` with the calls in wanted phases, from the last one on, as long as the request is in work.
    func forEachCall(where isWanted: (Phase) -> Bool, then body: (Int) -> Void) {
        for index in work.calls.indices.reversed() where isActive && isWanted(work.calls[index].phase) { body(index) }
    }

    /// Notes that an attempt at a call is handed to a connection, signed with the token of that number. `role` is its role for the hub's
    /// circuit breaker, and `time` is `now` by the wall clock.
    func noteStart(ofCall index: Int, role: CircuitBreaker.Call, token: UInt64, now: MonotonicTime, at time: Timestamp) {
        work.calls[index].begin(role: role, token: token, now: now, at: time)
        work.wasSent = true
        if report.firstAttemptAt == nil { report.firstAttemptAt = time }
    }

    /// The detail of an answer that is not the hub's.
    private static let foreignAnswer = Array("the answer is no hub's, as that of a sign-in page, a proxy or another server".utf8)

    /// Notes an answer to a call, with its texts.
    func noteAnswer(_ reply: HubAnswer, toCall index: Int, text answer: borrowing Answer) {
        report.calls[index].httpStatus = reply.status
        report.calls[index].retryAfter = reply.retryAfter
        // The detail of an earlier attempt is no reason for how this one ended.
        report.calls[index].detail = nil
        if let id = reply.notificationID { report.calls[index].notificationID = report.keep(answer.text(id)) }
        if let id = reply.trackingID { report.calls[index].trackingID = report.keep(answer.text(id)) }
        if let detail = reply.detail { report.calls[index].detail = report.keep(answer.text(detail)) }
        if reply.isForeign { report.calls[index].detail = report.keep(Self.foreignAnswer.span) }
    }

    /// Notes that a call ended without an answer.
    func noteFailure(ofCall index: Int, detail: String) {
        report.calls[index].httpStatus = 0
        report.calls[index].retryAfter = nil
        noteDetail(detail, ofCall: index)
    }

    /// Notes the end of the attempt in flight.
    ///
    /// - Returns: The attempt, which lacks its result and whether another one follows.
    func endAttempt(atCall index: Int, verdict: CallVerdict, now: MonotonicTime) -> DeliveryReport.Attempt {
        if verdict.outcome == .ambiguous { work.calls[index].mayHaveArrived = true }
        report.calls[index].code = verdict.code
        let call = work.calls[index]
        var attempt = DeliveryReport.Attempt(number: call.attempt, call: index, startedAt: call.startedAtWall)
        attempt.duration = (now - call.startedAt) / 1_000_000
        attempt.code = verdict.code
        return attempt
    }

    /// Notes if its accepted calls get outcomes: as the request says, or as its hub has it by default.
    func noteFollowing(byDefault isDefault: Bool) {
        report.note(isFollowed: !request.options.testSend && (request.options.trackOutcome ?? isDefault))
    }

    /// Counts a wait that the hub asked for, in milliseconds.
    func noteThrottling(_ milliseconds: Int64) { report.throttleWait += milliseconds }

    /// Notes the outcome of a call.
    func noteOutcome(_ outcome: Outcome, ofCall index: Int) {
        report.calls[index].outcome = outcome
        work.openCalls -= 1
    }

    /// Notes the reason of a call's end that no answer gave.
    func noteCode(_ code: ErrorCode, ofCall index: Int) { report.calls[index].code = code }

    /// Notes the words that go with the end of a call.
    func noteDetail(_ detail: String, ofCall index: Int) {
        let text = Array(detail.utf8)
        report.calls[index].detail = report.keep(text.span)
    }

    /// Goes on with the planned calls where a record says that they were.
    func resume(after history: DeliveryHistory) {
        for (index, state) in history.calls.enumerated() {
            work.calls[index].resume(state, attempts: report.calls[index].attemptCount)
            if state.due == nil { work.openCalls -= 1 }
        }
    }

    /// Replaces the planned calls by those that a record has of the request.
    func replaceCalls(by history: DeliveryHistory, report: DeliveryReport) {
        self.report = report
        work.calls = history.calls.map { _ in Call() }
        work.openCalls = work.calls.count
        resume(after: history)
    }

    /// The facts of it that count when its partition is given up, as far as it knows them itself.
    var drainFacts: DrainFacts {
        var facts: DrainFacts = []
        if work.hasCallInFlight { facts.insert(.hasCallInFlight) }
        if work.wasSent { facts.insert(.wasSent) }
        if mustFinish { facts.insert(.mayHaveArrived) }
        if work.cancellation != nil { facts.insert(.isCancelled) }
        return facts
    }

    /// The history of its calls, of which none is in flight, as the text of a `DeliveryHistory`. `isInDoubt` if a worker before
    /// this one may have made any of them.
    func history(isInDoubt: Bool, now: MonotonicTime, at time: Timestamp) -> ByteWriter {
        let states = work.calls.map { call in
            DeliveryHistory.CallState(
                mayHaveArrived: call.mayHaveArrived || isInDoubt, due: call.phase == .done ? nil : call.moment(now: now, at: time)
            )
        }
        var history = ByteWriter()
        DeliveryHistory(plan: work.plan.digest, calls: states).append(report, to: &history)
        return history
    }

    /// The entry in the status of the oldest request of its partition. `isHead` if it is the first record of a delay lane, which waits
    /// there, and `timer` is when the first timer of its calls is due.
    func status(isHead: Bool, timer: Timestamp?, now: Timestamp) -> LoopStatus.Oldest {
        if isHead, let recheckTime = wait.recheckTime {
            return LoopStatus.Oldest(
                offset: place.offset, publishedAt: place.origin.timestamp, attempt: wait.delayed?.report.attemptCount ?? 0,
                waitsFor: recheckTime > now ? "timer" : "turn", nextDue: wait.due)
        }
        let waitsFor = work.hasCallInFlight ? "hub" : work.calls.contains { $0.phase == .waiting } ? "timer" : "turn"
        return LoopStatus.Oldest(
            offset: place.offset, publishedAt: place.origin.timestamp, attempt: work.calls.map(\.attempt).max() ?? 0,
            waitsFor: waitsFor, nextDue: timer)
    }
}
