import Basics
import Delivery
import FanOut
import HTTP1
import HubREST
import PushModel

/// The life of a request's calls, as the request and its report have it. `HubPort` changes their phases, and counts them.
extension Flight {
    /// The place of the record that holds it now.
    var place: OutcomeBatch.Origin { .init(slot: slot, offset: offset) }

    /// True if a device may have heard of the request: then its history is ours to hand over, or its result ours to write.
    var mustFinish: Bool {
        // Of one from a delay lane that was not sent since, its record says what was.
        wasSent
            && (calls.contains(where: \.mayHaveArrived)
                || report.calls.contains { $0.outcome == .success || $0.outcome == .ambiguous })
    }

    /// Notes that an attempt at a call is handed to a connection.
    ///
    /// - Parameters:
    ///   - index: The call.
    ///   - role: Its role for the hub's circuit breaker.
    ///   - token: The number of the token that it is signed with.
    ///   - now: The present moment.
    ///   - time: The same by the wall clock.
    func noteStart(ofCall index: Int, role: CircuitBreaker.Call, token: UInt64, now: MonotonicTime, at time: Timestamp) {
        calls[index].begin(role: role, token: token, now: now, at: time)
        wasSent = true
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
    func endAttempt(atCall index: Int, verdict: Verdict, now: MonotonicTime) -> DeliveryReport.Attempt {
        if verdict.outcome == .ambiguous { calls[index].mayHaveArrived = true }
        report.calls[index].code = verdict.code
        let call = calls[index]
        var attempt = DeliveryReport.Attempt(number: call.attempt, call: index, startedAt: call.startedAtWall)
        attempt.duration = (now - call.startedAt) / 1_000_000
        attempt.code = verdict.code
        return attempt
    }

    /// Counts a wait that the hub asked for, in milliseconds.
    func noteThrottling(_ milliseconds: Int64) { report.throttleWait += milliseconds }

    /// Notes the outcome of a call.
    func noteOutcome(_ outcome: Outcome, ofCall index: Int) {
        report.calls[index].outcome = outcome
        openCalls -= 1
    }

    /// Notes the reason of a call's end that no answer gave.
    func noteCode(_ code: ErrorCode, ofCall index: Int) { report.calls[index].code = code }

    /// Notes the words that go with the end of a call.
    func noteDetail(_ detail: String, ofCall index: Int) {
        let text = Array(detail.utf8)
        report.calls[index].detail = report.keep(text.span)
    }

    /// Cancels the request: none of its calls is begun any more.
    func cancel(by cancellation: Cancellations.Cancellation) { self.cancellation = cancellation }

    /// Goes on with the planned calls where a record says that they were.
    func resume(after history: DeliveryHistory) {
        for (index, state) in history.calls.enumerated() {
            calls[index].resume(state, attempts: report.calls[index].attemptCount)
            if state.due == nil { openCalls -= 1 }
        }
    }

    /// Replaces the planned calls by those that a record has of the request.
    func replaceCalls(by history: DeliveryHistory, report: DeliveryReport) {
        self.report = report
        calls = history.calls.map { _ in Call() }
        openCalls = calls.count
        resume(after: history)
    }

    /// Goes to the hub of a number.
    func route(toHub number: Int) { port = number }

    /// Joins its tenant's queue at its hub. A request whose calls are planned is divided among hubs no more.
    ///
    /// - Returns: Whether its calls can be made there. False if it has no hub, or several.
    func joinQueue(of tenant: TenantID) -> Bool {
        self.tenant = tenant
        defer { spread = nil }
        return routeFault == nil && spread == nil
    }
}

extension Flight.Call {
    /// Begins an attempt.
    fileprivate mutating func begin(role: CircuitBreaker.Call, token: UInt64, now: MonotonicTime, at time: Timestamp) {
        circuitCall = role
        attempt += 1
        tokenSerial = token
        startedAt = now
        startedAtWall = time
    }

    /// Keeps the next attempt from being made before a moment.
    mutating func postpone(until time: Timestamp) { notBefore = time }

    /// Takes down the end of its wait.
    mutating func wait(until due: MonotonicTime, notBefore: Timestamp?) {
        self.due = due
        self.notBefore = notBefore
    }

    /// Notes that it fails while others succeed.
    mutating func noteFailsAlone() { failsAlone = true }

    /// Takes its role for the circuit breaker, which hears of the end of an attempt once.
    mutating func takeCircuitCall() -> CircuitBreaker.Call? {
        defer { circuitCall = nil }
        return circuitCall
    }
}

extension FlightPool {
    /// The flight of a call that waits, or nil when the call is in another phase now, or was given up.
    func flight(of entry: WaitingCall, in phase: Flight.Phase) -> Flight? {
        let flight = flights[entry.call.flight]
        let isPresent = flight.isActive && flight.generation == entry.generation
        return isPresent && flight.calls[entry.call.call].phase == phase ? flight : nil
    }

    /// The flight of a poll that waits for its turn, or nil when it does not any more.
    func flight(ofPoll entry: WaitingCall) -> Flight? {
        let flight = flights[entry.call.flight]
        return flight.isActive && flight.generation == entry.generation && flight.poll?.phase == .ready ? flight : nil
    }
}
