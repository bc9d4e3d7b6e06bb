import Basics
import Delivery
import EventLoop
import Kafka

/// The remains of transactions that a broker can leave when it crashes, and their removal.
///
/// A coordinator confirms the end of a transaction before it tells the partitions. If it crashes in between, and is back before the
/// partitions have leaders, it takes them for deleted and never tells them (seen with Kafka 4.3.1, whose log then says "Couldn't find
/// leader endpoint"). The records then share the fate of the producer's next transaction in their partition, and the offsets are neither
/// committed nor dropped. So after any trouble the group's positions are asked whether the latest commit took place, as well as after a
/// commit that took long. What did not is ended by another transaction, over all partitions, that is aborted.
///
/// Where that fails, the producer is closed, and the next one settles what is open.
struct HangingTransactions {
    /// A commit that the broker has confirmed: the positions that it moved.
    private struct Confirmed {
        let offsets: [OffsetCommit]
        let before: [LedgerCommit?]

        init(_ job: CommitJob) {
            offsets = job.offsets
            before = job.before
        }
    }

    private let configuration: WorkerConfiguration
    private let group: ConsumerGroup
    /// The latest commit that the broker confirmed.
    private var latest: Confirmed?
    /// True if a transaction has failed since, so that it must be checked whether the latest commit has taken place.
    private var suspectsLostCommit = false
    /// True if a transaction may have left records that neither a commit nor an abort has reached.
    private var mayHaveHangingTransaction = false

    init(_ configuration: WorkerConfiguration, group: ConsumerGroup) {
        self.configuration = configuration
        self.group = group
    }

    /// True if the end of a transaction came within 1 s: it took no longer than one does unless its coordinator goes away
    /// meanwhile. A slow one without a cause is checked in vain, and no more.
    static func isPrompt(since start: MonotonicTime) -> Bool {
        MonotonicTime.now().nanoseconds(since: start) < 1_000_000_000
    }

    /// Notes that the broker has confirmed a commit.
    mutating func commitConfirmed(_ job: CommitJob) { latest = Confirmed(job) }

    /// Notes that a transaction was not committed, or that it is unknown whether it was. It may hang if no abort has surely ended
    /// it.
    mutating func transactionFailed(mayHang: Bool) {
        suspectsLostCommit = true
        if mayHang { mayHaveHangingTransaction = true }
    }

    /// After trouble, finds out whether the latest confirmed commit took place. Returns false if it did not. Nothing of it is
    /// left then, and its requests must be redelivered from the group's positions.
    mutating func settleLatest(_ writer: OutcomeWriter) throws(KafkaError) -> Bool {
        guard suspectsLostCommit, configuration.guarantee == .exactlyOnce else { return true }
        if let latest {
            let isLost = try outcomeUnlessPending(of: latest).map { $0 == .notCommitted } ?? true
            if isLost {
                try remove(latest.offsets, with: writer)
                self.latest = nil
                suspectsLostCommit = false
                return false
            }
        }
        suspectsLostCommit = false
        return true
    }

    /// The outcome of a commit of which it is unknown whether it took place. If it did not, nothing of it is left.
    mutating func settledOutcome(of job: CommitJob, with writer: OutcomeWriter) throws(KafkaError) -> DoubtfulCommit {
        let commit = Confirmed(job)
        guard configuration.guarantee == .exactlyOnce else { return try outcome(of: commit, within: .seconds(10)) }
        if let outcome = try outcomeUnlessPending(of: commit), outcome != .notCommitted {
            mayHaveHangingTransaction = false
            return outcome
        }
        try remove(job.offsets, with: writer)
        return try outcome(of: commit, within: .seconds(10))
    }

    /// Ends what transactions have left open, if any may have: what is written next would share its fate.
    mutating func removeSuspected(_ offsets: [OffsetCommit], with writer: OutcomeWriter) throws(KafkaError) {
        if mayHaveHangingTransaction { try remove(offsets, with: writer) }
    }

    /// Ends, by an abort, whatever transactions of this producer have left open: in every partition that they can have reached, and
    /// in the group's offsets, of which `offsets` are some.
    mutating func remove(_ offsets: [OffsetCommit], with writer: OutcomeWriter) throws(KafkaError) {
        mayHaveHangingTransaction = true
        // Topics that are compacted take no record without a key.
        let key: [UInt8] = [0]
        do throws(KafkaError) {
            let producer = writer.producer
            try producer.beginTransaction()
            for topic in try writer.allTopics() {
                for partition in 0..<(try producer.partitionCount(of: topic, timeout: .seconds(5))) {
                    try producer.produce(to: topic, partition: partition, key: key.span, value: key.span)
                }
            }
            try writer.confirm()
            // The group may have moved on and refuse the offsets; the abort reaches it all the same.
            if let place = try? group.metadata() {
                try? producer.sendOffsets(offsets, group: place, timeout: configuration.transactionTimeout)
            }
            let start = MonotonicTime.now()
            try producer.abortTransaction(timeout: configuration.transactionTimeout)
            mayHaveHangingTransaction = !Self.isPrompt(since: start)
        } catch {
            writer.close(timeout: .zero)
            throw error
        }
    }

    /// The outcome of a commit, or nil while its offsets are neither committed nor dropped, which holds the answer back.
    private func outcomeUnlessPending(of commit: Confirmed) throws(KafkaError) -> DoubtfulCommit? {
        do throws(KafkaError) {
            return try outcome(of: commit, within: .seconds(5))
        } catch {
            guard error.isTimeout else { throw error }
            return nil
        }
    }

    /// The outcome of a commit, as the group's position shows it.
    private func outcome(of commit: Confirmed, within limit: Duration) throws(KafkaError) -> DoubtfulCommit {
        let found = try group.committed(commit.offsets.map(\.partition), timeout: limit)
        return DoubtfulCommit(
            zip(commit.offsets, zip(commit.before, found)).map { intended, known in
                .init(before: known.0, intended: LedgerCommit(intended), found: LedgerCommit(known.1))
            })
    }
}
