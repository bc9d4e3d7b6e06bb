import Delivery
import HubAuth
import HubREST
import Observability
import Outcomes
import PushModel

/// Calls whose outcome is followed: from the hub's acceptance into a delay lane, and from there to the next poll.
///
/// A poll waits in a lane, never in memory. Its record is written in the transaction of the final result, and the next one, or the
/// outcome, in a transaction with its own offset. So a worker that dies loses none, and asks again what it had asked.
extension WorkerLoop {
    /// Moments are rounded up to this, in milliseconds, so that the polls of a moment come together.
    private static let grid: Int64 = 100

    /// Follows the calls of a finished request that the hub has accepted.
    func track(_ flight: Flight) {
        guard !flight.request.options.testSend else { return }
        let port = ports[flight.port]
        for index in flight.report.calls.indices where flight.report.calls[index].outcome == .success {
            let hasID = flight.report.calls[index].notificationID != nil
            if hasID && !port.polls.isRefused && !delayLanes.available.isEmpty {
                followUp(flight, call: index, at: port)
            } else {
                noteAbsence(hasID: hasID, at: port)
                endUnasked(flight, call: index, at: port)
            }
        }
    }

    private func followUp(_ flight: Flight, call index: Int, at port: HubPort) {
        guard let (lane, due) = laneAndMoment(after: configuration.outcomes.firstWait) else { return }
        port.polls.allowance.tracked()
        let origin = flight.origin
        let place = OutcomeBatch.Origin(slot: flight.slot, offset: flight.offset)
        lend(&flight.request, and: &flight.report) { request, report in
            recorders.delays.recordPoll(
                in: lane, due: due, requestID: request.document.span(request.id), for: place, into: &outbox
            ) {
                TrackedCall.append(index, of: report, for: request, origin: origin, hub: port.name, at: wallClock, to: &$0)
            }
        }
    }

    /// Records that nothing can be learnt of a call, in the transaction of its request's final result.
    private func endUnasked(_ flight: Flight, call index: Int, at port: HubPort) {
        var text = ByteWriter(capacity: 512)
        let origin = flight.origin
        lend(&flight.request, and: &flight.report) { request, report in
            TrackedCall.append(index, of: report, for: request, origin: origin, hub: port.name, at: wallClock, to: &text)
        }
        guard let call = try? TrackedCall(text.span) else {
            log.error(.internalFault, "what was written of a call to follow cannot be read", [.offset: LogValue(flight.offset)])
            return
        }
        let place = OutcomeBatch.Origin(slot: flight.slot, offset: flight.offset)
        recorders.results.record(.unavailable, of: call, for: place, now: wallClock, into: &outbox)
        port.metrics.outcomeKnown(CallOutcome.unavailable.reason)
    }

    private func noteAbsence(hasID: Bool, at port: HubPort) {
        guard !port.polls.isRefused, !port.polls.isAbsenceKnown else { return }
        port.polls.isAbsenceKnown = true
        log.warning(
            .outcomesUnavailable,
            hasID
                ? "the outcome of calls cannot be followed, because no delay lane is there (`pushfan topics create`)"
                : "the outcome of calls cannot be followed, because the hub gives notifications no id; only the Standard tier does",
            [.hub: .string(port.name)])
    }

    /// The lane for a wait, and when it is over, or nil when there is no lane.
    private func laneAndMoment(after wait: Int64) -> (lane: Int, due: Timestamp)? {
        guard let lane = delayLanes.lane(for: wait) ?? delayLanes.available.first else { return nil }
        let moment = wallClock.adding(milliseconds: wait.addingSaturated(Self.grid - 1)).milliseconds
        return (lane, Timestamp(milliseconds: moment - moment % Self.grid))
    }

    /// Takes a poll from its lane when its time has come. Else it waits there, or in the next one.
    func start(_ flight: Flight, poll: OutcomePoll) {
        if poll.recheckTime > wallClock {
            keepFirst(flight)
            return
        }
        // A hub that is not used any more cannot be asked.
        guard let port = port(named: poll.call.hubText) else {
            return routes.isSettling(now)
                ? askLater(flight, poll: poll, after: Self.unroutedStay) : finish(flight, poll: poll, outcome: .unavailable)
        }
        flight.port = port.number
        if port.polls.isRefused {
            finish(flight, poll: poll, outcome: .unavailable)
        } else if poll.due > wallClock {
            askLater(flight, poll: poll, after: poll.due.milliseconds(since: wallClock))
        } else if port.polls.hasRoom {
            poll.phase = .ready
            port.polls.queue.append(CallID(flight: flight.index, call: 0), generation: flight.generation)
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
            ports[flight.port].metrics.unpolled("put_off")
            askLater(flight, poll: poll, after: max(elapsed, configuration.outcomes.interval))
        }
    }

    /// Hands a poll on to a lane, in the transaction that finishes its present record.
    func askLater(_ flight: Flight, poll: OutcomePoll, after wait: Int64) {
        guard let (lane, due) = laneAndMoment(after: wait) else { return finish(flight, poll: poll, outcome: .unavailable) }
        let place = OutcomeBatch.Origin(slot: flight.slot, offset: flight.offset)
        recorders.delays.recordPoll(in: lane, due: due, requestID: poll.call.requestID, for: place, into: &outbox) {
            poll.call.append(to: &$0)
        }
        settle(flight)
    }

    /// Once a second: ends what has waited for its turn until long after its deadline, because the hub is out or asked to wait.
    func expireWaitingPolls() {
        guard ports.contains(where: { !$0.polls.queue.isEmpty }) else { return }
        for port in ports { port.polls.queue.removeAll { call, generation in isWaitingPoll(call, generation: generation) } }
        let limit = configuration.outcomes.deadline + configuration.outcomes.interval
        for flight in flights.flights where flight.isActive {
            guard let poll = flight.poll, poll.phase == .ready,
                wallClock.milliseconds(since: poll.call.tracking.acceptedAt) > limit
            else { continue }
            take(.failed, for: flight, poll: poll)
        }
    }

    func isWaitingPoll(_ call: CallID, generation: UInt32) -> Bool {
        let flight = flights[call.flight]
        return flight.isActive && flight.generation == generation && flight.poll?.phase == .ready
    }
}
