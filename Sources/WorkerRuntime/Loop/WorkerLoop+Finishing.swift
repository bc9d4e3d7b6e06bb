import Delivery
import Kafka
import Observability
import PushModel

/// From the last outcome to a confirmed commit.
extension WorkerLoop {
    /// Writes the request's one final result.
    func finish(_ flight: Flight) {
        recorder.record(flight, now: wallClock, into: &outbox)
        let conclusion = flight.report.conclusion
        metrics.finished(conclusion.outcome, milliseconds: wallClock.milliseconds - flight.origin.timestamp.milliseconds)
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
        if flight.epoch == epoch {
            partitions[flight.slot].ledger?.finished(flight.origin.offset)
            partitions[flight.slot].isDirty = true
        }
        flights.release(flight)
    }

    /// Forgets a request without an outcome: the partition's next owner takes it up again.
    func abandon(_ flight: Flight) {
        waitingForRetry -= flight.calls.count { $0.phase == .waiting }
        flights.release(flight)
    }

    /// Offers what is finished to the committer: all of it, as soon as the commit before is confirmed.
    func offerCommit() {
        guard isProducerReady, !partitions.isEmpty else { return }
        if let waiting = offered {
            guard let batch = waiting.batch, let retryAt = waiting.retryAt, now >= retryAt else { return }
            offer(batch, waiting.offsets)
            return
        }
        guard !outbox.isEmpty, now >= nextCommit || mode != .running else { return }
        var offsets: [OffsetCommit] = []
        for slot in partitions.indices where partitions[slot].isDirty {
            guard let commit = partitions[slot].ledger?.commit() else { continue }
            offsets.append(OffsetCommit(partitions[slot].id, offset: commit.offset, metadata: commit.metadata))
            partitions[slot].isDirty = false
        }
        let batch = outbox
        outbox = spareBatch
        spareBatch = OutcomeBatch()
        offer(batch, offsets)
    }

    private func offer(_ batch: OutcomeBatch, _ offsets: [OffsetCommit]) {
        let metadata: GroupMetadata?
        do throws(KafkaError) {
            metadata = configuration.guarantee == .exactlyOnce ? try consumer.group.metadata() : nil
        } catch {
            // Out of the group for the moment: what is finished waits until it is clear whose the partitions are.
            offered = OfferedCommit(
                offsets: offsets, epoch: epoch, recordCount: batch.records.count, retryAt: now + 200_000_000, batch: batch)
            return
        }
        offered = OfferedCommit(offsets: offsets, epoch: epoch, recordCount: batch.records.count)
        committer.submit(.commit(batch, offsets, metadata, epoch: epoch))
    }

    /// Takes the committer's replies.
    func handleReplies() {
        if !deferredJobs.isEmpty { submitDeferredJobs() }
        while let reply = committer.nextReply() {
            switch reply {
            case .prepared:
                isProducerReady = true
                health.producerReady()
            case .failed(let error):
                noteKafkaError(error)
                health.producerFailed(error.description)
                later(.prepare, in: .seconds(1))
            case .positions(let positions, let epoch): assign(positions, epoch)
            case .positionsFailed(let error, let epoch): retryAssignment(error, epoch)
            case .probed(let error): probed(error)
            case .committed(let batch, _): committed(batch)
            case .commitFailed(let batch, let error, let epoch): commitFailed(batch, error, epoch)
            case .fenced(let error):
                log.error(.fenced, "another worker has this worker's name", [.reason: .string(error.description)])
                fail(.fenced(error.description))
            case .stopped: break
            }
        }
    }

    private func committed(_ batch: OutcomeBatch) {
        health.producerReady()
        if health.isBrokerDoubtful { health.joined() }
        metrics.resultsPublished.increment(by: UInt64(batch.records.count))
        spareBatch = batch
        spareBatch.removeAll()
        offered = nil
        nextCommit = now + configuration.commitInterval.nanoseconds
    }

    private func commitFailed(_ batch: OutcomeBatch, _ error: KafkaError, _ epoch: Int) {
        metrics.commitFailures.increment()
        health.producerFailed(error.description)
        metrics.resultsFailed.increment(by: UInt64(batch.records.count))
        log.warning(.commitFailed, "results could not be committed and are offered again", [.reason: .string(error.description)])
        guard epoch == self.epoch, var commit = offered else {
            offered = nil
            return
        }
        commit.batch = batch
        if error.name == "MSG_SIZE_TOO_LARGE" { commit.batch?.cutLargeDeadLetters() }
        commit.retryAt = now + 500_000_000
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

    func fail(_ failure: WorkerFailure) {
        self.failure = self.failure ?? failure
        mode = .stopped
    }
}

extension Duration {
    /// The whole duration in nanoseconds.
    var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
