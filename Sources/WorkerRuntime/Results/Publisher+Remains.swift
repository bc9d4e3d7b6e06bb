import Basics
import Delivery
import EventLoop
import Kafka

/// What a broker that crashes can leave of transactions, and its removal.
///
/// A coordinator confirms the end of a transaction before it tells the partitions. If it crashes in between, and is back before the
/// partitions have leaders, it takes them for deleted and never tells them (seen with Kafka 4.3.1, whose log then says "Couldn't find
/// leader endpoint"). The records then share the fate of the producer's next transaction in their partition, and the offsets are neither
/// committed nor dropped. So after any trouble the group's positions are asked whether the latest commit took place, as well as after a
/// commit that took long. What did not is ended by another transaction, over all partitions, that is aborted.
extension Publisher {
    /// A commit that the broker has confirmed: the positions that it moved.
    struct Confirmed {
        let offsets: [OffsetCommit]
        let before: [LedgerCommit?]

        init(_ job: CommitJob) {
            offsets = job.offsets
            before = job.before
        }
    }

    /// Longer than an end takes unless its coordinator goes away meanwhile; what is slow without a cause is checked in vain, and no more.
    static func isPrompt(since start: MonotonicTime) -> Bool {
        MonotonicTime.now().nanoseconds(since: start) < 1_000_000_000
    }

    /// After trouble, finds out whether the latest confirmed commit took place.
    ///
    /// - Returns: False if it did not. Nothing of it is left then, and its requests must be redelivered from the group's positions.
    mutating func settleLatest(_ producer: Producer) throws(KafkaError) -> Bool {
        guard suspectsLostCommit, configuration.guarantee == .exactlyOnce else { return true }
        if let latest {
            let isLost = try outcomeUnlessPending(of: latest).map { $0 == .notCommitted } ?? true
            if isLost {
                try removeRemains(latest.offsets, producer)
                self.latest = nil
                suspectsLostCommit = false
                return false
            }
        }
        suspectsLostCommit = false
        return true
    }

    /// What became of a commit of which it is unknown whether it took place. If it did not, nothing of it is left.
    mutating func settledOutcome(of job: CommitJob, _ producer: Producer) throws(KafkaError) -> DoubtfulCommit {
        let commit = Confirmed(job)
        guard configuration.guarantee == .exactlyOnce else { return try outcome(of: commit, within: .seconds(10)) }
        if let outcome = try outcomeUnlessPending(of: commit), outcome != .notCommitted {
            mayHaveHangingTransaction = false
            return outcome
        }
        try removeRemains(job.offsets, producer)
        return try outcome(of: commit, within: .seconds(10))
    }

    /// The committed positions. When a transaction holds them back that is this worker's own, it is ended, and they can be asked for again.
    mutating func positions(of partitions: [TopicPartition]) throws(KafkaError) -> [CommittedOffset] {
        guard configuration.guarantee == .exactlyOnce, let producer else {
            return try group.committed(partitions, timeout: .seconds(10))
        }
        _ = try settleLatest(producer)
        do throws(KafkaError) {
            return try group.committed(partitions, timeout: .seconds(10))
        } catch {
            guard error.isTimeout else { throw error }
            try removeRemains(partitions.map { OffsetCommit($0, offset: 0, metadata: "") }, producer)
            throw error
        }
    }

    /// Ends, by an abort, whatever transactions of this producer have left open: in every partition that they can have reached, and
    /// in the group's offsets, of which `offsets` are some.
    mutating func removeRemains(_ offsets: [OffsetCommit], _ producer: Producer) throws(KafkaError) {
        mayHaveHangingTransaction = true
        // Topics that are compacted take no record without a key.
        let key: [UInt8] = [0]
        do throws(KafkaError) {
            try producer.beginTransaction()
            for topic in ([results, deadLetters, own?.topic, parents?.topic, held?.topic, handles] + delays).compactMap(\.self) {
                for partition in 0..<(try producer.partitionCount(of: topic, timeout: .seconds(5))) {
                    try producer.produce(to: topic, partition: partition, key: key.span, value: key.span)
                }
            }
            try confirm(producer)
            // The group may have moved on and refuse the offsets; the abort reaches it all the same.
            if let place = try? group.metadata() {
                try? producer.sendOffsets(offsets, group: place, timeout: configuration.transactionTimeout)
            }
            let start = MonotonicTime.now()
            try producer.abortTransaction(timeout: configuration.transactionTimeout)
            mayHaveHangingTransaction = !Self.isPrompt(since: start)
        } catch {
            producer.close(timeout: .zero)
            self.producer = nil
            throw error
        }
    }

    /// What became of a commit; nil while its offsets are neither committed nor dropped, which holds the answer back.
    private func outcomeUnlessPending(of commit: Confirmed) throws(KafkaError) -> DoubtfulCommit? {
        do throws(KafkaError) {
            return try outcome(of: commit, within: .seconds(5))
        } catch {
            guard error.isTimeout else { throw error }
            return nil
        }
    }

    /// What became of a commit, told by where the group stands.
    private func outcome(of commit: Confirmed, within limit: Duration) throws(KafkaError) -> DoubtfulCommit {
        let found = try group.committed(commit.offsets.map(\.partition), timeout: limit)
        return DoubtfulCommit(
            zip(commit.offsets, zip(commit.before, found)).map { intended, known in
                .init(before: known.0, intended: LedgerCommit(intended), found: LedgerCommit(known.1))
            })
    }
}
