import Basics
import CurlHTTP
import Delivery
import HTTP1
import HubAuth
import HubREST
import Observability
import PushModel

/// The question whether the hub works: what calls have shown, and the answer to a question that sends nothing.
///
/// The question goes through the hub's own connections, but is no call: it has no place among them and no part of the rate. Where the
/// circuit is not closed, it is the probe.
extension HubPort {
    /// Reads the answer to a send. A success without a mark of a hub is not this hub's once it has named a notification.
    func read(_ answer: borrowing Answer, now: Timestamp) -> HubAnswer {
        var reply = HubAnswer(answer, toSend: true, now: now.milliseconds)
        if reply.notificationID != nil {
            namesNotifications = true
        } else if reply.isUnmarked, namesNotifications {
            reply.hint = .notTheHub
        }
        return reply
    }

    /// Notes what an answer to a send says of the hub's standing.
    func noteStanding(_ reply: HubAnswer, isRefused: Bool) {
        if isRefused || reply.status == 404 {
            standing.noteFailure("it answers \(reply.status)", isProof: reply.status == 401 && !reply.isPage)
        } else if reply.hint == .notTheHub {
            standing.noteFailure("what answers \(reply.status) is no hub")
        } else if reply.status < 500 {
            standing.answered()
        }
    }

    /// A question that is in flight.
    struct Question {
        /// The number of the token that it was signed with.
        let tokenSerial: UInt64
        /// Its role for the circuit, or nil where that is closed.
        let probe: CircuitBreaker.Call?
        /// The moment at which it was asked.
        let start: MonotonicTime
    }

    /// The number of its exchange: no call has one below zero, and no poll this one.
    static let questionNumber = Int.min
    /// The longest time that an answer may take, nanoseconds.
    private static let patience: Int64 = 10_000_000_000
    /// The time without an answer to the first question after which that is logged, nanoseconds: it must be read within 2 s.
    private static let silenceLimit: Int64 = 1_500_000_000
    /// The most characters of an answer's detail that are shown.
    private static let longestDetail = 300

    private var isCircuitClosed: Bool { limits.circuit.state == .closed }

    /// True if there is nothing to send.
    private var isIdle: Bool { limits.inFlight == 0 && ready.isEmpty && waitingForRetry == 0 }

    /// The reason that it does not count as one that works, in a sentence. Nil when it does.
    var problem: String? { standing.problem(isClosed: isCircuitClosed, reason: limits.circuit.reason) }

    /// Says at the probes how it is.
    func reportHealth() {
        guard !standing.isWell(isClosed: isCircuitClosed) || health.problem != nil else { return }
        health.show(problem)
    }

    /// Says in each turn how it is, and asks it when that is due.
    func attend(now: MonotonicTime, wallClock: Timestamp, log: Log) {
        guard !isRetired else { return }
        reportHealth()
        noteSilence(now: now, log: log)
        let isClosed = isCircuitClosed
        guard standing.isDue(isClosed: isClosed, isIdle: isIdle, now: now), limits.pause.end(now: now) == nil,
            isClosed || limits.circuit.mayStart(now: now)
        else { return }
        ask(now: now, wallClock: wallClock)
    }

    /// Logs once that the first question has no answer yet: until the answer, or the end of patience, nothing else says so.
    private func noteSilence(now: MonotonicTime, log: Log) {
        guard finding == nil, !isSilent, let question, now - question.start >= Self.silenceLimit else { return }
        isSilent = true
        log.warning(.hubConnection, "the hub has not answered yet; waiting", [.hub: .string(name)])
    }

    private func ask(now: MonotonicTime, wallClock: Timestamp) {
        var buffer = ByteWriter(capacity: 1024)
        guard let serial = try? client.writeQuestion(now: wallClock.milliseconds / 1000, into: &buffer) else { return }
        question = Question(tokenSerial: serial, probe: isCircuitClosed ? nil : limits.circuit.started(now: now), start: now)
        standing.asked()
        connections.submit(
            id: Self.questionNumber, request: buffer.room, byteCount: buffer.count,
            deadline: now + min(requestNanoseconds, Self.patience))
    }

    /// Notes the outcome of the question to the hub.
    func questionEnded(
        _ outcome: consuming Completion.Outcome, now: MonotonicTime, wallClock: Timestamp, using generator: inout QuickRandom,
        log: Log
    ) {
        guard let question else { return }
        self.question = nil
        // Its connections were closed, which says nothing of the hub.
        guard !isRetired else { return }
        let before = limits.circuit.state
        let finding = finding(outcome, to: question, wallClock: wallClock, log: log)
        switch (question.probe, finding?.isProof) {
        case (let probe?, true?): limits.circuit.succeeded(probe, now: now)
        case (let probe?, false?): limits.circuit.noteFailure(probe, now: now, using: &generator)
        case (let probe?, nil): limits.circuit.abandoned(probe, now: now, using: &generator)
        case (nil, _): break
        }
        reportCircuit(before, to: log)
        guard let finding else { return standing.mustAskAgain() }
        standing.note(finding, now: now)
        report(finding, to: log)
    }

    /// The finding from an answer, or from the lack of one. Nil when the token was refused and the next one is tried.
    private func finding(
        _ outcome: consuming Completion.Outcome, to question: Question, wallClock: Timestamp, log: Log
    ) -> HubFinding? {
        switch consume outcome {
        case .answer(let answer):
            let reply = HubAnswer(answer, now: wallClock.milliseconds)
            let finding = Self.finding(in: reply, of: answer)
            connections.recycle(answer)
            guard finding.kind == .keyRefused else {
                if !reply.isPage { tokenAccepted(question.tokenSerial) }
                return finding
            }
            return tokenRefused(question.tokenSerial, log: log) ? nil : finding
        case .failure(let failure):
            let isTrust = failure.reason == .certificate || failure.reason == .tls
            return HubFinding(unanswered: failure.description, isTrust: isTrust)
        }
    }

    /// The finding from an answer.
    static func finding(in reply: HubAnswer, of answer: borrowing Answer) -> HubFinding {
        let detail = reply.detail.map { String(answer.string($0).prefix(longestDetail)) } ?? ""
        return HubFinding(status: reply.status, detail: detail, asksToWait: reply.retryAfter != nil, isHubs: !reply.isPage)
    }

    /// Logs what came of a question, when that is something else than before.
    private func report(_ new: HubFinding, to log: Log) {
        guard new != finding else { return }
        let isNews = finding != nil || isSilent
        finding = new
        let members: KeyValuePairs<LogKey, LogValue> = [.hub: .string(name), .reason: .string(new.words)]
        if new.isBad {
            let what: StaticString =
                standing.hold == nil ? "the hub does not work" : "the hub does not work; no request is sent to it until it does"
            log.error(new.kind == .keyRefused ? .hubUnauthorized : .hubConnection, what, members)
        } else if new.kind != .good {
            log.warning(.hubConnection, "it is not known whether the hub works; it counts as one that does", members)
        } else if isNews {
            log.info(.hubConnection, "the hub works", members)
        }
    }

    /// Logs that the circuit has opened, or is closed again.
    func reportCircuit(_ before: CircuitBreaker.State, to log: Log) {
        switch (before, limits.circuit.state) {
        case (.closed, .open):
            log.error(
                .circuitChanged, "circuit opened: hub unavailable; probing every 1 to 5 s",
                [.hub: .string(name), .state: "open", .reason: .string(limits.circuit.reason?.rawValue ?? "")])
        case (.halfOpen, .closed):
            log.info(
                .circuitChanged, "circuit closed: hub available again; calls go on", [.hub: .string(name), .state: "closed"])
        default: break
        }
    }
}

/// The port's report about itself.
extension HubPort {
    /// The limit for which calls wait, or nil where none do.
    private func callLimit(
        bufferedCount: Int, isCommitOverdue: Bool, isDelayedByOrder: Bool, now: MonotonicTime
    ) -> CallLimit? {
        let isAnyReady = !ready.isEmpty || bufferedCount > 0
        let limit = isAnyReady ? limits.callLimit(isCommitOverdue: isCommitOverdue, now: now) : nil
        return limit ?? (isDelayedByOrder ? CallLimit(.order) : nil)
    }

    /// The state of the hub, and what holds its calls up, which is published too.
    func status(
        bufferedCount: Int, isCommitOverdue: Bool, isDelayedByOrder: Bool, now: MonotonicTime, wallClock: Timestamp
    ) -> LoopStatus.Hub {
        let limit = callLimit(
            bufferedCount: bufferedCount, isCommitOverdue: isCommitOverdue, isDelayedByOrder: isDelayedByOrder, now: now)
        if !isRetired { metrics.noteLimit(limit?.cause) }
        func moment(_ time: MonotonicTime) -> Timestamp { wallClock.adding(milliseconds: (time - now) / 1_000_000) }
        return LoopStatus.Hub(
            name: name, region: settings.region, isRetired: isRetired, problem: isRetired ? nil : problem,
            circuit: limits.circuit.state.name, circuitReason: limits.circuit.reason?.rawValue,
            circuitChange: limits.circuit.nextChange.map(moment), limit: limits.concurrency.limit, inFlight: limits.inFlight,
            callCount: metrics.callCount, waitingForTurn: ready.count + bufferedCount,
            waitingForTimer: waitingForRetry,
            ratePerSecond: limits.rate.map { Double($0.rate) / 1000 },
            throttledMilliseconds: limits.pause.totalNanoseconds / 1_000_000,
            throttledUntil: limits.pause.end(now: now).map(moment), limitedBy: limit)
    }
}

extension CircuitBreaker.State {
    /// The word in reports.
    var name: String {
        switch self {
        case .closed: "closed"
        case .halfOpen: "half_open"
        case .open: "open"
        }
    }
}
