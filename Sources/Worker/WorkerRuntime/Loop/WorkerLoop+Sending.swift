import Basics
import CurlHTTP
import Delivery
import EventLoop
import FanOut
import HTTP1
import HubAuth
import HubREST
import Observability
import PushModel

/// From a ready call to its outcome.
extension WorkerLoop {
    /// Hands ready calls to connections, as far as the limit and the hub allow.
    func sendCalls() { ports.forEachMarked(sendCalls(to:)) }

    private func sendCalls(to port: HubPort) {
        var passedOver = 0
        while !port.ready.isEmpty, !isCommitOverdue, port.limits.mayStart(now: now) {
            guard let next = port.ready.removeNext(in: port.openLanes(now: now)) else { return }
            guard let flight = flights.flight(of: next, in: .ready) else { continue }
            if port.isUnfitAsProbe(flight, call: next.call), passedOver < port.mostPassedOver {
                port.queue(flight, call: next.call)
                passedOver += 1
            } else {
                send(flight, call: next.call, to: port)
            }
        }
    }

    /// Begins the calls that have their tokens now.
    func sendLimited() {
        guard limited.isUsed, !isCommitOverdue, limited.waiting.beginRound(now: now) else { return }
        limited.isReleasing = true
        defer { limited.isReleasing = false }
        while !isCommitOverdue,
            let next = limited.waiting.takeNext(
                now: now, isWanted: { flights.flight(of: $0, in: .ready) != nil }, mayStart: mayStart)
        {
            guard let flight = flights.flight(of: next, in: .ready) else { continue }
            send(flight, call: next.call, to: ports[flight.route.port])
        }
    }

    private func mayStart(_ line: LimitedLine) -> Bool {
        let port = ports.peek(at: line.hub)
        return !port.isRetired && port.limits.mayStart(now: now) && port.openLanes(now: now) & 1 << UInt64(line.lane) != 0
    }

    private func send(_ flight: Flight, call index: Int, to port: HubPort) {
        if let expiry = flight.request.expiresAt, expiry <= wallClock { return expire(flight, call: index) }
        if controlTopic.orders.slowsRequests, keepBack(flight, call: index) || !mayBegin(flight, call: index, at: port) { return }
        var buffer = flights.takeBuffer()
        let serial: UInt64
        do throws(HubAuthError) {
            serial = try flight.work.lendCall(index) { (plan, payload) throws(HubAuthError) in
                try lend(&flight.request) { (request) throws(HubAuthError) in
                    try port.client.write(
                        plan.calls[index], of: plan, for: request, with: payload, now: wallClock.milliseconds / 1000,
                        into: &buffer)
                }
            }
        } catch {
            log.error(.internalFault, "a token could not be signed", [.reason: .string(error.description)])
            end(flight, call: index, as: .transient, code: .internal, detail: "a token could not be signed")
            return
        }
        port.begin(flight, call: index, token: serial, now: now, at: wallClock)
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
            flight.forEachCall(where: \.isWaiting) { expire(flight, call: $0) }
        }
        // They must not keep room in the queue: it would keep others from being read, which may have expired as well.
        for port in ports where isCommitOverdue || port.limits.waitEnd(now: now) != nil {
            port.ready.removeAll { flights.flight(of: $0, in: .ready) != nil }
        }
        limited.waiting.removeAll { flights.flight(of: $0, in: .ready) != nil }
    }

    /// Takes the answers and failures that connections have for the loop.
    func handleCompletions() { ports.forEachMarked(handleCompletions(of:)) }

    private func handleCompletions(of port: HubPort) {
        while let completion = port.connections.nextCompletion() {
            let (number, request, outcome) = completion.parts()
            flights.keepBuffer(request, most: port.settings.maxInFlight)
            if number == HubPort.questionNumber {
                port.questionEnded(outcome, now: now, wallClock: wallClock, using: &ports.generator, log: log)
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
            port.limits.noteEnd(startedAt: id.belongs(to: flight) ? flight.work.calls[id.call].startedAt : nil)
            switch consume outcome {
            case .answer(let answer):
                Failpoint.pass(.answered)
                if id.belongs(to: flight) { answered(flight, call: id.call, answer: answer, from: port) }
                port.connections.recycle(answer)
            case .failure(let failure):
                if id.belongs(to: flight) { noteFailure(flight, call: id.call, failure: failure, at: port) }
            }
            if port.isRetired, flight.isActive, flight.route.port == port.number { reroute(flight) }
        }
    }

    /// Gives back what a burst has left, once it is over: what is kept for the next requests, and what was freed between what is in use.
    func giveBackMemory() {
        guard flights.isRestDue(now: now) else { return }
        flights.dropSpare()
        FreedMemory.giveBack()
    }

    private func answered(_ flight: Flight, call index: Int, answer: borrowing Answer, from port: HubPort) {
        let reply = port.read(answer, now: wallClock)
        let verdict = port.verdict(on: reply, token: flight.work.calls[index].tokenSerial, log: log)
        flight.noteAnswer(reply, toCall: index, text: answer)
        var attempt = flight.endAttempt(atCall: index, verdict: verdict, now: now)
        attempt.httpStatus = reply.status
        attempt.result = verdict.outcome == .success ? .ok : .error
        attempt.bytesSent = true
        port.metrics.sent(
            flight.report.calls[index].platform, status: reply.status, nanoseconds: now - flight.work.calls[index].startedAt)
        port.noteAnswer(reply, to: flight, call: index, verdict: verdict, now: now, using: &ports.generator, log: log)
        decide(flight, verdict: verdict, after: attempt, floor: reply.retryAfter ?? 0, at: port)
    }

    private func noteFailure(_ flight: Flight, call index: Int, failure: TransportFailure, at port: HubPort) {
        let verdict = CallVerdict(of: CallResult(failure))
        flight.noteFailure(ofCall: index, detail: failure.detail)
        var attempt = flight.endAttempt(atCall: index, verdict: verdict, now: now)
        attempt.result = failure.reason == .timeout || failure.reason == .connectTimeout ? .timeout : .error
        attempt.bytesSent = failure.requestBytesSent
        port.metrics.countFailure(
            flight.report.calls[index].platform, reason: failure.reason.label,
            nanoseconds: now - flight.work.calls[index].startedAt)
        port.noteFailure(failure, of: flight, call: index, attempt: attempt.number, now: now, using: &ports.generator, log: log)
        decide(flight, verdict: verdict, after: attempt, floor: 0, at: port)
    }

    /// Ends the call of an attempt, or schedules the next one.
    private func decide(
        _ flight: Flight, verdict: CallVerdict, after ended: DeliveryReport.Attempt, floor: Int64, at port: HubPort
    ) {
        var attempt = ended
        let decision = nextAttempt(of: flight, call: attempt.call, after: verdict, floor: floor)
        if case .retry(let wait) = decision, flight.work.cancellation == nil { attempt.backoff = wait }
        if attempt.backoff == nil || !Sabotage.isOn(.retryUnrecorded) { flight.report.add(attempt) }
        switch decision {
        case .retry(let wait):
            if let cancellation = flight.work.cancellation { return end(flight, call: attempt.call, by: cancellation) }
            retry(flight, after: attempt, wait: wait, floor: floor, at: port)
        case .expires where verdict.outcome != .ambiguous:
            flight.noteCode(.expiredInQueue, ofCall: attempt.call)
            end(flight, call: attempt.call, as: .expired)
        case .expires, .exhausted: end(flight, call: attempt.call, as: verdict.outcome)
        }
    }

    private func nextAttempt(
        of flight: Flight, call index: Int, after verdict: CallVerdict, floor: Int64
    ) -> RetrySchedule.Decision {
        // The answer to nearly all calls.
        if case .never = verdict.retry { return .exhausted }
        return configuration.retry.next(
            after: verdict.retry, attempt: flight.work.calls[index].attempt,
            limit: flight.request.options.maxAttempts, stopsIfAmbiguous: flight.request.options.onAmbiguous == .stop,
            floor: floor, now: wallClock, expiry: flight.request.expiresAt, using: &ports.generator)
    }

    /// Lets a call wait for its next attempt.
    private func retry(
        _ flight: Flight, after attempt: DeliveryReport.Attempt, wait milliseconds: Int64, floor: Int64, at port: HubPort
    ) {
        flights.accountForCalls(of: flight)
        if floor > 0 { flight.noteThrottling(min(floor, milliseconds)) }
        port.metrics.retryScheduled(attempt.code)
        log.debug(
            .retryScheduled, "a hub call failed and will be made again",
            [
                .requestID: .string(flight.request.document.string(flight.request.id)), .attempt: LogValue(attempt.number),
                .code: .string(attempt.code?.rawValue ?? ""), .delayMilliseconds: LogValue(milliseconds),
            ])
        wait(flight, call: attempt.call, until: now + milliseconds * 1_000_000)
    }
}
