import Basics
import Delivery
import EventLoop
import Kafka
import Observability
import PushModel

/// From finished requests to a confirmed commit: what `CommitCycle` decides is done here.
extension WorkerLoop {
    /// Offers what is finished to the committer, if it is time.
    func offerCommit() {
        guard membership.isProducerReady, !partitions.isEmpty else { return }
        let isHurried = mode != .running || membership.isOpening || isReserveShort
        perform(cycle.due(waiting: outbox.records.count, isHurried: isHurried, now: now))
    }

    /// Does what the cycle says.
    ///
    /// - Parameters:
    ///   - action: What to do.
    ///   - error: What went wrong, if something did.
    func perform(_ action: CommitCycle.Action, after error: KafkaError? = nil) {
        switch action {
        case .wait: break
        case .check: checkForResults()
        case .offer(let selection): offer(selection)
        case .offerAgain(let standing):
            offered.job?.standing = standing
            handOver()
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
            switch reason {
            case .overtaken: beginAssignmentAgain(because: "another member or tool has moved the group's positions")
            case .misplaced: beginAssignmentAgain(because: "the topic of held requests has fewer partitions than it had")
            }
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
        perform(cycle.noteHoldings(holdings, now: now) { units(of: outbox) })
    }

    /// The units of a batch, with what is known of their partitions.
    private func units(of batch: borrowing OutcomeBatch) -> [CommitUnit] {
        var units = batch.units()
        for index in units.indices {
            let id = units[index].id
            if parents.slots.contains(id.slot) {
                // What parents come to has no place in an order.
                units[index].isWhole = true
            } else {
                units[index].isNext = partitions[id.slot].begins(after: id.offset)
            }
        }
        return units
    }

    private func offer(_ selection: CommitSelection) {
        var job = CommitJob(batch: takeBatch(selection), offsets: [], before: [])
        offered.slots = []
        for slot in partitions.indices where isToBeCommitted(slot, closes: selection.closes) {
            let left = selection.left[slot]
            let end = reserveEnd(of: slot, isWhole: left == nil, closes: selection.closes)
            guard let position = position(of: slot, leavingOut: left ?? [], begunBefore: end) else { continue }
            // What leaves everything out says nothing.
            if left != nil && LedgerCommit(position) == partitions[slot].committed { continue }
            job.offsets.append(position)
            job.before.append(partitions[slot].committed)
            offered.slots.append(slot)
            partitions[slot].reserve.offer(end)
            partitions[slot].isDirty = left != nil
            if parents.slots.contains(slot) { parents[slot].offered(leavingOut: left ?? []) }
        }
        ordered.isRefreshDue = false
        offered.job = job
        handOver()
    }

    private func takeBatch(_ selection: CommitSelection) -> OutcomeBatch {
        guard selection.isAll else { return outbox.remove(selection.places) }
        let batch = outbox
        outbox = offered.spare
        offered.spare = OutcomeBatch()
        return batch
    }

    private func isToBeCommitted(_ slot: Int, closes: Bool) -> Bool {
        if partitions[slot].isDirty || hasUncommittedGap(slot) { return true }
        if closes { return partitions[slot].isToBeClosed }
        let isWanted = partitions[slot].isClosed || membership.isDoubtful && partitions[slot].ledger != nil
        return mode == .running && (isWanted || partitions[slot].isReserveShort || partitions[slot].isRestDue(now: now))
    }

    /// The offset behind which nothing is begun at a position that is offered now, or nil if it does not say that.
    private func reserveEnd(of slot: Int, isWhole: Bool, closes: Bool) -> Int64? {
        if closes { return partitions[slot].endOfBegun }
        return isWhole && !cycle.isInOrder ? partitions[slot].nextReserve(now: now) : nil
    }

    /// The position to commit for a partition, or nil when it has none yet.
    private func position(of slot: Int, leavingOut left: [Int64], begunBefore: Int64?) -> OffsetCommit? {
        if parents.slots.contains(slot) {
            let position = parents[slot].commit(leavingOut: left, marks: partitions[slot].marks)
            return OffsetCommit(partitions[slot].id, offset: position.offset, metadata: position.metadata)
        }
        guard let ledger = partitions[slot].ledger else { return nil }
        let marks = partitions[slot].marks
        var position =
            left.isEmpty
            ? ledger.commit(marks: marks, begunBefore: begunBefore) : ledger.commit(leavingOut: left, marks: marks)
        if cycle.isInOrder { position = position.inOrder(after: partitions[slot].recorded) }
        return OffsetCommit(partitions[slot].id, offset: position.offset, metadata: position.metadata)
    }

    /// True if a partition's mark has moved over records without a result, which nothing else would commit.
    private func hasUncommittedGap(_ slot: Int) -> Bool {
        guard parents.slots.contains(slot) else { return partitions[slot].hasUncommittedGap }
        return parents[slot].lowWaterMark > partitions[slot].committed?.offset ?? 0
    }

    /// True if a commit would record anything.
    var hasSomethingToCommit: Bool {
        if ordered.isRefreshDue || membership.isOpening || isReserveShort { return true }
        if cycle.isInOrder ? !outbox.isEmpty && partitions.indices.contains(where: mayPublishInOrder) : !outbox.isEmpty {
            return true
        }
        return (mode != .running || cycle.isGapDue(now: now)) && partitions.indices.contains(where: hasUncommittedGap)
    }

    /// True if a record waits for a commit that lets it be begun.
    var isReserveShort: Bool {
        mode == .running && lanes.contains(where: \.isBlocked) && partitions.contains(where: \.isReserveShort)
    }

    /// Has partitions without records give their reserves back.
    func watchReserves() {
        guard mode == .running, !cycle.isInOrder else { return }
        if partitions.contains(where: { $0.isRestDue(now: now) }) { ordered.isRefreshDue = true }
    }

    /// Whether results of a partition may be in the outbox that wait for none before them. To look for them there, at every turn, would
    /// take as long as there are many.
    private func mayPublishInOrder(_ slot: Int) -> Bool {
        parents.slots.contains(slot) ? partitions[slot].isDirty : hasUncommittedGap(slot)
    }

    /// Gives the offered batch to the committer, fenced by the worker's present place in the group.
    private func handOver() {
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
            case .prepared(let lanes, let parents, let hasHandles):
                membership.producerPrepared()
                delayLanes = lanes
                recorders.expansions.partitionCount = parents
                details.isWanted = hasHandles
                health.producerReady()
            case .failed(let error):
                noteKafkaError(error)
                if error.isConfiguration { fail(.configuration(error.description)) }
                health.producerFailed(error.description)
                membership.producerFailed(now: now)
            case .positions(let positions, let ends, let epoch):
                perform(membership.positionsKnown(epoch: epoch), with: (positions, ends))
            case .positionsFailed(let error, let epoch): positionsFailed(error, epoch: epoch)
            case .probed(let error): probed(error)
            case .surveyed(let unread):
                perform(membership.surveyed(unread.map { Membership.Partition($0) }, now: now))
            case .committed(let lanes): committed(lanes)
            case .impossible(let reason): commitIsImpossible(reason)
            case .commitFailed(let error, let standing): commitFailed(error, standing: standing)
            case .fenced(let error):
                log.error(.fenced, "the brokers take this worker for an outdated one", [.reason: .string(error.description)])
                perform(cycle.takenOver(), after: error)
            case .stopped: break
            }
        }
    }

    private func committed(_ lanes: DelayLanes) {
        delayLanes = lanes
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
        for (slot, offset) in zip(offered.slots, offered.job?.offsets ?? []) {
            partitions[slot].committed = LedgerCommit(offset)
            partitions[slot].recorded = partitions[slot].committed
            partitions[slot].isClosed = closes
            partitions[slot].reserve.noteCommit()
            if parents.slots.contains(slot) { parents[slot].recorded() }
        }
        for lane in lanes.indices where lanes[lane].isBlocked { lanes[lane].mayHaveRecords = true }
        membership.noteCommit(hasClosed: partitions.contains(where: \.isClosed))
        offered.recycle()
    }

    private func commitIsImpossible(_ reason: CommitCycle.ResetCause) {
        guard cycle.isOffering else { return }
        metrics.commitFailures.increment()
        perform(cycle.impossible(reason))
    }

    private func commitFailed(_ error: KafkaError, standing: CommitJob.Standing) {
        guard let job = offered.job else { return }
        offered.job?.standing = standing
        if standing == .written { offered.noteWritten() }
        metrics.commitFailures.increment()
        metrics.resultsFailed.increment(by: UInt64(job.batch.resultCount))
        log.warning(.commitFailed, "results could not be committed and are offered again", [.reason: .string(error.description)])
        perform(cycle.noteFailure(CommitCycle.Cause(error), standing: standing, now: now) { units(of: job.batch) }, after: error)
        // Where others are taken, a rejected record says nothing against the brokers.
        if !error.refusesRecords || cycle.isOverdue(now: now) { health.producerFailed(error.description) }
    }

    /// Puts a batch of which nothing is published back, to be offered again and perhaps otherwise.
    private func putBack() {
        guard let job = offered.job else { return }
        offered.job = nil
        var batch = job.batch
        batch.append(contentsOf: outbox)
        outbox = batch
        for slot in offered.slots { partitions[slot].putBack() }
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
