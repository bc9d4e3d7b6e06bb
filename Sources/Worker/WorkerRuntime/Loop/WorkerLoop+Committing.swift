import Basics
import Delivery
import EventLoop
import Kafka
import Observability

/// From finished requests to a confirmed commit: what `CommitCycle` decides is done here.
extension WorkerLoop {
    /// Offers what is finished to the committer, if it is time.
    func offerCommit() {
        guard membership.isProducerReady, !partitions.isEmpty else { return }
        let isHurried = mode != .running || membership.isOpening || isCommitUrgent
        perform(cycle.due(waiting: outbox.records.count, partitions: marks.touchedCount, isHurried: isHurried, now: now))
    }

    /// The moment at which `offerCommit` must be called at the latest.
    var nextCommit: MonotonicTime {
        guard membership.isProducerReady, !partitions.isEmpty else { return .never }
        return cycle.wakeTime(waiting: outbox.records.count, partitions: marks.touchedCount, isHurried: isCommitUrgent, now: now)
    }

    /// Does what the cycle says. `error` is what went wrong, if something did.
    private func perform(_ action: CommitCycle.Action, after error: KafkaError? = nil) {
        switch action {
        case .wait: break
        case .check: checkForResults()
        case .offer(let selection): offer(selection)
        case .offerAgain(let standing): handOver(as: standing)
        case .settle(let closes): settle(closes: closes)
        case .putBack: putBack()
        case .putBackInOrder:
            log.error(
                .commitFailed, "offset metadata too large for the broker; publishing results in offset order",
                [.reason: .string("\(text(of: error)); set the broker's offset.metadata.max.bytes to 4096 or more")])
            putBack()
        case .cutDeadLetters: _ = offered.job?.batch.cutLargeDeadLetters()
        case .writeDeadLetter(let unit):
            writeDeadLetter(for: unit, error: error)
            putBack()
        case .forget: offered.job = nil
        case .reset(let reason):
            beginAssignmentAgain(because: reason.text)
            offered.job = nil
        case .stop: fail(.fenced(text(of: error)))
        }
    }

    private func text(of error: KafkaError?) -> String { error?.description ?? "" }

    private func checkForResults() {
        guard hasSomethingToCommit || membership.isClosing(now: now) && partitions.contains(where: \.isToBeClosed) else {
            return cycle.noteNothingPending(waiting: outbox.records.count, now: now)
        }
        let holdings = CommitCycle.Holdings(
            recordCount: outbox.records.count, byteCount: outbox.byteCount,
            isDrained: mode != .running && flights.activeCount == 0, hasPositions: isReserveShort)
        perform(cycle.noteHoldings(holdings, now: now) { outbox.units(in: partitions) })
    }

    private func offer(_ selection: CommitSelection) {
        offered.take(selection, from: &outbox)
        let facts = OfferFacts(
            closes: selection.closes, isRunning: mode == .running, isDoubtful: membership.isDoubtful, isInOrder: cycle.isInOrder,
            now: now)
        // Each partition has a position to commit that is closed or may be another's.
        let slots = facts.closes || facts.isDoubtful ? Array(partitions.indices) : marks.uncommitted.slots.sorted()
        for slot in slots where partitions[slot].isToBeCommitted(facts, parentsMark: parents.mark(of: slot)) {
            let left = selection.left[slot]
            let end = partitions[slot].reserveEnd(facts, isWhole: left == nil)
            guard let position = position(of: slot, leavingOut: left ?? [], begunBefore: end) else { continue }
            // What leaves everything out says nothing.
            if left != nil && position == partitions[slot].committed { continue }
            offered.add(position, of: slot, partition: partitions[slot].id, before: partitions[slot].committed)
            partitions[slot].noteOffer(reserveEnd: end, isWhole: left == nil)
            parents.noteOffer(of: slot, leavingOut: left ?? [])
        }
        marks.noteOffer(of: partitions)
        scheduler.isRefreshDue = false
        handOver(as: .unpublished)
    }

    /// The position to commit for a partition, or nil when it has none yet.
    private func position(of slot: Int, leavingOut left: [Int64], begunBefore: Int64?) -> LedgerCommit? {
        parents.commit(of: slot, leavingOut: left, marks: partitions[slot].marks)
            ?? partitions[slot].commit(leavingOut: left, begunBefore: begunBefore, isInOrder: cycle.isInOrder)
    }

    /// True if a commit would record anything.
    private var hasSomethingToCommit: Bool {
        if scheduler.isRefreshDue || membership.isOpening || isReserveShort { return true }
        if !outbox.isEmpty, !cycle.isInOrder || marks.uncommitted.slots.contains(where: mayPublishInOrder) { return true }
        return (mode != .running || cycle.isGapDue(now: now)) && marks.haveUncommitted(of: partitions, where: hasUncommittedGap)
    }

    private func hasUncommittedGap(_ slot: Int) -> Bool {
        partitions[slot].hasUncommittedGap(parentsMark: parents.mark(of: slot))
    }

    private func mayPublishInOrder(_ slot: Int) -> Bool {
        partitions[slot].mayPublishInOrder(parentsMark: parents.mark(of: slot))
    }

    /// Lets time pass for the membership. While partitions are given up, says how far that is.
    func tickMembership() {
        let isOutOfGroup = cycle.isOutOfGroup
        perform(membership.tick(isOutOfGroup: isOutOfGroup, now: now))
        guard membership.isDraining else { return }
        let work = Membership.Work(
            isIdle: flights.activeCount == 0, isCommitted: cycle.isOnlyClosing && !hasSomethingToCommit,
            isOutOfGroup: isOutOfGroup, canClose: partitions.contains(where: \.isToBeClosed))
        perform(membership.noteWork(work, now: now))
    }

    /// True if no more is begun until a commit: a record waits for it, or there is no room for more results.
    var isCommitUrgent: Bool { isReserveShort || !hasRoomForOutcomes }

    /// True if a record waits for a commit that lets it be begun.
    var isReserveShort: Bool { mode == .running && !marks.short.isEmpty }

    /// Has partitions without records give their reserves back.
    func watchReserves() {
        guard mode == .running, !cycle.isInOrder else { return }
        if marks.isRestDue(in: partitions, now: now) { scheduler.isRefreshDue = true }
    }

    /// Gives the offered batch to the committer, fenced by the worker's present place in the group.
    private func handOver(as standing: CommitJob.Standing) {
        offered.job?.standing = standing
        guard var job = offered.job else { return }
        do throws(KafkaError) {
            job.group = configuration.guarantee == .exactlyOnce ? try consumer.group.metadata() : nil
            offered.job = job
            committer.submit(.commit(job))
        } catch {
            // Out of the group for the moment: what is finished waits until it is clear whose the partitions are.
            cycle.notHandedOver(isOutOfGroup: error.isOutOfGroup, now: now)
        }
    }

    /// Takes the committer's replies.
    func handleReplies() {
        while let reply = committer.nextReply() {
            switch reply {
            case .prepared(let lanes, let parents, let hasHandles): prepared(lanes, parents: parents, hasHandles: hasHandles)
            case .failed(let error): preparationFailed(error)
            case .positions(let positions, let ends, let epoch):
                perform(membership.positionsKnown(epoch: epoch), with: (positions, ends))
            case .positionsFailed(let error, let epoch): positionsFailed(error, epoch: epoch)
            case .examined(let findings, let epoch): examined(findings, epoch: epoch)
            case .probed(let error): probed(error)
            case .surveyed(let unread): perform(membership.surveyed(unread.map { Membership.Partition($0) }, now: now))
            case .control(let end, let epoch): controlAnswered(end, epoch: epoch)
            case .committed(let lanes): committed(lanes)
            case .impossible(let reason) where cycle.isOffering:
                metrics.commitFailures.increment()
                perform(cycle.impossible(reason))
            case .commitFailed(let error, let standing): commitFailed(error, standing: standing)
            case .fenced(let error):
                log.error(.fenced, "the brokers take this worker for an outdated one", [.reason: .string(error.description)])
                perform(cycle.takenOver(), after: error)
            case .impossible, .stopped: break
            }
        }
    }

    private func prepared(_ lanes: DelayLanes, parents: Int32, hasHandles: Bool) {
        membership.producerPrepared()
        scheduler.delays.lanes = lanes
        recorders.expansions.partitionCount = parents
        details.isWanted = hasHandles
        health.producerReady()
    }

    private func preparationFailed(_ error: KafkaError) {
        noteKafkaError(error)
        if error.isConfiguration { fail(.configuration(error.description)) }
        health.producerFailed(error.description)
        membership.producerFailed(now: now)
    }

    private func committed(_ lanes: DelayLanes) {
        scheduler.delays.lanes = lanes
        // No copy of the batch stays here, because its memory is used again.
        guard let byteCount = offered.job?.batch.byteCount, let resultCount = offered.job?.batch.resultCount else { return }
        facts.lastCommit = wallClock
        membership.producerPrepared()
        health.producerReady()
        if health.isBrokerDoubtful { health.joined() }
        metrics.resultsPublished.increment(by: UInt64(resultCount))
        perform(cycle.confirmed(byteCount: byteCount, now: now) { offered.job?.batch.units() ?? [] })
    }

    /// The group stands where the offered batch says, whose memory is kept for the batch after the next.
    private func settle(closes: Bool) {
        for (slot, position) in offered.positions {
            marks.noteCommit(of: slot, wasClosed: partitions[slot].isClosed, closes: closes)
            partitions[slot].noteCommit(of: LedgerCommit(position), closes: closes)
            parents.noteCommit(of: slot)
            if let lane = partitions[slot].role.lane { lanes[lane.rawValue].windowMoved(slot) }
        }
        marks.keepShort(of: partitions)
        membership.noteCommit(hasClosed: marks.closedCount > 0)
        offered.recycle()
    }

    private func commitFailed(_ error: KafkaError, standing: CommitJob.Standing) {
        guard let job = offered.job else { return }
        offered.job?.standing = standing
        if standing == .written { offered.noteWritten() }
        metrics.commitFailures.increment()
        metrics.resultsFailed.increment(by: UInt64(job.batch.resultCount))
        log.warning(.commitFailed, "results could not be committed and are offered again", [.reason: .string(error.description)])
        perform(
            cycle.noteFailure(CommitCycle.Cause(error), standing: standing, now: now) { job.batch.units(in: partitions) },
            after: error)
        // Where others are taken, a rejected record says nothing against the brokers.
        if !error.refusesRecords || cycle.isOverdue(now: now) { health.producerFailed(error.description) }
    }

    /// Puts a batch of which nothing is published back, to be offered again and perhaps otherwise.
    private func putBack() {
        for slot in offered.putBack(into: &outbox) {
            partitions[slot].putBack()
            marks.notePutBack(slot)
        }
    }

    /// Replaces a committer whose job does not end. The next one is offered the same batch.
    func watchCommitter() {
        guard let since = committer.busySince else { return }
        let duration = MonotonicTime.now() - since
        guard duration > configuration.committerTimeout.wholeNanoseconds else { return }
        log.error(
            .commitFailed, "Kafka call timed out; producer abandoned and replaced",
            [.durationMilliseconds: LogValue(duration / 1_000_000)])
        metrics.commitFailures.increment()
        committer.abandon()
        committer = Committer(configuration, group: consumer.group, clock: clock, wakeUp: control.wakeUp)
        health.producerFailed("a Kafka call timed out")
        perform(membership.committerReplaced(now: now))
        perform(cycle.committerReplaced(now: now))
    }
}
