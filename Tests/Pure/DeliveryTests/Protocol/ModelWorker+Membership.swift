import Basics
import Delivery
import PushModel

/// Partitions that come and go: what `Membership` decides is done here, as in the loop. `AssignmentPlan` says where they begin.
extension ModelWorker {
    /// Does what the membership says.
    ///
    /// - Parameters:
    ///   - actions: What to do, in this order.
    ///   - broker: The broker.
    ///   - found: The group's positions, for partitions that begin.
    func perform(_ actions: [Membership.Action], _ broker: inout ModelBroker, with found: [ModelCommitter.Found] = []) {
        for action in actions {
            switch action {
            case .prepare: committer.questions.append(.prepare)
            case .ask(let partitions, _, let epoch): committer.questions.append(.positions(partitions, epoch: epoch))
            case .begin: begin(found, &broker)
            case .drain: drain(broker.moment)
            case .cut: cut(&broker)
            case .forget: forget(&broker)
            case .drop: drop(&broker)
            case .survey: committer.questions.append(.survey)
            case .rejoin:
                broker.count(\.rejoins)
                if broker.group.isMember(member) { broker.group.rebalance() }
            case .stop: end(&broker)
            case .reportUnreadablePositions, .probe, .examine: break
            }
        }
    }

    /// The group stands where this worker did not put it.
    func beginAssignmentAgain(_ broker: inout ModelBroker) {
        for partition in partitions where broker.group.isOwner(member, of: partition.number) {
            broker.fail("the owner of \(partition.number) cannot tell whether its commit took place")
        }
        excuse(&broker)
        perform(membership.positionsMoved(now: broker.moment), &broker)
    }

    /// Begins what was assigned, as the plan says.
    private func begin(_ found: [ModelCommitter.Found], _ broker: inout ModelBroker) {
        if found.map(\.number) != share { broker.fail("partitions begin without their own positions") }
        let plan = AssignmentPlan(found.map(\.known), window: window, heldWindow: window, reach: nil)
        if plan.partitions.contains(where: { $0.left != nil }) { broker.fail("a position cannot be read") }
        var fresh: [ModelPartition] = []
        for partition in plan.partitions {
            let source = found[partition.index]
            let isUnplaced = source.known.committed == nil && broker.group.isOwner(member, of: source.number)
            if isUnplaced { broker.forgetBegun(source.number) }
            let cursor = broker.index(of: partition.start, in: source.number)
            fresh.append(ModelPartition(source.number, partition, committed: source.known.committed, cursor: cursor))
        }
        partitions = fresh
        isRefreshDue = plan.movesPositions
        isExcused = false
        losesCalls = false
        membership.noteStart(isOpening: plan.isOpening, now: broker.moment, at: Timestamp(milliseconds: broker.now / 1_000_000))
        broker.count(\.takeovers)
    }

    /// Calls that are made may be answered; what was not begun is left to the next owner.
    private func drain(_ now: MonotonicTime) {
        drainEnd = now.advanced(byNanoseconds: terms.drainTimeout)
        calls.removeAll { !$0.isBegun }
    }

    /// Time is up: calls that are made get their result without an answer, or are lost.
    private func cut(_ broker: inout ModelBroker) {
        guard hasOwnCalls else { return }
        broker.count(\.cut)
        if broker.moment < drainEnd && !cycle.isOutOfGroup { broker.fail("calls are cut before their time is up") }
        let own = calls.filter { $0.epoch == epoch && $0.isBegun }
        calls.removeAll { $0.epoch == epoch }
        for call in own {
            guard losesCalls else {
                record(call, &broker)
                continue
            }
            if !isExcused { broker.excuse(call.record) }
            partitions[call.slot].hasLostCalls = true
        }
    }

    /// Gives the partitions up, and answers the group if it waits for that.
    private func drop(_ broker: inout ModelBroker) {
        giveUp(&broker)
        forget(&broker)
        guard client == .revoked else { return }
        client = .joined
        broker.group.join(member)
    }

    /// The worker has stopped. One with a name of its own keeps its place in the group for its next process.
    private func end(_ broker: inout ModelBroker) {
        broker.count(\.stops)
        giveUp(&broker)
        isExcused = true
        if !broker.group.isStatic { broker.group.leave(member) }
    }

    /// Forgets the assignment and everything that belongs to it; calls that are made end with an old epoch.
    private func forget(_ broker: inout ModelBroker) {
        partitions = []
        outbox.removeAll(keepingCapacity: true)
        calls.removeAll { !$0.isBegun }
        isRefreshDue = false
        heldEpoch = epoch
        drainEnd = .never
        perform(cycle.assignmentEnded(), &broker)
    }

    /// Accounts for what is given up and must be called again, if that is how it has to be; all else the next owner must not call.
    private func giveUp(_ broker: inout ModelBroker) {
        let isGone = cycle.isOutOfGroup || !broker.group.isMember(member)
        let isLate = broker.moment >= drainEnd.advanced(byNanoseconds: terms.commit.transactionTimeout)
        // In order, what is finished behind a request that was left to the next owner cannot go out. That owner knows that it was begun.
        let isInTurn = cycle.isInOrder && cycle.isOnlyClosing && !partitions.contains(where: \.hasUncommittedGap)
        if isGone || isLate || isInTurn && !outbox.isEmpty {
            excuse(&broker)
        } else if !partitions.isEmpty {
            broker.count(\.drained)
        }
    }

    /// Accounts for what the next owner has to call again, once for each assignment.
    func excuse(_ broker: inout ModelBroker) {
        guard !isExcused else { return }
        isExcused = true
        var records: [Int] = []
        for call in calls where call.epoch == heldEpoch && call.isBegun { records.append(call.record) }
        var finished = Set(outbox.map(\.record))
        if let offered, offered.epoch == heldEpoch { finished.formUnion(offered.batch.map(\.record)) }
        for record in records + finished { broker.excuse(record) }
    }
}
