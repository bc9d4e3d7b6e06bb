import Basics
import CurlHTTP
import Delivery
import HTTP1
import HubAuth
import HubREST
import Observability
import Outcomes
import PushModel

/// Telemetry polls: from their turn to the outcome result. They use the connections of the calls, and a share of them.
extension WorkerLoop {
    /// Makes the polls whose turn it is, as far as their share goes, and asks hubs how they are.
    func sendPolls() {
        for port in ports {
            port.attend(now: now, wallClock: wallClock, log: log)
            sendPolls(to: port)
        }
    }

    private func sendPolls(to port: HubPort) {
        while !port.polls.queue.isEmpty, mayPoll(port) {
            guard let next = port.polls.queue.popFirst() else { return }
            let flight = flights[next.call.flight]
            if isWaitingPoll(next.call, generation: next.generation), let poll = flight.poll { ask(flight, poll: poll, at: port) }
        }
    }

    /// True if a poll may be made now. While the hub is out, none is: the circuit's probes are calls of waiting requests.
    private func mayPoll(_ port: HubPort) -> Bool {
        !isCommitOverdue && port.limits.mayAsk(now: now, areCallsWaiting: !port.ready.isEmpty)
            && port.polls.pause.end(now: now) == nil
            && port.polls.allowance.mayPoll(limit: port.limits.concurrency.limit, now: now)
    }

    /// The moment when the loop must turn for the sake of a hub's polls that wait for a moment. Nil when they wait for nothing,
    /// or something else.
    func nextPollMoment(_ port: HubPort) -> MonotonicTime? {
        guard !port.polls.queue.isEmpty, port.limits.circuit.state == .closed else { return nil }
        var moment = port.limits.waitEnd(now: now)
        if let end = port.polls.pause.end(now: now) { moment = max(moment ?? end, end) }
        if let next = port.polls.allowance.nextPoll(now: now) { moment = max(moment ?? next, next) }
        return moment ?? (mayPoll(port) ? now : nil)
    }

    private func ask(_ flight: Flight, poll: OutcomePoll, at port: HubPort) {
        guard !port.polls.isRefused else { return finish(flight, poll: poll, outcome: .unavailable) }
        var buffer = spareBuffers.popLast() ?? ByteWriter(capacity: 2048)
        let serial: UInt64?
        do throws(HubAuthError) {
            serial = try port.client.writeTelemetryRequest(
                of: poll.call.notificationID, now: wallClock.milliseconds / 1000, into: &buffer)
        } catch {
            log.error(.internalFault, "a token could not be signed", [.reason: .string(error.description)])
            return take(.failed, for: flight, poll: poll)
        }
        // With such an id there is nothing to ask.
        guard let serial else { return finish(flight, poll: poll, outcome: .unavailable) }
        poll.phase = .asking
        poll.tokenSerial = serial
        port.limits.startedPoll()
        port.polls.allowance.noteStart()
        let deadline = now + port.requestNanoseconds
        port.connections.submit(
            id: ExchangeID.poll(of: flight), request: buffer.room, byteCount: buffer.count, deadline: deadline)
    }

    /// Takes the end of a poll, unless what asked it was given up.
    func pollEnded(_ id: ExchangeID, outcome: consuming Completion.Outcome, at port: HubPort) {
        port.polls.allowance.noteEnd()
        let flight = flights[id.flight]
        let poll = id.isPoll(of: flight) ? flight.poll : nil
        switch consume outcome {
        case .answer(let answer):
            if let poll { answered(flight, poll: poll, answer: answer, from: port) }
            port.connections.recycle(answer)
        case .failure(let failure):
            port.metrics.unpolled(failure.reason.label)
            if let poll { take(PollAnswer(CallResult(failure)), for: flight, poll: poll) }
        }
    }

    private func answered(_ flight: Flight, poll: OutcomePoll, answer: borrowing Answer, from port: HubPort) {
        let reply = HubAnswer(answer, now: wallClock.milliseconds)
        port.metrics.polled(status: reply.status)
        if reply.status == 401 {
            _ = port.client.rejected(token: poll.tokenSerial)
        } else {
            port.client.accepted(token: poll.tokenSerial)
        }
        var telemetry: NotificationTelemetry?
        if reply.status == 200 {
            do throws(TelemetryFault) {
                telemetry = try NotificationTelemetry(reading: answer.body)
            } catch {
                log.warning(
                    .hubConnection, "the telemetry of a notification cannot be read",
                    [.hub: .string(port.name), .reason: .string(error.description)])
            }
        }
        take(PollAnswer(reply.result, retryAfter: reply.retryAfter, telemetry: telemetry), for: flight, poll: poll)
    }

    /// Takes what came of a poll, and does what follows.
    func take(_ answer: PollAnswer, for flight: Flight, poll: OutcomePoll) {
        let port = ports[flight.port]
        if case .throttled(let wait) = answer { port.polls.pause.asked(for: wait ?? Self.usualPause, now: now) }
        let terms = configuration.outcomes
        switch poll.call.tracking.answered(answer, under: terms, at: wallClock, using: &generator) {
        case .poll(let wait): askLater(flight, poll: poll, after: wait)
        case .conclude(let verdict):
            conclude(flight, poll: poll, outcome: CallOutcome(verdict, telemetry: poll.call.tracking.telemetry))
        case .unavailable:
            noteRefusal(port)
            finish(flight, poll: poll, outcome: .unavailable)
        }
    }

    /// The rest for a hub that throttles and does not say for how long, milliseconds.
    private static let usualPause: Int64 = 1000

    private func noteRefusal(_ port: HubPort) {
        guard !port.polls.isRefused else { return }
        port.polls.isRefused = true
        log.warning(
            .outcomesUnavailable,
            "outcomes are not followed any more: the hub refuses telemetry (below the Standard tier, or without the right)",
            [.hub: .string(port.name), .code: LogValue(403)])
    }

    /// Ends a call's following, after the list of refused devices was read if there is a use for it.
    private func conclude(_ flight: Flight, poll: OutcomePoll, outcome: CallOutcome) {
        if beginDetails(flight, poll: poll, outcome: outcome) { return }
        finish(flight, poll: poll, outcome: outcome)
    }

    /// Writes the call's one outcome result.
    func finish(_ flight: Flight, poll: OutcomePoll, outcome: CallOutcome) {
        let place = OutcomeBatch.Origin(slot: flight.slot, offset: flight.offset)
        recorders.results.record(outcome, of: poll.call, for: place, now: wallClock, into: &outbox)
        ports[flight.port].metrics.outcomeKnown(outcome.reason)
        if outcome.state != .sent, log.isEnabled(.info) {
            log.info(
                .outcomeKnown, "an accepted call did not reach all its devices, or that is unknown",
                [
                    .requestID: .string(poll.call.requestText), .outcome: .string(outcome.outcome.rawValue),
                    .reason: .string(outcome.reason), .count: LogValue(poll.call.tracking.pollCount),
                ])
        }
        settle(flight)
    }
}
