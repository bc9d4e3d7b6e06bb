import Basics
import Delivery

/// What a model worker hears: from the group, from its committer, and from whoever stops it.
extension ModelWorker {
    /// Hears from its committer and from the group, and lets time pass: what the loop does in a turn.
    func heartbeat(isReplaced: Bool, _ broker: inout ModelBroker) {
        hear(&broker)
        if mode == .stopped { return }
        if broker.group.isMember(member) {
            hearFromGroup(&broker)
        } else if isReplaced {
            stop(&broker)
        } else {
            missed(&broker)
        }
        if mode == .stopped { return }
        perform(membership.secondPassed(isBrokerDoubtful: false, now: broker.moment), &broker)
        tick(&broker)
    }

    /// The committer answers what it was asked.
    ///
    /// - Parameters:
    ///   - isUnanswered: Whether no broker answers it.
    ///   - broker: The broker.
    func answer(isUnanswered: Bool, _ broker: inout ModelBroker) {
        guard mode != .stopped else { return }
        committer.answer(terms, isUnanswered: isUnanswered, &broker)
    }

    /// Hears what the committer has found out.
    func hear(_ broker: inout ModelBroker) {
        guard mode != .stopped else { return }
        let answers = committer.answers
        committer.answers.removeAll()
        let now = broker.moment
        for answer in answers {
            switch answer {
            case .prepared: membership.producerPrepared()
            case .notPrepared: membership.producerFailed(now: now)
            case .positions(let found, let answered):
                if answered != epoch { broker.count(\.outdated) }
                perform(membership.positionsKnown(epoch: answered), &broker, with: found)
            case .positionsFailed(let isTimeout, let answered):
                broker.count(\.unknownPositions)
                perform(membership.positionsFailed(epoch: answered, isTimeout: isTimeout, now: now), &broker)
            case .surveyed(let unread): perform(membership.surveyed(unread, now: now), &broker)
            }
        }
    }

    private func hearFromGroup(_ broker: inout ModelBroker) {
        if broker.group.mustJoin(member) {
            switch client {
            case .assigned:
                client = .revoked
                let isLost = terms.sabotage == .dropsOnRevoke
                perform(membership.revoked(isLost: isLost, now: broker.moment), &broker)
            case .joined: broker.group.join(member)
            case .revoked, .left: break
            }
        } else if client == .joined && member.generation < broker.group.generation && !broker.group.isRebalancing {
            member.generation = broker.group.generation
            client = .assigned
            share = broker.logs.indices.filter { broker.group.isOwner(member, of: $0) }
            perform(membership.assigned(share.map(ModelCommitter.partition), now: broker.moment), &broker)
        }
    }

    /// The group has gone on without this worker: first the client knows, then the worker does, then it begins again.
    private func missed(_ broker: inout ModelBroker) {
        if member.id != 0 {
            member.id = 0
            member.generation = -1
        } else if client == .assigned || client == .revoked {
            broker.count(\.lost)
            client = .left
            perform(membership.revoked(isLost: true, now: broker.moment), &broker)
            if !partitions.isEmpty || !outbox.isEmpty { broker.fail("what was lost is kept") }
        } else {
            member = broker.group.enter(member.slot)
            client = .joined
        }
    }

    /// Lets time pass for the membership; while partitions are given up, says how far that is.
    private func tick(_ broker: inout ModelBroker) {
        let isOutOfGroup = cycle.isOutOfGroup
        perform(membership.tick(isOutOfGroup: isOutOfGroup, now: broker.moment), &broker)
        guard membership.isDraining else { return }
        let work = Membership.Work(
            isIdle: !hasOwnCalls, isCommitted: cycle.isOnlyClosing && !hasSomethingToCommit(broker.now),
            isOutOfGroup: isOutOfGroup, canClose: partitions.contains(where: \.isToBeClosed))
        perform(membership.noteWork(work, now: broker.moment), &broker)
    }

    /// Draining takes so long that calls are cut, or that even what is finished is given up.
    func drainSlowly(_ value: Int, _ broker: inout ModelBroker) {
        guard membership.isDraining, !partitions.isEmpty, drainEnd < .never else { return }
        losesCalls = value % 3 == 2
        let end = value % 3 == 0 ? drainEnd.advanced(byNanoseconds: terms.commit.transactionTimeout) : drainEnd
        broker.now = max(broker.now, end.nanoseconds)
        // A replaced process hears that it is no member, and no more.
        if broker.group.isMember(member) { tick(&broker) }
    }

    /// Someone asks it to stop.
    func askToStop(isUrgent: Bool, _ broker: inout ModelBroker) {
        perform(membership.stopAsked(isUrgent: isUrgent, now: broker.moment), &broker)
        if isUrgent { drainEnd = min(drainEnd, broker.moment) }
    }

    /// The process is gone, or another one has its name.
    func stop(_ broker: inout ModelBroker) {
        excuse(&broker)
        membership.stop()
    }
}
