import Basics
import Delivery
import TestSupport

/// From outcomes to a confirmed commit: what `CommitCycle` decides is done here, as in the loop.
extension ModelWorker {
    /// Offers what is finished, if it is time.
    func offerCommit(_ broker: inout ModelBroker) {
        guard mode != .stopped, membership.isProducerReady, !partitions.isEmpty else { return }
        let isHurried = mode != .running || membership.isOpening || isReserveShort
        perform(cycle.due(waiting: outbox.count, partitions: 1, isHurried: isHurried, now: .at(broker.now)), &broker)
    }

    func publish(to broker: inout ModelBroker) {
        guard mode != .stopped else { return }
        handle(committer.publish(to: &broker), &broker)
    }

    func commit(to broker: inout ModelBroker) {
        guard mode != .stopped else { return }
        handle(committer.commit(to: &broker), &broker)
    }

    /// The transaction fails before its commit.
    func fail(isTimeout: Bool, _ broker: inout ModelBroker) {
        guard mode != .stopped else { return }
        handle(committer.fail(isTimeout: isTimeout, &broker), &broker)
    }

    func commitUnanswered(_ fate: ModelCommitter.Fate, _ broker: inout ModelBroker) {
        guard mode != .stopped else { return }
        handle(committer.commitUnanswered(fate, &broker), &broker)
    }

    /// The committer does not answer, and another takes its place.
    func replaceCommitter(_ fate: ModelCommitter.Fate, _ broker: inout ModelBroker) {
        guard mode != .stopped, committer.isBusy else { return }
        broker.count(\.committersReplaced)
        committer.abandon(fate, &broker)
        perform(membership.committerReplaced(now: broker.moment), &broker)
        perform(cycle.committerReplaced(now: .at(broker.now)), &broker)
    }

    private func handle(_ reply: ModelCommitter.Reply?, _ broker: inout ModelBroker) {
        guard let reply else { return }
        let now = broker.now
        let batch = offered?.batch ?? []
        switch reply {
        case .committed:
            membership.producerPrepared()
            let byteCount = offered?.byteCount ?? 0
            perform(cycle.confirmed(byteCount: byteCount, now: .at(now)) { units(of: batch) }, &broker)
        case .overtaken: perform(cycle.impossible(.overtaken), &broker)
        case .failed(let cause, let standing):
            offered?.standing = standing
            perform(cycle.noteFailure(cause, standing: standing, now: .at(now)) { units(of: batch) }, &broker)
        case .fenced: perform(cycle.takenOver(), &broker)
        }
    }

    func perform(_ action: CommitCycle.Action, _ broker: inout ModelBroker) {
        switch action {
        case .wait, .cutDeadLetters: break
        case .check: lookForResults(&broker)
        case .offer(let selection): offer(selection, &broker)
        case .offerAgain(let standing):
            offered?.standing = terms.sabotage == .publishesAgain ? .unpublished : standing
            handOver(&broker)
        case .settle(let closes): settle(closes: closes, &broker)
        case .putBack: putBack(&broker)
        case .putBackInOrder:
            broker.count(\.inOrder)
            putBack(&broker)
        case .writeDeadLetter(let unit):
            writeDeadLetter(for: unit, &broker)
            putBack(&broker)
        case .forget:
            broker.count(\.forgotten)
            offered = nil
        case .reset:
            offered = nil
            beginAssignmentAgain(&broker)
        case .stop: stop(&broker)
        }
    }

    private func lookForResults(_ broker: inout ModelBroker) {
        let isClosing = membership.isClosing(now: broker.moment) && partitions.contains(where: \.isToBeClosed)
        guard hasSomethingToCommit(broker.now) || isClosing else { return }
        let holdings = CommitCycle.Holdings(
            recordCount: outbox.count, byteCount: outbox.reduce(0) { $0 + $1.byteCount },
            isDrained: mode != .running && !hasOwnCalls, hasPositions: isReserveShort)
        perform(cycle.noteHoldings(holdings, now: .at(broker.now)) { units(of: outbox) }, &broker)
    }

    /// The units of a batch, in the order of partitions and offsets.
    private func units(of batch: [ModelOutcome]) -> [CommitUnit] {
        let order = batch.indices.sorted {
            let (first, second) = (batch[$0].id, batch[$1].id)
            return (first.slot, first.offset, $0) < (second.slot, second.offset, $1)
        }
        var units: [CommitUnit] = []
        for index in order {
            let outcome = batch[index]
            if units.last?.id != outcome.id { units.append(CommitUnit(outcome.id)) }
            let last = units.count - 1
            units[last].places.append(index)
            units[last].byteCount += outcome.byteCount
            units[last].topics.insert(outcome.topic)
        }
        for index in units.indices where partitions.indices.contains(units[index].id.slot) {
            let mark = partitions[units[index].id.slot].ledger?.lowWaterMark
            units[index].isNext = units[index].id.offset < mark ?? .min
        }
        return units
    }

    private func offer(_ selection: CommitSelection, _ broker: inout ModelBroker) {
        var job = ModelCommitter.Job(batch: takeBatch(selection), epoch: epoch, member: member)
        if !selection.left.isEmpty { broker.count(\.divided) }
        for slot in partitions.indices where isToBeCommitted(slot, closes: selection.closes, broker.now) {
            let left = selection.left[slot]
            let known = terms.sabotage == .forgetsWhatIsLeft ? [] : left ?? []
            let end = reserveEnd(of: slot, isWhole: left == nil, closes: selection.closes, broker.now)
            guard let position = position(of: slot, leavingOut: known, begunBefore: end) else { continue }
            // What leaves everything out says nothing.
            if left != nil && position == partitions[slot].committed { continue }
            if position.metadata.utf8.count > 2759 { broker.fail("the metadata has \(position.metadata.utf8.count) characters") }
            job.slots.append(slot)
            job.positions.append((partitions[slot].number, position))
            job.before.append(partitions[slot].committed)
            partitions[slot].isDirty = left != nil
            partitions[slot].reserve.offer(end)
        }
        isRefreshDue = false
        offered = job
        handOver(&broker)
    }

    private func takeBatch(_ selection: CommitSelection) -> [ModelOutcome] {
        let isTaken = outbox.indices.map { selection.isAll || selection.places.contains($0) }
        let batch = outbox.indices.filter { isTaken[$0] }.map { outbox[$0] }
        outbox = outbox.indices.filter { !isTaken[$0] }.map { outbox[$0] }
        return batch
    }

    private func isToBeCommitted(_ slot: Int, closes: Bool, _ now: Int64) -> Bool {
        if partitions[slot].isDirty || partitions[slot].hasUncommittedGap { return true }
        if closes { return partitions[slot].isToBeClosed }
        guard mode == .running else { return false }
        return partitions[slot].isClosed || partitions[slot].isReserveShort || partitions[slot].isRestDue(now: .at(now))
    }

    private func reserveEnd(of slot: Int, isWhole: Bool, closes: Bool, _ now: Int64) -> Int64? {
        if closes { return partitions[slot].endOfBegun }
        return isWhole && !cycle.isInOrder ? partitions[slot].nextReserve(now: .at(now)) : nil
    }

    private func position(of slot: Int, leavingOut left: [Int64], begunBefore: Int64?) -> LedgerCommit? {
        guard let ledger = partitions[slot].ledger else { return nil }
        var position = left.isEmpty ? ledger.commit(begunBefore: begunBefore) : ledger.commit(leavingOut: left)
        if cycle.isInOrder { position = position.inOrder(after: partitions[slot].recorded) }
        return position
    }

    func hasSomethingToCommit(_ now: Int64) -> Bool {
        if isRefreshDue || membership.isOpening || isReserveShort { return true }
        if mode == .running, !cycle.isInOrder, partitions.contains(where: { $0.isRestDue(now: .at(now)) }) { return true }
        let hasGap = partitions.contains(where: \.hasUncommittedGap)
        if !outbox.isEmpty && (!cycle.isInOrder || hasGap) { return true }
        return (mode != .running || cycle.isGapDue(now: .at(now))) && hasGap
    }

    var isReserveShort: Bool { mode == .running && partitions.contains(where: \.isReserveShort) }

    /// Gives the offered batch to the committer, fenced by the worker's present place in the group.
    private func handOver(_ broker: inout ModelBroker) {
        guard var job = offered else { return }
        guard member.id != 0 || terms.sabotage == .ignoresTheGuard else {
            broker.count(\.guarded)
            cycle.notHandedOver(isOutOfGroup: true, now: .at(broker.now))
            return
        }
        job.member = member
        offered = job
        committer.take(job, &broker)
    }

    private func settle(closes: Bool, _ broker: inout ModelBroker) {
        guard let job = offered else { return }
        offered = nil
        guard job.epoch == epoch else {
            broker.fail("positions of another assignment are taken for those of this one")
            return
        }
        for (slot, position) in zip(job.slots, job.positions) {
            if broker.position(position.partition) != position.commit {
                broker.fail("\(position.commit) is taken for the position of \(position.partition)")
            }
            if partitions[slot].isClosed && !closes { broker.count(\.opened) }
            if closes { broker.count(\.closed) }
            partitions[slot].committed = position.commit
            partitions[slot].recorded = position.commit
            partitions[slot].isClosed = closes
            partitions[slot].reserve.noteCommit()
        }
        membership.noteCommit(hasClosed: partitions.contains(where: \.isClosed))
    }

    /// Puts a batch of which nothing is published back, to be offered again and perhaps otherwise.
    private func putBack(_ broker: inout ModelBroker) {
        guard let job = offered else { return }
        offered = nil
        broker.count(\.putBack)
        if job.epoch != epoch {
            broker.fail("results of another assignment are offered again")
            return
        }
        for slot in job.slots {
            partitions[slot].isDirty = true
            partitions[slot].reserve.withdrawn()
        }
        if terms.sabotage == .dropsWhatIsPutBack { return }
        if terms.sabotage == .callsAgain {
            for outcome in job.batch { broker.called(outcome.record, by: member, isSuspected: true) }
        }
        outbox = job.batch + outbox
    }

    private func writeDeadLetter(for unit: CommitUnit.ID, _ broker: inout ModelBroker) {
        guard let first = offered?.batch.first else { return }
        if offered?.batch.contains(where: { $0.id != unit }) ?? true { broker.fail("a dead letter stands for others too") }
        broker.gaveUp(first.record, patience: terms.commit.refusalPatience, isInOrder: cycle.isInOrder)
        offered?.batch = [ModelOutcome(record: first.record, id: unit, topic: .deadLetters, byteCount: 300)]
    }
}
