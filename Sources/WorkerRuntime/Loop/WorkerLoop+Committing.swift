import Basics
import Delivery
import EventLoop
import Kafka
import Observability
import PushModel

/// From finished requests to a confirmed commit: one batch at a time, kept here until it is confirmed.
extension WorkerLoop {
    /// Offers what is finished to the committer: all of it, as soon as the commit before is confirmed.
    func offerCommit() {
        guard isProducerReady, !partitions.isEmpty else { return }
        if let waiting = offered {
            if let retryAt = waiting.retryAt, now >= retryAt { offer(waiting) }
            return
        }
        let isDue = mode != .running || isOpening || commits.due(waiting: outbox.records.count, now: now) <= now
        guard now >= nextOffer, isDue, hasSomethingToCommit || isClosingDue else { return }
        commits.began(at: now)
        let (batch, left) = takeBatch()
        guard !batch.isEmpty || refusedUnits.isEmpty else {
            nextOffer = now + Self.retryInterval
            return
        }
        var commit = OfferedCommit(job: CommitJob(batch: batch, offsets: [], before: []), epoch: epoch, since: now)
        commit.closes = mode != .running && flights.activeCount == 0 && outbox.isEmpty && left.isEmpty
        for slot in partitions.indices where isToBeCommitted(slot, closes: commit.closes) {
            guard let position = position(of: slot, leavingOut: left[slot] ?? [], closes: commit.closes) else { continue }
            // What leaves everything out says nothing.
            if left[slot] != nil && LedgerCommit(position) == partitions[slot].committed { continue }
            commit.job.offsets.append(position)
            commit.job.before.append(partitions[slot].committed)
            commit.slots.append(slot)
            partitions[slot].isDirty = left[slot] != nil
        }
        ordered.isRefreshDue = false
        nextGapCommit = now + Self.gapCommitInterval
        offer(commit)
    }

    private func isToBeCommitted(_ slot: Int, closes: Bool) -> Bool {
        if partitions[slot].isDirty || hasUncommittedGap(slot) { return true }
        return closes ? partitions[slot].isToBeClosed : mode == .running && partitions[slot].isClosed
    }

    /// What to commit for a partition; nil when it has no position yet.
    private func position(of slot: Int, leavingOut left: [Int64], closes: Bool) -> OffsetCommit? {
        if parents.slots.contains(slot) {
            guard left.isEmpty else { return nil }
            return OffsetCommit(partitions[slot].id, offset: parents[slot].lowWaterMark, metadata: parents.metadata(of: slot))
        }
        guard let ledger = partitions[slot].ledger else { return nil }
        let latest = partitions[slot].latest
        let begunBefore = closes ? partitions[slot].endOfBegun : nil
        let position =
            left.isEmpty
            ? ledger.commit(latest: latest, begunBefore: begunBefore) : ledger.commit(leavingOut: left, latest: latest)
        var metadata = position.metadata
        if publishesInOrder {
            var nothing = FinishedOffsets()
            nothing.latest = latest
            nothing.begun = begunBefore.map { max(0, $0 - position.offset) }
            metadata = nothing.encoded()
        }
        return OffsetCommit(partitions[slot].id, offset: position.offset, metadata: metadata)
    }

    /// Whether it is time to commit that nothing is in work. The worker does not wait long for that: without it, what the next owner
    /// cannot send is only reported as ambiguous.
    var isClosingDue: Bool {
        guard let drainedAt, now < drainedAt + Self.closingPatience else { return false }
        return partitions.contains(where: \.isToBeClosed)
    }

    /// How long that is tried: 2 s in nanoseconds.
    private static let closingPatience: Int64 = 2_000_000_000

    /// Whether a partition's mark has moved over records without a result, which nothing else would commit.
    private func hasUncommittedGap(_ slot: Int) -> Bool {
        guard parents.slots.contains(slot) else { return partitions[slot].hasUncommittedGap }
        return parents[slot].lowWaterMark > partitions[slot].committed?.offset ?? 0
    }

    /// How long offsets without a result wait for another commit: 5 s in nanoseconds.
    private static let gapCommitInterval: Int64 = 5_000_000_000

    /// Whether a commit would record anything.
    var hasSomethingToCommit: Bool {
        if ordered.isRefreshDue || isOpening { return true }
        if publishesInOrder ? !outbox.isEmpty && partitions.indices.contains(where: mayPublishInOrder) : !outbox.isEmpty {
            return true
        }
        return (now >= nextGapCommit || mode != .running) && partitions.indices.contains(where: hasUncommittedGap)
    }

    /// Whether results of a partition may be in the outbox that wait for none before them. To look for them there, at every turn, would
    /// take as long as there are many.
    private func mayPublishInOrder(_ slot: Int) -> Bool {
        parents.slots.contains(slot) ? partitions[slot].isDirty : hasUncommittedGap(slot)
    }

    /// Gives a commit to the committer, fenced by the worker's present place in the group.
    private func offer(_ waiting: OfferedCommit) {
        var commit = waiting
        commit.retryAt = nil
        commit.isOutOfGroup = false
        commit.begun = now
        do throws(KafkaError) {
            commit.job.group = configuration.guarantee == .exactlyOnce ? try consumer.group.metadata() : nil
            committer.submit(.commit(commit.job))
        } catch {
            // Out of the group for the moment: what is finished waits until it is clear whose the partitions are.
            commit.retryAt = now + 200_000_000
            commit.isOutOfGroup = error.isOutOfGroup
        }
        offered = commit
    }

    /// Takes the committer's replies.
    func handleReplies() {
        if !deferredJobs.isEmpty { submitDeferredJobs() }
        while let reply = committer.nextReply() {
            switch reply {
            case .prepared(let lanes, let parents, let hasHandles):
                isProducerReady = true
                delayLanes = DelayLanes(lanes)
                parentPartitionCount = parents
                details.isWanted = hasHandles
                health.producerReady()
            case .failed(let error):
                noteKafkaError(error)
                if error.isConfiguration { fail(.configuration(error.description)) }
                health.producerFailed(error.description)
                later(.prepare, in: .seconds(1))
            case .positions(let positions, let ends, let epoch): assign(positions, ends, epoch)
            case .positionsFailed(let error, let epoch): retryAssignment(error, epoch)
            case .probed(let error): probed(error)
            case .surveyed(let unread): surveyed(unread)
            case .committed: committed()
            case .overtaken: dropCommit(because: "another member or tool has moved the group's positions")
            case .misplaced: dropCommit(because: "the topic of held requests has fewer partitions than it had")
            case .commitFailed(let error, let standing): commitFailed(error, standing)
            case .fenced(let error):
                log.error(.fenced, "another worker has this worker's name", [.reason: .string(error.description)])
                fail(.fenced(error.description))
            case .stopped: break
            }
        }
    }

    private func committed() {
        guard let commit = offered else { return }
        facts.lastCommit = wallClock
        isProducerReady = true
        health.producerReady()
        if health.isBrokerDoubtful { health.joined() }
        metrics.resultsPublished.increment(by: UInt64(commit.job.batch.resultCount))
        noteTaken(commit.job.batch)
        if !commit.job.batch.isEmpty { commitSize.committed(bytes: commit.job.batch.bytes.count, in: now - commit.begun) }
        if commit.epoch == epoch {
            for (slot, offset) in zip(commit.slots, commit.job.offsets) {
                partitions[slot].committed = LedgerCommit(offset)
                partitions[slot].isClosed = commit.closes
            }
            isOpening = mode == .running && partitions.contains(where: \.isClosed)
        }
        reuseBatch(of: commit)
    }

    /// Keeps the memory of a batch that is published for the batch after the next.
    private func reuseBatch(of commit: consuming OfferedCommit) {
        offered = nil
        spareBatch = commit.job.batch
        commit.job.batch = OutcomeBatch()
        spareBatch.removeAll()
    }

    /// Gives up what was offered: it cannot be committed as the partitions are.
    private func dropCommit(because reason: String) {
        guard let commit = offered else { return }
        offered = nil
        metrics.commitFailures.increment()
        if commit.epoch == epoch { beginAssignmentAgain(because: reason) }
    }

    private func commitFailed(_ error: KafkaError, _ standing: CommitJob.Standing) {
        guard var commit = offered else { return }
        offered = nil
        metrics.commitFailures.increment()
        health.producerFailed(error.description)
        metrics.resultsFailed.increment(by: UInt64(commit.job.batch.resultCount))
        log.warning(.commitFailed, "results could not be committed and are offered again", [.reason: .string(error.description)])
        // What belongs to an assignment that has ended is its next owner's.
        guard commit.epoch == epoch else { return }
        if error.isMetadataTooLarge && !publishesInOrder {
            beginPublishingInOrder(commit, error)
            return
        }
        commit.job.standing = standing
        commit.isOutOfGroup = error.isOutOfGroup
        commit.retryAt = now + Self.retryInterval
        if standing == .unpublished, !cure(&commit, error) {
            nextOffer = areAllRefused ? now + Self.retryInterval : now
            return
        }
        commit.hasTimedOut = commit.hasTimedOut || error.isTimeout
        offered = commit
    }

    /// After what time a batch that was refused is offered again: 500 ms in nanoseconds.
    private static let retryInterval: Int64 = 500_000_000

    /// Goes on without the bitmap, for as long as the worker runs: a result then waits for those before it.
    private func beginPublishingInOrder(_ commit: OfferedCommit, _ error: KafkaError) {
        publishesInOrder = true
        log.error(
            .commitFailed,
            "offset metadata too large for the broker; publishing results in offset order",
            [.reason: .string("\(error.description); set the broker's offset.metadata.max.bytes to 4096 or more")])
        outbox.append(contentsOf: commit.job.batch)
        for slot in commit.slots { partitions[slot].isDirty = true }
    }

    /// Replaces a committer whose job does not end; what it had is offered to the next one.
    func watchCommitter() {
        guard let since = committer.busySince else { return }
        let duration = MonotonicTime.now().nanoseconds - since
        guard duration > configuration.committerTimeout.nanoseconds else { return }
        log.error(
            .commitFailed, "Kafka call timed out; producer abandoned and replaced",
            [.durationMilliseconds: LogValue(duration / 1_000_000)])
        metrics.commitFailures.increment()
        committer.abandon()
        committer = Self.makeCommitter(configuration, consumer.group, clock, wakeUp)
        deferredJobs.removeAll()
        isProducerReady = false
        isProbing = false
        survey.began(now)
        health.producerFailed("a Kafka call timed out")
        committer.submit(.prepare)
        if partitions.isEmpty && !pendingAssignment.isEmpty {
            committer.submit(.positions(pendingAssignment, partitionsBehindCommit: partitionsBehindCommit, epoch: epoch))
        }
        guard var commit = offered, commit.retryAt == nil else { return }
        offered = nil
        guard commit.epoch == epoch else { return }
        commit.job.standing = .doubtful
        commit.retryAt = now
        offered = commit
    }

    /// Gives the committer a job after a while.
    func later(_ job: Committer.Job, in delay: Duration) {
        deferredJobs.append((now + delay.nanoseconds, job))
    }

    private func submitDeferredJobs() {
        for (due, job) in deferredJobs where due <= now { committer.submit(job) }
        deferredJobs.removeAll { $0.due <= now }
    }
}
