import Delivery

/// The worker's place in the group: partitions that come and go. `AssignmentPlan` says where they begin.
///
/// Nothing outside this file knows what is done at which event, so that a value can decide it.
extension ModelWorker {
    /// Hears from the group, and does what it asks for.
    func heartbeat(isReplaced: Bool, _ broker: inout ModelBroker) {
        if phase == .stopped { return }
        guard broker.group.isMember(member) else {
            if isReplaced { return stop(&broker) }
            missed(&broker)
            return
        }
        if broker.group.mustJoin(member) {
            switch phase {
            case .running where terms.sabotage == .dropsOnRevoke: join(&broker)
            case .running: beginDraining(broker.now)
            case .draining: finishDraining(&broker)
            case .joined, .assigned: join(&broker)
            case .left, .stopped: return
            }
        } else if phase == .joined && member.generation < broker.group.generation && !broker.group.isRebalancing {
            member.generation = broker.group.generation
            phase = .assigned
        }
    }

    /// The group has gone on without this worker: first the client knows, then the worker does, then it begins again.
    private func missed(_ broker: inout ModelBroker) {
        if member.id != 0 {
            member.id = 0
            member.generation = -1
        } else if phase != .left {
            broker.count(\.lost)
            forget(&broker)
            phase = .left
        } else {
            member = broker.group.enter(member.slot)
            phase = .joined
        }
    }

    private func join(_ broker: inout ModelBroker) {
        forget(&broker)
        phase = .joined
        broker.group.join(member)
    }

    /// Starts at the group's positions, once no transaction can move them any more, and nowhere else.
    func start(_ broker: inout ModelBroker) {
        guard phase == .assigned, broker.group.isMember(member), member.generation == broker.group.generation,
            committer.job == nil
        else { return }
        committer.prepare(&broker)
        let decisions = broker.decisions(terms.rule)
        var numbers: [Int] = []
        var assigned: [AssignmentPlan.Assigned] = []
        for number in broker.logs.indices where broker.group.isOwner(member, of: number) {
            guard broker.isStable(number) || terms.sabotage == .readsUnstable else {
                broker.count(\.waits)
                return
            }
            var position = broker.position(number)
            if terms.sabotage == .forgetsTheMap { position?.metadata = "" }
            let end = broker.ends[number]
            let ruling = decisions[number].map { AssignmentPlan.Ruling($0, .noPosition, end: end) }
            numbers.append(number)
            assigned.append(AssignmentPlan.Assigned(.requests, committed: position, end: end, ruling: ruling))
        }
        let plan = AssignmentPlan(assigned, window: window, heldWindow: window, reach: nil)
        if plan.partitions.contains(where: { $0.left != nil }) { broker.fail("a position cannot be read") }
        var fresh: [ModelPartition] = []
        for partition in plan.partitions {
            let number = numbers[partition.index]
            let cursor = broker.index(of: partition.start, in: number)
            fresh.append(
                ModelPartition(number, partition, committed: assigned[partition.index].committed, cursor: cursor))
        }
        partitions = fresh
        isOpening = plan.isOpening
        isRefreshDue = plan.movesPositions
        isExcused = false
        phase = .running
        broker.count(\.takeovers)
    }

    /// The group stands where this worker did not put it.
    func beginAssignmentAgain(_ broker: inout ModelBroker) {
        for partition in partitions where broker.group.isOwner(member, of: partition.number) {
            broker.fail("the owner of \(partition.number) cannot tell whether its commit took place")
        }
        excuse(&broker)
        forget(&broker)
        if phase == .running || phase == .draining { phase = .assigned }
    }

    /// Calls that are made may be answered; what was not begun is left to the next owner.
    private func beginDraining(_ now: Int64) {
        phase = .draining
        deadline = now + 20_000_000_000
        drainedAt = nil
        calls.removeAll { !$0.isBegun }
    }

    /// Ends the draining when calls are done or time is up, and the rest is committed.
    private func finishDraining(_ broker: inout ModelBroker) {
        let now = broker.now
        if now >= deadline || cycle.isOutOfGroup { reportCalls(&broker) }
        guard !hasOwnCalls || partitions.isEmpty else { return }
        let isCommitted = cycle.isOnlyClosing && !hasSomethingToCommit(now)
        if isCommitted && !cycle.isOutOfGroup && !partitions.isEmpty {
            drainedAt = drainedAt ?? now
            if isClosingDue(now) { return }
        }
        let isGivenUp = cycle.isOutOfGroup || now >= deadline + terms.commit.transactionTimeout
        guard isCommitted || isGivenUp || partitions.isEmpty else { return }
        // In order, what is finished behind a request that was left to the next owner cannot go out. That owner knows that it was begun.
        if isCommitted && outbox.isEmpty { broker.count(\.drained) } else { excuse(&broker) }
        join(&broker)
    }

    /// Time is up: calls that are made get their result without an answer, or are lost, or even what is finished is given up.
    func cut(_ value: Int, _ broker: inout ModelBroker) {
        guard phase == .draining else { return }
        broker.count(\.cut)
        switch value % 3 {
        case 0:
            excuse(&broker)
            // A replaced process hears that it is no member, and no more.
            if broker.group.isMember(member) { join(&broker) }
        case 1: reportCalls(&broker)
        default: loseCalls(&broker)
        }
    }

    private func reportCalls(_ broker: inout ModelBroker) {
        let own = calls.filter { $0.epoch == epoch }
        calls.removeAll { $0.epoch == epoch }
        for call in own { record(call, &broker) }
    }

    private func loseCalls(_ broker: inout ModelBroker) {
        for call in calls where call.epoch == epoch {
            if !isExcused { broker.excuse(call.record) }
            partitions[call.slot].hasLostCalls = true
        }
        calls.removeAll { $0.epoch == epoch }
    }

    /// Forgets the assignment and everything that belongs to it; calls that are made end with an old epoch.
    private func forget(_ broker: inout ModelBroker) {
        partitions = []
        outbox.removeAll(keepingCapacity: true)
        calls.removeAll { !$0.isBegun }
        epoch += 1
        isOpening = false
        isRefreshDue = false
        drainedAt = nil
        perform(cycle.assignmentEnded(), &broker)
    }

    /// Accounts for what the next owner has to call again, once for each assignment.
    func excuse(_ broker: inout ModelBroker) {
        guard !isExcused else { return }
        isExcused = true
        var records: [Int] = []
        for call in calls where call.epoch == epoch && call.isBegun { records.append(call.record) }
        var finished = Set(outbox.map(\.record))
        if let offered, offered.epoch == epoch { finished.formUnion(offered.batch.map(\.record)) }
        for record in records + finished { broker.excuse(record) }
    }

    func stop(_ broker: inout ModelBroker) {
        excuse(&broker)
        phase = .stopped
    }
}
