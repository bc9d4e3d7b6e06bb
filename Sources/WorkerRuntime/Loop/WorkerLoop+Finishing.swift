import Delivery
import Kafka
import Observability
import PushModel

/// From the last outcome of a request to its final result.
extension WorkerLoop {
    /// Writes the request's one final result.
    func finish(_ flight: Flight) {
        facts.finishedCount += 1
        let conclusion = recorders.finish(flight, hub: hubMember(of: flight), now: wallClock, into: &outbox)
        if flight.request.options.trackOutcome ?? ports[flight.port].settings.tracksOutcomes { track(flight) }
        ports[flight.port].metrics.finished(
            conclusion, nanoseconds: wallClock.nanoseconds(since: flight.origin.timestamp))
        if log.isEnabled(.info) {
            log.info(
                .requestFinished, "a request has its final result",
                [
                    .requestID: .string(flight.request.document.string(flight.request.id)),
                    .outcome: .string(conclusion.outcome.rawValue), .attempt: LogValue(flight.report.attemptCount),
                    .partition: LogValue(flight.origin.partition), .offset: LogValue(flight.origin.offset),
                ])
        }
        settle(flight)
    }

    /// Counts the record as done: its outcome is in the outbox.
    func settle(_ flight: Flight) {
        if let key = flight.key { keyCompleted(key, by: flight) }
        if flight.epoch == epoch {
            partitions[flight.slot].ledger?.finished(flight.offset)
            partitions[flight.slot].isDirty = true
            // The window may have moved.
            switch partitions[flight.slot].role {
            case .requests(let lane): if lanes[lane.rawValue].isBlocked { lanes[lane.rawValue].mayHaveRecords = true }
            case .delay: if delayedPartitions.isBlocked { delayedPartitions.mayHaveRecords = true }
            case .held: ordered.mayHaveRecords = true
            case .parents: break
            }
        }
        flights.release(flight)
    }

    /// Leaves a request to the partition's next owner, by a delay lane, or as a held one, if calls of it were made, so that it
    /// goes on at their attempts. What is not committed with the position could be sent twice.
    func leave(_ flight: Flight) {
        let isAtomic = mode == .stopping || configuration.guarantee == .exactlyOnce
        guard isAtomic, flight.hasAttemptsToHandOver, hasRoomForOutcomes, !isCommitOverdue,
            let due = flight.nextMoment(now: now, at: wallClock), delay(flight, until: due, isLeft: true)
        else { return abandon(flight) }
    }

    /// Forgets a request without an outcome: the partition's next owner takes it up again.
    func abandon(_ flight: Flight) {
        if flight.epoch == epoch, flight.hasCallInFlight { partitions[flight.slot].hasLostCalls = true }
        ports[flight.port].waitingForRetry -= flight.calls.count { $0.phase == .waiting }
        abandonCircuitCalls(of: flight)
        flights.release(flight)
    }

    /// True if a worker before this one may have begun a request, so that devices may have heard of it.
    func mayHaveBeenBegun(_ flight: Flight) -> Bool {
        guard flight.epoch == epoch, flight.offset < partitions[flight.slot].begun.end, !flight.request.options.dryRun else {
            return false
        }
        // Not before its time.
        return [flight.request.notBefore, flight.delayed?.due].allSatisfy { $0.map { $0 <= membership.overlapEnd } ?? true }
    }

    /// Turns what the brokers never take into a dead letter that says so.
    func writeDeadLetter(for unit: CommitUnit.ID, error: KafkaError?) {
        guard let rejected = offered.job?.batch, let error else { return }
        let id = partitions[unit.slot].id
        let place = RecordOrigin(topic: id.topic, partition: id.partition, offset: unit.offset, timestamp: wallClock)
        // A request that is held already was taken before, as large as it is.
        let wasMoving =
            partitions[unit.slot].role.hasRequests
            && rejected.records.contains { if case .held = $0.destination { true } else { false } }
        var batch = OutcomeBatch()
        let failure = UnreadableRecord.notTaken(error.name)
        recorders.deadLetters.record(place, slot: unit.slot, failure: failure, into: &batch)
        offered.job?.batch = batch
        if wasMoving { ordered.queues[unit.slot].neverArrives(publishedAt: unit.offset) }
        metrics.deadLettered(failure.reason, topic: id.topic)
        log.error(
            .deadLettered, "broker keeps rejecting the result of this request; writing a dead letter",
            [
                .topic: .string(id.topic), .partition: LogValue(id.partition), .offset: LogValue(unit.offset),
                .reason: .string(error.description),
            ])
    }
}
