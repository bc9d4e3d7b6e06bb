import Basics
import CurlHTTP
import Delivery
import FanOut
import HTTP1
import HubAuth
import HubREST
import Observability
import Payloads
import PushModel

/// From a ready call to its outcome.
extension WorkerLoop {
    /// Waits beyond this are taken in steps, one day in milliseconds.
    static let longestWait: Int64 = 86_400_000

    /// Hands ready calls to connections, as far as the limit and the hub allow.
    func sendCalls() { for port in ports { sendCalls(to: port) } }

    private func sendCalls(to port: HubPort) {
        var passedOver = 0
        while !port.ready.isEmpty, !isCommitOverdue, port.limits.mayStart(now: now) {
            guard let next = port.ready.removeNext(in: port.openLanes(now: now)) else { return }
            guard isReady(next.call, generation: next.generation) else { continue }
            let flight = flights[next.call.flight]
            if port.isUnfitAsProbe(&flight.calls[next.call.call]), passedOver < port.mostPassedOver {
                queue(flight, call: next.call.call)
                passedOver += 1
            } else {
                send(flight, call: next.call.call, to: port)
            }
        }
    }

    /// True if a call of the queue is still to be made.
    func isReady(_ call: CallID, generation: UInt32) -> Bool {
        let flight = flights[call.flight]
        return flight.isActive && flight.generation == generation && flight.calls[call.call].phase == .ready
    }

    private func send(_ flight: Flight, call index: Int, to port: HubPort) {
        if let expiry = flight.request.expiresAt, expiry <= wallClock { return expire(flight, call: index) }
        var buffer = spareBuffers.popLast() ?? ByteWriter(capacity: 2048)
        let serial: UInt64
        do throws(HubAuthError) {
            let payload = flight.calls[index].payload
            serial = try lend(&flight.plan, and: &flight.request, and: &flight.payloads[payload]) {
                (plan, request, payload) throws(HubAuthError) in
                try port.client.write(
                    plan.calls[index], of: plan, for: request, with: payload, now: wallClock.milliseconds / 1000, into: &buffer)
            }
        } catch {
            log.error(.internalFault, "a token could not be signed", [.reason: .string(error.description)])
            end(flight, call: index, as: .transient, code: .internal, detail: "a token could not be signed")
            return
        }
        flight.calls[index].phase = .inFlight
        flight.calls[index].circuitCall = port.limits.started(now: now)
        flight.calls[index].attempt += 1
        flight.wasSent = true
        flight.calls[index].tokenSerial = serial
        flight.calls[index].startedAt = now
        flight.calls[index].startedAtWall = wallClock
        if flight.report.firstAttemptAt == nil { flight.report.firstAttemptAt = wallClock }
        port.places.noteStart(flight.lane.rawValue)
        let id = ExchangeID(flight, call: index)
        let deadline = now + port.requestNanoseconds
        port.connections.submit(id: id.number, request: buffer.room, byteCount: buffer.count, deadline: deadline)
        Failpoint.pass(.requestWritten)
    }

    /// Ends the calls that wait for their turn or their retry although their request is of no use any more. A hub that is out, or that
    /// asked to wait, can hold them up for long.
    func expireWaitingCalls() {
        for flight in flights.flights where flight.isActive {
            guard let expiry = flight.request.expiresAt, expiry <= wallClock else { continue }
            for index in flight.calls.indices.reversed() where flight.isActive && flight.calls[index].phase.isWaiting {
                expire(flight, call: index)
            }
        }
        // They must not keep room in the queue: it would keep others from being read, which may have expired as well.
        for port in ports where isCommitOverdue || port.limits.waitEnd(now: now) != nil { port.ready.removeAll(unless: isReady) }
    }

    /// Takes the answers and failures that connections have for the loop.
    func handleCompletions() { for port in ports { handleCompletions(of: port) } }

    private func handleCompletions(of port: HubPort) {
        while let completion = port.connections.nextCompletion() {
            let (number, request, outcome) = completion.parts()
            if spareBuffers.count < Self.maximumSpareBuffers { spareBuffers.append(ByteWriter(reusing: request)) }
            if number == HubPort.questionNumber {
                port.questionEnded(outcome, now: now, wallClock: wallClock, using: &generator, log: log)
                continue
            }
            guard number >= 0 else {
                port.limits.noteEnd()
                pollEnded(ExchangeID(number: ~number), outcome: outcome, at: port)
                continue
            }
            let id = ExchangeID(number: number)
            port.places.noteEnd(id.lane)
            let flight = flights[id.flight]
            port.limits.noteEnd(startedAt: id.belongs(to: flight) ? flight.calls[id.call].startedAt : nil)
            switch consume outcome {
            case .answer(let answer):
                Failpoint.pass(.answered)
                if id.belongs(to: flight) { answered(flight, call: id.call, answer: answer, from: port) }
                port.connections.recycle(answer)
            case .failure(let failure):
                if id.belongs(to: flight) { noteFailure(flight, call: id.call, failure: failure, at: port) }
            }
            if port.isRetired, flight.isActive, flight.port == port.number { reroute(flight) }
        }
    }

    /// Buffers that are kept for the next calls: as many as a hub's calls that may be in flight at once.
    private static let maximumSpareBuffers = 4096

    private func answered(_ flight: Flight, call index: Int, answer: borrowing Answer, from port: HubPort) {
        let reply = port.read(answer, now: wallClock)
        let verdict = Verdict(of: reply.result)
        flight.report.calls[index].httpStatus = reply.status
        flight.report.calls[index].retryAfter = reply.retryAfter
        // What an earlier attempt said is no reason for how this one ended.
        flight.report.calls[index].detail = nil
        if let id = reply.notificationID { flight.report.calls[index].notificationID = flight.report.keep(answer.text(id)) }
        if let id = reply.trackingID { flight.report.calls[index].trackingID = flight.report.keep(answer.text(id)) }
        if let detail = reply.detail { flight.report.calls[index].detail = flight.report.keep(answer.text(detail)) }
        if reply.hint == .notTheHub { flight.report.calls[index].detail = flight.report.keep(HubPort.foreignAnswer.span) }
        var attempt = attemptEnded(flight, call: index, verdict: verdict)
        attempt.httpStatus = reply.status
        attempt.result = verdict.outcome == .success ? .ok : .error
        attempt.bytesSent = true
        port.metrics.sent(
            flight.report.calls[index].platform, status: reply.status, nanoseconds: now - flight.calls[index].startedAt)
        noteHubAnswer(flight, call: index, reply: reply, verdict: verdict, from: port)
        decide(flight, call: index, verdict: verdict, after: attempt, floor: reply.retryAfter ?? 0, at: port)
    }

    private func noteFailure(_ flight: Flight, call index: Int, failure: TransportFailure, at port: HubPort) {
        let verdict = Verdict(of: CallResult(failure))
        flight.report.calls[index].httpStatus = 0
        flight.report.calls[index].retryAfter = nil
        let detail = Array(failure.detail.utf8)
        flight.report.calls[index].detail = flight.report.keep(detail.span)
        var attempt = attemptEnded(flight, call: index, verdict: verdict)
        attempt.result = failure.reason == .timeout || failure.reason == .connectTimeout ? .timeout : .error
        attempt.bytesSent = failure.requestBytesSent
        port.metrics.countFailure(
            flight.report.calls[index].platform, reason: failure.reason.label,
            nanoseconds: now - flight.calls[index].startedAt)
        noteEnd(of: flight, call: index, isHubFailure: true, isLost: true, at: port)
        port.standing.noteFailure(failure.reason.label)
        log.warning(
            .hubConnection, "a hub call ended without an answer",
            [.hub: .string(port.name), .reason: .string(failure.reason.label), .attempt: LogValue(attempt.number)])
        decide(flight, call: index, verdict: verdict, after: attempt, floor: 0, at: port)
    }

    private func attemptEnded(_ flight: Flight, call index: Int, verdict: Verdict) -> DeliveryReport.Attempt {
        let call = flight.calls[index]
        flight.report.calls[index].code = verdict.code
        var attempt = DeliveryReport.Attempt(number: call.attempt, call: index, startedAt: call.startedAtWall)
        attempt.duration = (now - call.startedAt) / 1_000_000
        attempt.code = verdict.code
        return attempt
    }

    /// Notes what an answer says about the hub as a whole: its token, its pace, its health.
    private func noteHubAnswer(
        _ flight: Flight, call index: Int, reply: HubAnswer, verdict: Verdict, from port: HubPort
    ) {
        noteEnd(
            of: flight, call: index, isHubFailure: verdict.isHubFailure(status: reply.status) || reply.hint == .notTheHub,
            isLost: reply.status >= 500 || verdict.outcome == .throttled, at: port)
        if reply.status != 401, reply.hint != .notTheHub { port.client.accepted(token: flight.calls[index].tokenSerial) }
        if port.limits.answered(isRefusal: verdict.pausesHub, now: now), let wait = reply.retryAfter {
            port.limits.pause.asked(for: wait, now: now)
            log.warning(
                .hubThrottled, "the hub asked to wait; all calls to it do",
                [.hub: .string(port.name), .delayMilliseconds: LogValue(wait), .code: LogValue(reply.status)])
        }
        if verdict.outcome == .auth {
            log.error(
                .hubUnauthorized, "the hub does not accept the key or its rights",
                [.hub: .string(port.name), .code: LogValue(reply.status)])
        }
        port.noteStanding(reply, isRefused: verdict.outcome == .auth)
    }

    /// Ends the call, or schedules its next attempt.
    private func decide(
        _ flight: Flight, call index: Int, verdict: Verdict, after ended: DeliveryReport.Attempt, floor: Int64, at port: HubPort
    ) {
        var attempt = ended
        if verdict.outcome == .ambiguous { flight.calls[index].mayHaveArrived = true }
        var next = nextWait(flight, call: index, after: verdict, floor: floor, at: port)
        let isCancelled = next.milliseconds != nil && flight.cancellation != nil
        if isCancelled { next.milliseconds = nil }
        attempt.backoff = next.milliseconds
        if next.milliseconds == nil || !Sabotage.isOn(.retryUnrecorded) { flight.report.add(attempt) }
        if isCancelled, let cancellation = flight.cancellation {
            end(flight, call: index, by: cancellation)
            return
        }
        guard let milliseconds = next.milliseconds else {
            let outcome = next.expires && verdict.outcome != .ambiguous ? Outcome.expired : verdict.outcome
            if outcome == .expired { flight.report.calls[index].code = .expiredInQueue }
            end(flight, call: index, as: outcome)
            return
        }
        if floor > 0 { flight.report.throttleWait += min(floor, milliseconds) }
        port.metrics.retryScheduled(verdict.code)
        log.debug(
            .retryScheduled, "a hub call failed and will be made again",
            [
                .requestID: .string(flight.request.document.string(flight.request.id)), .attempt: LogValue(attempt.number),
                .code: .string(verdict.code?.rawValue ?? ""), .delayMilliseconds: LogValue(milliseconds),
            ])
        if mode != .running && !mustFinish(flight) {
            flight.calls[index].phase = .ready
            flight.calls[index].notBefore = wallClock.adding(milliseconds: milliseconds)
            if !flight.hasCallInFlight { leave(flight) }
            return
        }
        wait(flight, call: index, until: now + milliseconds * 1_000_000)
    }

    /// The time that the next attempt has to wait, or nil when there is none.
    private func nextWait(
        _ flight: Flight, call index: Int, after verdict: Verdict, floor: Int64, at port: HubPort
    ) -> (milliseconds: Int64?, expires: Bool) {
        switch verdict.retry {
        case .never: return (nil, false)
        case .ifAmbiguityAllowed where flight.request.options.onAmbiguous == .stop: return (nil, false)
        case .reauthenticate:
            let isAllowed = port.client.rejected(token: flight.calls[index].tokenSerial).allowsRetry
            let limit = flight.request.options.maxAttempts ?? configuration.retry.maxAttempts
            return (isAllowed && flight.calls[index].attempt < limit ? 0 : nil, false)
        case .backoff, .ifAmbiguityAllowed:
            let decision = configuration.retry.next(
                afterAttempt: flight.calls[index].attempt, limit: flight.request.options.maxAttempts, floor: floor,
                now: wallClock, expiry: flight.request.expiresAt, using: &generator)
            switch decision {
            case .retry(let milliseconds): return (milliseconds, false)
            case .exhausted: return (nil, false)
            case .expires: return (nil, true)
            }
        }
    }

    /// Lets a call wait for a moment of the wall clock.
    func wait(_ flight: Flight, call index: Int, for start: Timestamp) {
        let delay = min(start.milliseconds(since: wallClock), Self.longestWait)
        wait(flight, call: index, until: now + delay * 1_000_000, notBefore: start)
    }

    /// Lets a call wait for a moment of the monotonic clock, or for long in a delay lane when nothing else must be done for its
    /// request.
    private func wait(_ flight: Flight, call index: Int, until due: MonotonicTime, notBefore: Timestamp? = nil) {
        flight.calls[index].phase = .waiting
        flight.calls[index].due = due
        flight.calls[index].notBefore = notBefore
        ports[flight.port].waitingForRetry += 1
        if delayWaiting(flight) { return }
        timers.add(WaitingCall(call: CallID(flight: flight.index, call: index), generation: flight.generation), at: due)
    }

    /// Puts calls whose wait is over into the queue. A wait taken in steps goes on.
    func handleTimers() {
        while let entry = timers.removeDue(now) {
            let flight = flights[entry.call.flight]
            guard flight.isActive, flight.generation == entry.generation, flight.calls[entry.call.call].phase == .waiting
            else { continue }
            ports[flight.port].waitingForRetry -= 1
            if let start = flight.calls[entry.call.call].notBefore, start > wallClock {
                wait(flight, call: entry.call.call, for: start)
                continue
            }
            flight.calls[entry.call.call].phase = .ready
            queue(flight, call: entry.call.call)
        }
    }

    /// Puts a call that may be made into the queue of its lane.
    func queue(_ flight: Flight, call index: Int) {
        if ports[flight.port].isRetired { return reroute(flight) }
        ports[flight.port].ready.append(
            CallID(flight: flight.index, call: index), generation: flight.generation, to: flight.lane,
            tenant: flight.tenant, isDelayed: flight.delayed != nil)
    }

    private func expire(_ flight: Flight, call index: Int) {
        let detail: StaticString = "the request expired before the hub had taken it"
        end(flight, call: index, as: .expired, code: .expiredInQueue, detail: detail)
    }

    /// Ends a call with an outcome that no answer gave.
    func end(_ flight: Flight, call index: Int, as outcome: Outcome, code: ErrorCode, detail: StaticString) {
        flight.report.calls[index].code = code
        let text = Array("\(detail)".utf8)
        flight.report.calls[index].detail = flight.report.keep(text.span)
        end(flight, call: index, as: outcome)
    }

    /// Ends a call. With the last one the request is finished.
    func end(_ flight: Flight, call index: Int, as outcome: Outcome) {
        // Once an attempt may have reached devices, only a success makes it certain again.
        let isDoubtful = outcome != .success && (flight.calls[index].mayHaveArrived || mayHaveBeenBegun(flight))
        flight.report.calls[index].outcome = isDoubtful ? .ambiguous : outcome
        if flight.calls[index].phase == .waiting { ports[flight.port].waitingForRetry -= 1 }
        flight.calls[index].phase = .done
        flight.openCalls -= 1
        if flight.openCalls == 0 {
            finish(flight)
        } else if mode != .running && !flight.hasCallInFlight && !mustFinish(flight) {
            leave(flight)
        } else {
            _ = delayWaiting(flight)
        }
    }
}
