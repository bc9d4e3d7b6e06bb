import Delivery
import EventLoop
import Kafka
import Observability
import PushModel

/// Partitions that come and go, and the end of the worker.
extension WorkerLoop {
    /// Takes the events of the consumer.
    func handleKafka() {
        while let event = consumer.nextEvent() {
            switch event {
            case .assigned(let list): assigned(list)
            case .revoked(_, let isLost): revoked(isLost: isLost)
            case .error(let error): noteKafkaError(error)
            case .log(let line):
                if line.level <= 4 {
                    log.warning(.kafkaError, "the Kafka client reports", [.reason: .string("\(line.facility): \(line.message)")])
                }
            case .statistics: break
            }
        }
    }

    /// Takes what the reader of delay lanes says about itself.
    func noteReaderEvents() {
        while let event = delayReader.nextEvent() {
            if case .error(let error) = event { noteKafkaError(error) }
        }
    }

    /// Asks a broker that failed whether it is back: a member that keeps its partitions hears nothing of that otherwise.
    func probeBroker() {
        guard health.isBrokerDoubtful, !isProbing, let first = partitions.first else { return }
        isProbing = true
        committer.submit(.probe([first.id]))
    }

    func probed(_ error: KafkaError?) {
        isProbing = false
        if error == nil && !partitions.isEmpty { health.joined() }
    }

    /// Has the committer look, at times, for partitions without a consumer. Members without a name of their own rejoin whenever they
    /// start, so only those with one have to.
    func lookForUnread() {
        guard configuration.guarantee == .exactlyOnce, mode == .running, survey.isDue(now) else { return }
        committer.submit(.survey)
    }

    /// Rejoins the group if partitions stay without a consumer.
    func surveyed(_ unread: [TopicPartition]) {
        guard survey.found(unread.count, at: now), mode == .running, let first = unread.first else { return }
        log.warning(
            .rebalanced, "partitions without a consumer; rejoining the group to trigger a rebalance",
            [.topic: .string(first.topic), .partition: LogValue(first.partition), .count: LogValue(unread.count)])
        do throws(KafkaError) { try consumer.subscribe(configuration.topics.shared) } catch { noteKafkaError(error) }
    }

    func noteKafkaError(_ error: KafkaError) {
        log.warning(.kafkaError, "Kafka reports an error", [.reason: .string(error.description)])
        if error.isUnreachable || error.isAllBrokersDown { health.brokerFailed(error.description) }
        if error.isFatal { fail(error.isFenced ? .fenced(error.description) : .kafka(error.description)) }
    }

    /// A new assignment begins where the group's committed positions say, and nowhere else.
    private func assigned(_ list: [TopicPartition]) {
        // A failed rebalance takes partitions away without a revocation; whatever was theirs is the next owner's now.
        forgetAssignment()
        facts.lastRebalance = wallClock
        metrics.rebalances.increment()
        log.info(.rebalanced, "partitions were assigned", [.count: LogValue(list.count)])
        // An empty assignment is answered like any other: a member that owes the answer does not join again when others leave.
        guard !list.isEmpty else {
            assign([], .init(), epoch)
            return
        }
        pendingAssignment = list
        assignedAt = now
        committer.submit(.positions(list, partitionsBehindCommit: partitionsBehindCommit, epoch: epoch))
    }

    /// After this time without positions something more than a moment's trouble holds them back: 30 s in nanoseconds.
    private static let positionPatience: Int64 = 30_000_000_000

    func retryAssignment(_ error: KafkaError, _ epoch: Int) {
        noteKafkaError(error)
        guard epoch == self.epoch else { return }
        if error.isTimeout, now - assignedAt > Self.positionPatience {
            let reason =
                "a hanging transaction may block the group's positions: see `kafka-transactions.sh find-hanging`"
            log.error(.kafkaError, "the group's positions cannot be read", [.reason: .string(reason)])
            health.brokerFailed("the group's positions cannot be read; \(reason)")
        }
        later(.positions(pendingAssignment, partitionsBehindCommit: partitionsBehindCommit, epoch: epoch), in: .milliseconds(500))
    }

    /// Begins what was assigned, as the plan says, now that the group's positions are known.
    func assign(_ positions: [CommittedOffset], _ ends: Committer.PartitionEnds, _ epoch: Int) {
        guard epoch == self.epoch, mode == .running || mode == .stopped else { return }
        let plan = AssignmentPlan(
            positions.map { known(of: $0, ends) }, window: configuration.window, heldWindow: configuration.heldWindow,
            reach: repetitions?.reach)
        let states = plan.partitions.map { partitionState($0, at: positions[$0.index]) }
        for message in plan.messages { note(message, of: positions) }
        guard startReading(plan, states, ends.control) else { return }
        partitions = states
        assignedMoment = wallClock
        isOpening = plan.isOpening
        noteOwnership(plan.requests.count)
        place(plan)
        partitionsBehindCommit.removeAll()
        beginWithoutReading(ends.held)
        beginControl(slot: plan.controlSlot, end: ends.control)
        metrics.assignedPartitions.set(plan.held.lowerBound)
        survey.began(now)
        noteRefused(plan.refusal)
    }

    /// What the plan has to know of a partition.
    private func known(of position: CommittedOffset, _ ends: Committer.PartitionEnds) -> AssignmentPlan.Assigned {
        let partition = position.partition
        let kind = role(of: partition).kind
        var committed = LedgerCommit(position)
        if Sabotage.isOn(.forgetBitmap), kind != .parents { committed?.metadata = "" }
        return AssignmentPlan.Assigned(
            kind, committed: committed, end: ends.requests[partition],
            ruling: ends.starts[partition].map { AssignmentPlan.Ruling($0.decision, $0.cause, end: $0.end, waiting: $0.waiting) })
    }

    /// Lets the consumer read the partitions of requests, and the reader of delay lanes the others.
    ///
    /// - Returns: Whether they do; else the positions are asked for again.
    private func startReading(_ plan: AssignmentPlan, _ states: [PartitionState], _ controlEnd: Int64?) -> Bool {
        let starts: [(partition: TopicPartition, start: StartOffset)] = zip(states, plan.partitions).map {
            (partition: $0.id, start: StartOffset($1.start))
        }
        do throws(KafkaError) {
            try consumer.assign(Array(starts[plan.requests])) { partition in
                if case .requests(let lane) = role(of: partition) { laneWakeUps[lane.rawValue].fileDescriptor } else { nil }
            }
            let control = controlReading.starts(in: configuration.topics, end: controlEnd)
            try delayReader.start(Array(starts[plan.requests.upperBound...]) + control)
            return true
        } catch {
            // A member that owes the answer is not asked again: it would sit there with nothing assigned.
            retryAssignment(error, epoch)
            return false
        }
    }

    /// Gives each reader the slots of its partitions.
    private func place(_ plan: AssignmentPlan) {
        for lane in Lane.allCases {
            lanes[lane.rawValue] = LanePartitions(slots: plan.requests.filter { partitions[$0].role == .requests(lane) })
        }
        delayedPartitions = DelayedPartitions()
        delayedPartitions.slots = plan.delayed
        delayedPartitions.mayHaveRecords = true
        parents = ParentPartitions(plan.partitions[plan.parents], at: plan.parents.lowerBound)
        ordered = OrderedPartitions(partitions.map(\.id), held: plan.held) { slot in
            if case .requests(let lane) = partitions[slot].role { lane } else { nil }
        }
        ordered.nextRefresh = now + Self.firstRefresh
        ordered.isRefreshDue = plan.movesPositions
    }

    /// Says what is missing of a partition.
    private func note(_ message: AssignmentPlan.Message, of positions: [CommittedOffset]) {
        switch message {
        case .endsBeforePosition(let index, let committed, let end, let cause):
            let what: StaticString =
                switch cause {
                case .lostEnd: "a partition has lost its end; what was published since is sent, nothing twice"
                case .madeAnew:
                    "a topic was recreated: a partition ends before the group's position and is read from the start"
                case .unknownEnd, .noPosition:
                    "a partition ends before the group's position; it was recreated or has lost records"
                }
            let partition = positions[index].partition
            log.error(
                .kafkaError, what,
                [
                    .topic: .string(partition.topic), .partition: LogValue(partition.partition), .offset: LogValue(committed),
                    .count: LogValue(max(0, committed - end)), .reason: .string("the partition ended at \(end)"),
                ])
        }
    }

    /// Says which partitions are not read because no one has said where they begin, and how to say it; and that the group is joined.
    private func noteRefused(_ refusal: AssignmentPlan.Refusal?) {
        let reason = refusal?.reason(of: partitions, group: configuration.groupID)
        health.refused(reason)
        health.left(LeftPartitions(of: partitions))
        health.joined()
        guard let refusal, let reason else { return }
        // The last of a worker's first lines.
        log.error(
            .kafkaError, "partitions are not read until an operator decides where they begin",
            [.count: LogValue(refusal.slots.count), .reason: .string(reason)])
    }

    private func role(of partition: TopicPartition) -> PartitionRole {
        if let lane = configuration.topics.delays.firstIndex(of: partition.topic) { return .delay(lane) }
        if partition.topic == configuration.topics.parents { return .parents }
        if partition.topic == configuration.topics.held { return .held }
        return .requests(Lane.allCases.first { configuration.topics.requests(of: $0) == partition.topic } ?? .normal)
    }

    private func partitionState(_ partition: AssignmentPlan.Partition, at position: CommittedOffset) -> PartitionState {
        let id = position.partition
        return PartitionState(
            id, role(of: id), partition, committed: LedgerCommit(position), lag: metrics.lag(of: id),
            consumed: metrics.consumed(from: id.topic))
    }

    /// Resets the assignment to the group's committed offsets; what was in flight is dropped.
    func beginAssignmentAgain(because reason: String) {
        log.error(
            .rebalanced, "resetting to the group's committed offsets",
            [.count: LogValue(partitions.count), .reason: .string(reason)])
        // What belongs to these is found again.
        let list = partitions.filter { $0.role != .held }.map(\.id)
        forgetAssignment()
        pendingAssignment = list
        assignedAt = now
        committer.submit(.positions(list, partitionsBehindCommit: partitionsBehindCommit, epoch: epoch))
    }

    /// Before partitions are given up, calls in flight may finish and be committed; lost ones belong to others already.
    private func revoked(isLost: Bool) {
        facts.lastRebalance = wallClock
        metrics.rebalances.increment()
        log.info(.rebalanced, isLost ? "partitions were lost" : "partitions are taken away", [.count: LogValue(partitions.count)])
        guard !isLost, mode == .running, !partitions.isEmpty else {
            if case .stopping = mode, !isLost { return }
            dropAssignment()
            return
        }
        if Sabotage.isOn(.dropOnRevoke) {
            dropAssignment()
            return
        }
        beginDraining(.revoking(deadline: now + configuration.drainTimeout.nanoseconds))
        lendShares()
    }

    /// Takes what the outside asks for; both may have been asked for since the last turn.
    func handleControl() {
        // Nothing is begun while partitions are given up, and a reload may begin what waits.
        if mode == .running, let settings = control.takeReload() { reload(settings) }
        let request = control.request
        guard request != .none, mode != .stopped else { return }
        if !isStopping {
            health.beginDraining()
            log.info(.draining, "stopping; the worker finishes what is in flight")
            beginDraining(.stopping(deadline: now + configuration.drainTimeout.nanoseconds))
        }
        if request == .stopNow, case .stopping(let deadline) = mode { mode = .stopping(deadline: min(deadline, now)) }
    }

    private var isStopping: Bool { if case .stopping = mode { true } else { false } }

    /// Stops reading and starting; requests that no device can have heard of are left to the partition's next owner.
    private func beginDraining(_ mode: Mode) {
        self.mode = mode
        drainedAt = nil
        for flight in flights.flights where flight.isActive && !flight.hasCallInFlight && !mustFinish(flight) { abandon(flight) }
    }

    /// Whether a device may have heard of the request: then its result is ours to write.
    func mustFinish(_ flight: Flight) -> Bool {
        // Of one from a delay lane that was not sent since, its record says what was.
        guard flight.wasSent else { return false }
        return flight.calls.contains(where: \.mayHaveArrived)
            || flight.report.calls.contains { $0.outcome == .success || $0.outcome == .ambiguous }
    }

    /// Ends the draining when calls are done or time is up, and the rest is committed.
    func finishDraining() {
        let deadline: Int64
        switch mode {
        case .running, .stopped: return
        case .revoking(let end), .stopping(let end): deadline = end
        }
        let isOutOfGroup = cycle.isOutOfGroup
        if now >= deadline || isOutOfGroup { forceDrain() }
        guard flights.activeCount == 0 || partitions.isEmpty else { return }
        let isCommitted = cycle.isOnlyClosing && !hasSomethingToCommit
        if isCommitted && !isOutOfGroup && !partitions.isEmpty {
            drainedAt = drainedAt ?? now
            if isClosingDue { return }
        }
        // The group has the partitions given to others, whose the work is now: nothing of it can be committed any more.
        let isGivenUp = isOutOfGroup || now >= deadline + configuration.transactionTimeout.nanoseconds
        guard isCommitted || isGivenUp || partitions.isEmpty else { return }
        if case .stopping = mode {
            let left = outbox.records.count + (offered.job?.batch.records.count ?? 0)
            if !isCommitted && left > 0 { failure = failure ?? .uncommitted(left) }
            mode = .stopped
        } else {
            dropAssignment()
            mode = .running
        }
    }

    /// Time is up: what devices may have heard of gets its result, the rest is left to the next owner.
    private func forceDrain() {
        for flight in flights.flights where flight.isActive {
            guard mustFinish(flight) else {
                abandon(flight)
                continue
            }
            for index in flight.calls.indices.reversed() where flight.isActive && flight.calls[index].phase != .done {
                let isUnderWay = flight.calls[index].phase == .inFlight
                end(flight, index, isUnderWay ? .ambiguous : .cancelled, .workerShutdown, "the worker stopped before the answer")
            }
        }
    }

    /// Forgets the assignment and everything that belongs to it, and tells the group so.
    private func dropAssignment() {
        forgetAssignment()
        if case .revoking = mode { mode = .running }
        do throws(KafkaError) { try consumer.unassign() } catch { noteKafkaError(error) }
    }

    private func forgetAssignment() {
        for flight in flights.flights where flight.isActive { abandon(flight) }
        for state in partitions { metrics.forgetLag(of: state.id) }
        partitions = []
        for lane in lanes.indices { lanes[lane] = LanePartitions() }
        delayedPartitions = DelayedPartitions()
        parents = ParentPartitions()
        ordered = OrderedPartitions()
        for port in ports { for lane in port.aside.indices { port.aside[lane].removeAll() } }
        delayReader.stop()
        controlReading.stop()
        pendingAssignment = []
        survey.ended()
        lendShares()
        epoch += 1
        isOpening = false
        drainedAt = nil
        outbox.removeAll()
        perform(cycle.assignmentEnded())
        metrics.assignedPartitions.set(0)
    }
}
