import Delivery
import EventLoop
import GroupPositions
import Kafka
import Observability
import PushModel

/// Partitions that come and go, and the end of the worker: what `Membership` decides is done here.
extension WorkerLoop {
    /// Does what the membership says.
    ///
    /// - Parameters:
    ///   - actions: What to do, in this order.
    ///   - known: The group's positions, and where topics end, for partitions that begin.
    func perform(
        _ actions: [Membership.Action], with known: (positions: [CommittedOffset], ends: Committer.PartitionEnds) = ([], .init())
    ) {
        for action in actions {
            switch action {
            case .prepare: committer.submit(.prepare)
            case .ask(let list, let behindCommit, let epoch): askForPositions(of: list, behindCommit: behindCommit, epoch: epoch)
            case .reportUnreadablePositions: reportUnreadablePositions()
            case .begin: begin(known.positions, ends: known.ends)
            case .drain: drain()
            case .cut: cut()
            case .forget: forgetAssignment()
            case .drop:
                forgetAssignment()
                do throws(KafkaError) { try consumer.unassign() } catch { noteKafkaError(error) }
            case .probe: if let first = partitions.first { committer.submit(.probe([first.id])) }
            case .survey: committer.submit(.survey(awaiting: partitions.filter { $0.left == .leaderAway }.map(\.id)))
            case .examine(let list, let epoch): examine(list, epoch: epoch)
            case .rejoin(let unread): rejoin(because: unread)
            case .stop(let isCommitted):
                let left = outbox.records.count + offered.recordCount
                if !isCommitted && left > 0 { failure = failure ?? .uncommitted(left) }
            }
        }
    }

    private func askForPositions(of list: [Membership.Partition], behindCommit: Set<Membership.Partition>, epoch: Int) {
        committer.submit(
            .positions(
                list.map { TopicPartition($0) }, partitionsBehindCommit: Set(behindCommit.map { TopicPartition($0) }),
                progress: laterStarts.progress, epoch: epoch))
    }

    /// Takes the events of the consumer.
    func handleKafka() {
        while let event = consumer.nextEvent() {
            switch event {
            case .assigned(let list): assigned(list)
            case .revoked(_, let isLost): revoked(isLost: isLost)
            case .error(let error): noteKafkaError(error)
            case .log(let line): note(line)
            case .statistics: break
            }
        }
    }

    /// Takes what the reader of delay lanes says about itself.
    func noteReaderEvents() {
        while let event = delayReader.nextEvent() {
            switch event {
            case .error(let error): noteKafkaError(error)
            case .log(let line): note(line)
            case .statistics: break
            }
        }
    }

    func probed(_ error: KafkaError?) {
        membership.probed()
        if error == nil && membership.ownsPartitions { health.joined() }
    }

    private func rejoin(because unread: [Membership.Partition]) {
        guard let first = unread.first else { return }
        log.warning(
            .rebalanced, "partitions without a reader; rejoining the group to trigger a rebalance",
            [.topic: .string(first.topic), .partition: LogValue(first.number), .count: LogValue(unread.count)])
        do throws(KafkaError) { try consumer.join(configuration) } catch { noteKafkaError(error) }
    }

    /// A new assignment begins where the group's committed positions say, and nowhere else.
    private func assigned(_ list: [TopicPartition]) {
        facts.lastRebalance = wallClock
        metrics.rebalances.increment()
        log.info(.rebalanced, "partitions were assigned", [.count: LogValue(list.count)])
        perform(membership.assigned(configuration.ownPartitions(of: list, log: log).map { Membership.Partition($0) }, now: now))
    }

    /// The positions of an assignment could not be learnt, or not be read from.
    func positionsFailed(_ error: KafkaError, epoch: Int) {
        noteKafkaError(error)
        // Elsewhere a leader that moves is no news; here nothing is read until it answers.
        if error.isLeaderAway { health.brokerFailed(error.description) }
        perform(membership.positionsFailed(epoch: epoch, isTimeout: error.isTimeout, now: now))
    }

    private func reportUnreadablePositions() {
        let reason = "a hanging transaction may block the group's positions: see `kafka-transactions.sh find-hanging`"
        log.error(.kafkaError, "the group's positions cannot be read", [.reason: .string(reason)])
        health.brokerFailed("the group's positions cannot be read; \(reason)")
    }

    /// Begins what was assigned, as the plan says, now that the group's positions are known.
    private func begin(_ positions: [CommittedOffset], ends: Committer.PartitionEnds) {
        let plan = AssignmentPlan(
            positions.map { known(of: $0, ends: ends) }, window: configuration.window, heldWindow: configuration.heldWindow,
            reach: desk.repetitions?.reach)
        let states = plan.partitions.map {
            let position = positions[$0.index]
            return partitionState(
                $0, of: position.partition, at: LedgerCommit(position),
                siblings: ends.partitionCounts[position.partition.topic] ?? 0)
        }
        for message in plan.messages { log.error(.kafkaError, message.meaning, message.fields(of: positions.map(\.partition))) }
        guard startReading(plan, states: states, controlEnd: ends.control) else { return }
        partitions = states
        noteKnown(partitions.indices.reduce(0) { $0 + partitions[$1].findKnown(in: &offered.known) })
        marks = PartitionMarks(partitions)
        membership.noteStart(isOpening: plan.isOpening, awaitsLeader: plan.awaitsLeader, now: now, at: wallClock)
        noteOwnership(plan.requests.count, of: ends.requestCount)
        place(plan)
        beginWithoutReading(ends.held)
        beginControl(slot: plan.controlSlot, end: ends.control)
        metrics.assignedPartitions.set(plan.held.lowerBound)
        noteRefused(plan.refusal)
        probeOn(Array(ends.starts.unanswered.values))
    }

    /// The facts of a partition that the plan has to know.
    private func known(of position: CommittedOffset, ends: Committer.PartitionEnds) -> AssignmentPlan.Assigned {
        let partition = position.partition
        let kind = role(of: partition).kind
        var committed = LedgerCommit(position)
        if Sabotage.isOn(.forgetBitmap), kind != .parents { committed?.metadata = "" }
        return ends.starts.assigned(partition, as: kind, committed: committed)
    }

    /// Lets the consumer read the partitions of requests, and the reader of delay lanes the others.
    ///
    /// - Returns: Whether they do; else the positions are asked for again.
    private func startReading(_ plan: AssignmentPlan, states: [PartitionState], controlEnd: ControlEnd) -> Bool {
        let starts: [(partition: TopicPartition, start: StartOffset)] = zip(states, plan.partitions).map {
            (partition: $0.id, start: StartOffset($1.start))
        }
        do throws(KafkaError) {
            try consumer.assign(Array(starts[plan.requests]), arrivals: sources.requests.writeDescriptor)
            let control = controlTopic.starts(in: configuration.topics, end: controlEnd)
            try delayReader.start(Array(starts[plan.requests.upperBound...]) + control, arrivals: sources.reader.writeDescriptor)
            return true
        } catch {
            positionsFailed(error, epoch: epoch)
            return false
        }
    }

    /// Gives each reader the slots of its partitions.
    private func place(_ plan: AssignmentPlan) {
        for lane in Lane.allCases {
            lanes[lane.rawValue] = CursorGroup(plan.requests.filter { partitions[$0].role == .requests(lane) })
        }
        delayedPartitions = DelayedPartitions(plan.delayed)
        parents = ParentPartitions(plan.partitions[plan.parents], at: plan.parents.lowerBound)
        held = CursorGroup(plan.held)
        scheduler.begin(
            partitions.map { Scheduler.Partition(number: $0.id.partition, lane: $0.role.lane) }, held: plan.held,
            movesPositions: plan.movesPositions, now: now)
    }

    /// Has the records read in the background that say where the rest of the partitions begin.
    private func probeOn(_ probes: [PartitionProbe]) {
        laterStarts.begin(probes, of: partitions.unanswered, configuration: configuration, clock: clock, wakeUp: control.wakeUp)
        guard !probes.isEmpty else { return }
        log.info(
            .rebalanced, "records are read that say where partitions begin; the others go on", [.count: LogValue(probes.count)])
    }

    /// Says which partitions are left, and how far the records are read that say where some of those begin.
    func noteLeft() {
        let states = marks.keepLeft(of: partitions)
        health.left(LeftPartitions(of: states), progress: laterStarts.progressText(of: states.first(where: \.awaitsReading)?.id))
    }

    /// Says which partitions are not read because no one has said where they begin, and how to say it, and that the group is
    /// joined.
    func noteRefused(_ refusal: AssignmentPlan.RefusedPartitions?) {
        let reason = refusal?.reason(group: configuration.groupID) { (partitions[$0].id, partitions[$0].role) }
        health.refused(reason)
        noteLeft()
        health.joined()
        guard let refusal, let reason else { return }
        // The last of a worker's first lines.
        log.error(
            .kafkaError, "partitions are not read until an operator decides where they begin",
            [.count: LogValue(refusal.slots.count), .reason: .string(reason)])
    }

    private func role(of partition: TopicPartition) -> PartitionRole { PartitionRole(of: partition, in: configuration.topics) }

    /// A partition as it is planned. Its first record is to wait for no commit of its own.
    func partitionState(
        _ plan: AssignmentPlan.Partition, of id: TopicPartition, at position: LedgerCommit?, siblings: Int32
    ) -> PartitionState {
        var state = PartitionState(
            id, role: role(of: id), plan: plan, committed: position, lag: metrics.lag(of: id),
            consumed: metrics.consumed(from: id.topic))
        state.siblingCount = siblings
        state.reserve.read(at: now)
        return state
    }

    /// Resets the assignment to the group's committed offsets. What was in flight is dropped.
    func beginAssignmentAgain(because reason: String) {
        log.error(
            .rebalanced, "resetting to the group's committed offsets",
            [.count: LogValue(partitions.count), .reason: .string(reason)])
        perform(membership.positionsMoved(now: now))
    }

    /// Begins the assignment again if a partition ends before the group's position: then it is found out where to read it.
    func examinePartitionsBehindCommit() {
        guard !membership.behindCommit.isEmpty, membership.ownsPartitions else { return }
        beginAssignmentAgain(because: "a partition ends before the group's position")
    }

    /// Notes that a rebalance begins, which counts where it ends (`assigned`).
    private func revoked(isLost: Bool) {
        facts.lastRebalance = wallClock
        log.info(.rebalanced, isLost ? "partitions were lost" : "partitions are taken away", [.count: LogValue(partitions.count)])
        let drops = isLost || Sabotage.isOn(.dropOnRevoke) && mode == .running
        perform(membership.revoked(isLost: drops, now: now))
    }

    /// Takes what the outside asks for. Both may have been asked for since the last turn.
    func handleControl() {
        // Nothing is begun while partitions are given up, and a reload may begin what waits.
        if mode == .running, let settings = control.takeReload() { reload(settings) }
        let request = control.request
        guard request != .none || consumer.isOutdated else { return }
        if request != .none { health.beginDraining() }
        perform(membership.stopAsked(isUrgent: request == .stopNow, now: now))
    }

    /// Stops reading and starting. What has no call in flight is left to the partition's next owner.
    private func drain() {
        laterStarts.end()
        if mode == .stopping {
            log.info(.draining, control.request == .none ? "draining for new Kafka clients" : "stopping; what is in flight first")
        }
        for flight in flights.flights where flight.isActive { leave(flight) }
        if mode == .revoking { lendShares() }
    }

    /// Time is up: what devices may have heard of is handed over, without its calls in flight, or gets its result, and the rest is left to
    /// the next owner.
    private func cut() {
        for flight in flights.flights where flight.isActive {
            guard flight.mustFinish else {
                abandon(flight)
                continue
            }
            for (phase, outcome) in [(Flight.Phase.inFlight, Outcome.ambiguous), (.ready, .cancelled), (.waiting, .cancelled)] {
                flight.forEachCall(where: { $0 == phase }) {
                    end(flight, call: $0, as: outcome, code: .workerShutdown, detail: "the worker stopped before the answer")
                }
            }
        }
    }

    /// Says that what is read again is not all called again.
    func noteKnown(_ count: Int) {
        guard count > 0 else { return }
        log.info(.rebalanced, "partitions are back as they were left; known results are recorded now", [.count: LogValue(count)])
    }

    /// Forgets the assignment and everything that belongs to it, but for outcomes that count if it comes back as it was.
    private func forgetAssignment() {
        laterStarts.end()
        offered.keep(outbox, of: partitions.indices.compactMap { OfferedBatch.Lost(partitions[$0], in: $0) })
        for flight in flights.flights where flight.isActive { abandon(flight) }
        // A family moves the series behind the one that goes.
        for state in partitions.reversed() { metrics.forgetLag(of: state.id) }
        partitions = []
        marks = PartitionMarks()
        for lane in lanes.indices { lanes[lane] = CursorGroup() }
        delayedPartitions = DelayedPartitions()
        (parents, held) = (ParentPartitions(), CursorGroup())
        scheduler.end()
        _ = limited.waiting.removeAll()
        delayReader.stop()
        controlTopic.stop()
        lendShares()
        outbox.removeAll()
        if cycle.assignmentEnded() == .forget { offered.job = nil }
        metrics.assignedPartitions.set(0)
    }
}
