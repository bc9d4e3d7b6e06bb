import Delivery
import Kafka
import Observability
import Outcomes
import PushModel

/// From the last outcome of a request to its final result, and from there to the outcome of each accepted call.
///
/// A poll waits in a lane, never in memory. Its record is written in the transaction of the final result, and the next one, or the
/// outcome, in a transaction with its own offset. So a worker that dies loses none, and asks again what it had asked.
extension WorkerLoop {
    /// The lines about single requests.
    var requestLog: RequestLog { RequestLog(log: log, logged: configuration.loggedRequests) }

    /// Writes the request's one final result.
    func finish(_ flight: Flight) {
        facts.finishedCount += 1
        let port = ports[flight.route.port]
        flight.noteFollowing(byDefault: port.settings.tracksOutcomes)
        let conclusion = recorders.finish(flight, hub: ports.hubMember(of: flight), now: wallClock, into: &outbox)
        if flight.report.isFollowed { track(flight, at: port) }
        let published = flight.place.origin.timestamp
        port.metrics.finished(
            conclusion, nanoseconds: wallClock.nanoseconds(since: published), isPublishedOnHold: wasHeld(flight, at: published))
        requestLog.note(
            conclusion, of: flight.request.document.string(flight.request.id), attempts: flight.report.attemptCount,
            at: flight.place.origin)
        settle(flight)
    }

    /// Counts the record as done: its outcome is in the outbox.
    func settle(_ flight: Flight) {
        if flight.place.epoch == epoch {
            if let key = flight.route.key { scheduler.completed(key, in: flight.place.slot) }
            partitions[flight.place.slot].ledger?.finished(flight.place.offset)
            markDirty(flight.place.slot)
            withGroup(of: flight.place.slot) { $0.windowMoved(flight.place.slot) }
        }
        flights.release(flight)
    }

    /// Marks a partition in which something is finished that is not committed.
    func markDirty(_ slot: Int) {
        partitions[slot].isDirty = true
        marks.touch(slot)
    }

    /// Calls `body` with the group in which a partition has its turns.
    func withGroup(of slot: Int, _ body: (inout CursorGroup) -> Void) {
        switch partitions[slot].role {
        case .requests(let lane): body(&lanes[lane.rawValue])
        case .delay: body(&delayedPartitions.group)
        case .held: body(&held)
        case .parents: parents.withGroup(of: slot, body)
        }
    }

    /// Forgets a request without an outcome: the partition's next owner takes it up again.
    func abandon(_ flight: Flight) {
        if flight.place.epoch == epoch, flight.work.hasCallInFlight { partitions[flight.place.slot].hasLostCalls = true }
        ports[flight.route.port].abandonCalls(of: flight, now: now, using: &ports.generator, log: log)
        flights.release(flight)
    }

    /// True if a worker before this one may have begun a request, so that devices may have heard of it.
    func mayHaveBeenBegun(_ flight: Flight) -> Bool {
        let end = flight.place.epoch == epoch ? partitions[flight.place.slot].begun.end : .min
        guard flight.place.offset < end, !flight.request.options.dryRun else { return false }
        // Not before its time.
        return [flight.request.notBefore, flight.wait.delayed?.due].allSatisfy { $0.map { $0 <= membership.overlapEnd } ?? true }
    }

    /// Turns what the brokers never take into a dead letter that says so. What became of parts of large requests stays.
    func writeDeadLetter(for unit: CommitUnit.ID, error: KafkaError?) {
        guard let rejected = offered.job?.batch, let error else { return }
        let id = partitions[unit.slot].id
        let place = RecordOrigin(topic: id.topic, partition: id.partition, offset: unit.offset, timestamp: wallClock)
        // A request that is held already was taken before, as large as it is.
        let wasMoving =
            partitions[unit.slot].role.hasRequests
            && rejected.records.contains { if case .held = $0.destination { true } else { false } }
        let failure = UnreadableRecord.notTaken(error.name)
        offered.job?.batch = recorders.replacement(
            of: rejected, from: .init(slot: unit.slot, offset: unit.offset), at: place, failure: failure, reader: desk.ownReader)
        if wasMoving { scheduler.neverArrives(publishedAt: unit.offset, in: unit.slot) }
        metrics.deadLettered(failure.reason, topic: id.topic)
        log.error(
            .deadLettered, "broker keeps rejecting the result of this request; writing a dead letter",
            [
                .topic: .string(id.topic), .partition: LogValue(id.partition), .offset: LogValue(unit.offset),
                .reason: .string(error.description),
            ])
    }

    /// Moments are rounded up to this, in milliseconds, so that the polls of a moment come together.
    private static let grid: Int64 = 100

    /// Follows the calls of a finished request that the hub has accepted.
    private func track(_ flight: Flight, at port: HubPort) {
        for index in flight.report.calls.indices where flight.report.calls[index].outcome == .success {
            let hasID = flight.report.calls[index].notificationID != nil
            if hasID && !port.polls.isRefused && !scheduler.delays.lanes.available.isEmpty {
                followUp(flight, call: index, at: port)
            } else {
                port.notePollAbsence(hasID: hasID, log: log)
                endUnasked(flight, call: index, at: port)
            }
        }
    }

    private func followUp(_ flight: Flight, call index: Int, at port: HubPort) {
        guard let (lane, due) = laneAndMoment(after: configuration.outcomes.firstWait) else { return }
        port.polls.allowance.tracked()
        recorders.delays.recordPoll(ofCall: index, of: flight, hub: port.name, in: lane, due: due, now: wallClock, into: &outbox)
    }

    /// Records that nothing can be learnt of a call, in the transaction of its request's final result.
    private func endUnasked(_ flight: Flight, call index: Int, at port: HubPort) {
        guard recorders.results.recordUnasked(index, of: flight, hub: port.name, now: wallClock, into: &outbox) else {
            log.error(
                .internalFault, "what was written of a call to follow cannot be read", [.offset: LogValue(flight.place.offset)])
            return
        }
        port.metrics.outcomeKnown(CallOutcome.unavailable.reason)
    }

    /// The lane for a wait, and when it is over, or nil when there is no lane.
    private func laneAndMoment(after wait: Int64) -> (lane: Int, due: Timestamp)? {
        guard let lane = scheduler.delays.lanes.lane(for: wait) ?? scheduler.delays.lanes.available.first else { return nil }
        let moment = wallClock.adding(milliseconds: wait.addingSaturated(Self.grid - 1)).milliseconds
        return (lane, Timestamp(milliseconds: moment - moment % Self.grid))
    }

    /// Hands a poll on to a lane, in the transaction that finishes its present record.
    func askLater(_ flight: Flight, poll: OutcomePoll, after wait: Int64) {
        guard let (lane, due) = laneAndMoment(after: wait) else { return finish(flight, poll: poll, outcome: .unavailable) }
        recorders.delays.recordPoll(in: lane, due: due, requestID: poll.call.requestID, for: flight.place.source, into: &outbox) {
            poll.call.append(to: &$0)
        }
        settle(flight)
    }

    /// Writes the call's one outcome result.
    func finish(_ flight: Flight, poll: OutcomePoll, outcome: CallOutcome) {
        recorders.results.record(outcome, of: poll.call, for: flight.place.source, now: wallClock, into: &outbox)
        ports[flight.route.port].metrics.outcomeKnown(outcome.reason)
        if outcome.state != .sent { requestLog.note(outcome, of: poll) }
        settle(flight)
    }
}
