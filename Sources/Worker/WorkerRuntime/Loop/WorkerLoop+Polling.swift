import Basics
import CurlHTTP
import Delivery
import HTTP1
import HubAuth
import HubREST
import Observability
import Outcomes
import PushModel

/// Telemetry polls: from the lane to the next one, or to the outcome. They use the connections of the calls, and a share of them.
extension WorkerLoop {
    /// Starts a poll whose time in its lane is over. Else it waits in the next one.
    func startPoll(_ flight: Flight, poll: OutcomePoll) {
        // A hub that is not used any more cannot be asked.
        guard let port = ports.port(named: poll.call.hubText) else {
            guard ports.routes.isSettling(now) else { return finish(flight, poll: poll, outcome: .unavailable) }
            return askLater(flight, poll: poll, after: DelayPolicy.shortestStay)
        }
        flight.route.lead(to: .init(port: port.number))
        flights.moved(flight)
        if port.polls.isRefused {
            finish(flight, poll: poll, outcome: .unavailable)
        } else if poll.due > wallClock {
            askLater(flight, poll: poll, after: poll.due.milliseconds(since: wallClock))
        } else if port.polls.hasRoom {
            poll.phase = .ready
            port.polls.queue.append(WaitingCall(flight, call: 0))
        } else {
            postpone(flight, poll: poll)
        }
    }

    /// Defers a poll for which there is no room: for as long again as the call is followed, so that this is seldom done twice.
    private func postpone(_ flight: Flight, poll: OutcomePoll) {
        let elapsed = wallClock.milliseconds(since: poll.call.tracking.acceptedAt)
        if elapsed > configuration.outcomes.deadline {
            take(.failed, for: flight, poll: poll)
        } else {
            ports[flight.route.port].metrics.unpolled("put_off")
            askLater(flight, poll: poll, after: max(elapsed, configuration.outcomes.interval))
        }
    }

    /// Once a second: ends what has waited for its turn until long after its deadline, because the hub is out or asked to wait.
    func expireWaitingPolls() {
        guard ports.contains(where: { !$0.polls.queue.isEmpty }) else { return }
        for port in ports { port.polls.queue.removeAll { flights.flight(ofPoll: $0) == nil } }
        let limit = configuration.outcomes.deadline + configuration.outcomes.interval
        for flight in flights.flights where flight.isActive {
            guard let poll = flight.wait.poll, poll.phase == .ready,
                wallClock.milliseconds(since: poll.call.tracking.acceptedAt) > limit
            else { continue }
            take(.failed, for: flight, poll: poll)
        }
    }

    /// Makes the polls whose turn it is, as far as their share goes, and asks hubs how they are.
    func sendPolls() {
        ports.forEachMarked { port in
            port.attend(now: now, wallClock: wallClock, log: log)
            sendPolls(to: port)
        }
    }

    private func sendPolls(to port: HubPort) {
        while !port.polls.queue.isEmpty, !controlTopic.orders.holds(hub: port.name, now: orderTime),
            port.mayPoll(isCommitOverdue: isCommitOverdue, now: now)
        {
            guard let next = port.polls.queue.popFirst() else { return }
            if let flight = flights.flight(ofPoll: next), let poll = flight.wait.poll { ask(flight, poll: poll, at: port) }
        }
    }

    private func ask(_ flight: Flight, poll: OutcomePoll, at port: HubPort) {
        guard !port.polls.isRefused else { return finish(flight, poll: poll, outcome: .unavailable) }
        var buffer = flights.takeBuffer()
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
        port.submitPoll(buffer, of: flight, now: now)
    }

    /// Takes the end of a poll, unless what asked it was given up.
    func pollEnded(_ id: ExchangeID, outcome: consuming Completion.Outcome, at port: HubPort) {
        port.polls.allowance.noteEnd()
        let flight = flights[id.flight]
        let poll = id.isPoll(of: flight) ? flight.wait.poll : nil
        switch consume outcome {
        case .answer(let answer):
            if let poll {
                let words = port.read(answer, toPollSignedWith: poll.tokenSerial, at: wallClock, log: log)
                take(words, for: flight, poll: poll)
            }
            port.connections.recycle(answer)
        case .failure(let failure):
            port.metrics.unpolled(failure.reason.label)
            if let poll { take(PollAnswer(CallResult(failure)), for: flight, poll: poll) }
        }
    }

    /// Takes what came of a poll, and does what follows.
    private func take(_ answer: PollAnswer, for flight: Flight, poll: OutcomePoll) {
        let port = ports[flight.route.port]
        if case .throttled(let wait) = answer { port.polls.pause.asked(for: wait ?? Self.usualPause, now: now) }
        let terms = configuration.outcomes
        switch poll.call.tracking.answered(answer, under: terms, at: wallClock, using: &ports.generator) {
        case .poll(let wait): askLater(flight, poll: poll, after: wait)
        case .conclude(let verdict):
            conclude(flight, poll: poll, outcome: CallOutcome(verdict, telemetry: poll.call.tracking.telemetry))
        case .unavailable:
            port.notePollRefusal(log: log)
            finish(flight, poll: poll, outcome: .unavailable)
        }
    }

    /// The rest for a hub that throttles and does not say for how long, milliseconds.
    private static let usualPause: Int64 = 1000

    /// Ends a call's following, after the list of refused devices was read if there is a use for it.
    private func conclude(_ flight: Flight, poll: OutcomePoll, outcome: CallOutcome) {
        if beginDetails(flight, poll: poll, outcome: outcome) { return }
        finish(flight, poll: poll, outcome: outcome)
    }

    /// Begins to read the list of devices that push services refused, to which a notification's telemetry links, if it can hold dead
    /// handles and there is a topic for them.
    ///
    /// - Returns: Whether it is being read; the outcome is recorded afterwards, in one transaction with what it lists.
    private func beginDetails(_ flight: Flight, poll: OutcomePoll, outcome: CallOutcome) -> Bool {
        guard details.isWanted, let telemetry = outcome.telemetry, let link = telemetry.errorDetails,
            telemetry.counts.contains(where: { $0.count > 0 && $0.outcome.isHandleDead })
        else { return false }
        let port = ports[flight.route.port]
        let deadline = now + port.requestNanoseconds
        let id = ExchangeID(flight, call: 0).number
        guard details.read(link, like: port.settings.connections, id: id, deadline: deadline) else {
            port.metrics.readDetails("skipped")
            return false
        }
        poll.phase = .reading
        poll.outcome = outcome
        return true
    }

    /// Takes the lists that have come.
    func handleDetails() {
        while let completion = details.nextCompletion() {
            let (number, _, end) = completion.parts()
            let id = ExchangeID(number: number)
            let flight = flights[id.flight]
            guard id.isPoll(of: flight), let poll = flight.wait.poll, let outcome = poll.outcome else { continue }
            switch consume end {
            case .answer(let answer): readDetails(flight, answer: answer, of: ports[flight.route.port])
            case .failure(let failure): ports[flight.route.port].noteDetailsFailure(failure.reason.label, log: log)
            }
            finish(flight, poll: poll, outcome: outcome)
        }
    }

    private func readDetails(_ flight: Flight, answer: borrowing Answer, of port: HubPort) {
        guard answer.status == 200 else { return port.noteDetailsFailure("status \(answer.status)", log: log) }
        let list = RefusedDeviceList(reading: answer.body)
        for device in list.devices where device.outcome.isHandleDead {
            outbox.add(device, of: flight.place.source, hub: port.name, at: wallClock)
        }
        if let fault = list.fault {
            port.noteDetailsFailure(fault.description, log: log)
        } else {
            port.metrics.readDetails("read")
        }
    }
}
