import Basics
import Delivery
import EventLoop
import Kafka

/// Writes batches to Kafka: in one transaction with the consumed offsets, or, on a broker without transactions, before them.
///
/// Lives on the committer's thread. After every failure it is ready for the same batch again. Whether a transaction whose outcome is
/// unknown was committed shows in the group's position, which only that transaction can have moved.
///
/// The rules of exactness that are kept here (page Kafka, "Rules of exactness"): results are written in the transaction that carries their
/// offsets, all of them before the offsets (1). An aborted batch is written again (3). After an unknown commit a new producer settles the
/// transaction, and the positions are read back before anything is written again (7, 8).
struct OutcomePublisher {
    private let configuration: WorkerConfiguration
    private let group: ConsumerGroup
    private let clock: WorkerClock
    /// The producer with its topics. Nil or closed when the next job must make one.
    private var writer: OutcomeWriter?
    /// The brokers' answers about the topics that waiting requests go to, and about those with positions.
    private var topics = LaneTopics()
    /// The possible remains of earlier transactions.
    private var hanging: HangingTransactions
    /// Says which partition of a delay lane the polls of a commit go to.
    private var turn: Int32 = 0
    /// The number of times in a row that the broker took this producer for an outdated one.
    private var fencedCount = 0
    /// The moment when the open transaction was begun, or nil while there is none.
    private var transactionBegun: MonotonicTime?

    init(_ configuration: WorkerConfiguration, group: ConsumerGroup, clock: WorkerClock) {
        self.configuration = configuration
        self.group = group
        self.clock = clock
        hanging = HangingTransactions(configuration, group: group)
    }

    /// The producer with its topics, or a new one when there is none, or the last one was discarded. Throws where the brokers did
    /// not answer, a topic is missing, or another process has this worker's transactional id.
    mutating func prepare() throws(KafkaError) -> OutcomeWriter {
        if let writer, !writer.isClosed { return writer }
        let id = configuration.guarantee == .exactlyOnce ? configuration.transactionalID : nil
        let fresh = try OutcomeWriter(configuration, transactionalID: id)
        writer = fresh
        topics.producerMade(fresh.laneAnswers)
        return fresh
    }

    /// Publishes a batch together with its offsets.
    mutating func commit(_ offered: CommitJob) -> Committer.Reply {
        var standing = offered.standing
        turn = turn == .max ? 0 : turn + 1
        transactionBegun = nil
        do throws(KafkaError) {
            let writer = try askForTopics(of: offered)
            let job = offered.leavingOut { topics.presence(of: Membership.Partition($0)) == .deleted }
            guard writer.hasPlaces(for: job.batch) else { return .impossible(.misplaced) }
            guard try publish(job, standing: &standing, with: writer) else { return .impossible(.overtaken) }
            fencedCount = 0
            return .committed(writer.lanes)
        } catch {
            // What refuses a record says nothing about topics; that no lane has one is asked at the usual intervals.
            if !error.refusesRecords { topics.commitFailed() }
            // A topic was deleted, or recreated with fewer partitions: what the producer knows is discarded with it.
            if error.isUnknownTopicOrPartition { writer?.close(timeout: .zero) }
            return isTakenOver(error) ? .fenced(error) : .commitFailed(error, standing)
        }
    }

    /// Closes the producer.
    mutating func close() {
        writer?.close(timeout: .seconds(5))
        writer = nil
    }

    /// Asks brokers again for the topics that a commit needs, if it is time. Returns the producer, or a new one where a topic is
    /// not as it found it. Throws, too, while it is not clear whether a partition was deleted that a position is for.
    private mutating func askForTopics(of job: CommitJob) throws(KafkaError) -> OutcomeWriter {
        let writer = try prepare()
        let positions = job.offsets.map { Membership.Partition($0.partition) }
        if topics.isDue(for: positions, now: .now()) {
            let names = configuration.topics.delays + [configuration.topics.held] + positions.map(\.topic)
            // Where no broker answers, the commit says so.
            let answers = try? writer.answers(on: names, timeout: .seconds(2))
            if let answers, topics.answered(answers, for: positions, now: .now()) { writer.close(timeout: .zero) }
        }
        if let doubtful = positions.first(where: { topics.presence(of: $0) == .doubtful }) { throw .unknownTopic(doubtful.topic) }
        return try prepare()
    }

    /// Publishes a batch: what earlier transactions left is settled, the transaction is filled and committed, and where it is in
    /// doubt whether that took place, the group's positions tell. Returns false when another member or tool has moved these.
    private mutating func publish(
        _ job: CommitJob, standing: inout CommitJob.Standing, with writer: OutcomeWriter
    ) throws(KafkaError) -> Bool {
        guard try hanging.settleLatest(writer) else { return false }
        if standing == .doubtful, !job.changesNothing { return try resolveDoubt(about: job, standing: &standing, with: writer) }
        guard configuration.guarantee == .exactlyOnce, let place = job.group else {
            try publishPlainly(job, standing: &standing, with: writer)
            return true
        }
        try hanging.removeSuspected(job.offsets, with: writer)
        if Sabotage.isOn(.publishOutside) { try publishOutside(job.batch) }
        try fillTransaction(job, place: place, with: writer)
        let start = MonotonicTime.now()
        try commitTransaction(job, standing: &standing, with: writer)
        hanging.commitConfirmed(job)
        // Where the group stands tells nothing about a commit that moves nothing.
        if HangingTransactions.isPrompt(since: start) || job.changesNothing { return true }
        return try resolveDoubt(about: job, standing: &standing, with: writer)
    }

    /// Begins a transaction, and gives it the batch's records and its offsets.
    private mutating func fillTransaction(
        _ job: CommitJob, place: GroupMetadata, with writer: OutcomeWriter
    ) throws(KafkaError) {
        try writer.findTopics(for: job.batch, turn: turn)
        transactionBegun = MonotonicTime.now()
        do throws(KafkaError) {
            try writer.producer.beginTransaction()
            pass(.begun, for: job)
            // Records before offsets: the broker's wait for the transaction before is shorter here (page Kafka, "Course").
            if !Sabotage.isOn(.publishOutside) {
                try writer.write(job.batch, timestamp: clock.millisecondsSince1970, turn: turn)
            }
            try passProduced(writer.producer, for: job)
            try repeatedly { () throws(KafkaError) in
                try writer.producer.sendOffsets(job.offsets, group: place, timeout: configuration.transactionTimeout)
            }
            pass(.offsetsSent, for: job)
        } catch {
            // After a time-out a request may still be on its way; only a new producer keeps it out of the next transaction.
            giveUp(writer, isSettled: !error.isFatal && !error.isTimeout)
            throw error
        }
    }

    /// Commits the open transaction.
    private mutating func commitTransaction(
        _ job: CommitJob, standing: inout CommitJob.Standing, with writer: OutcomeWriter
    ) throws(KafkaError) {
        do throws(KafkaError) {
            pass(.committing, for: job)
            try repeatedly { () throws(KafkaError) in
                try writer.producer.commitTransaction(timeout: configuration.transactionTimeout)
            }
            pass(.committed, for: job)
        } catch {
            standing = error.requiresAbort ? .unpublished : .doubtful
            giveUp(writer, isSettled: error.requiresAbort)
            throw error
        }
    }

    /// Finds out whether a commit of the batch took place that was not confirmed, or so late that it may have been lost. Returns
    /// false when the group's positions do not tell, or are another worker's by now. Throws `lostTransaction` if it did not: none
    /// of it is left then, and the loop offers it again, less at a time if it took too long.
    private mutating func resolveDoubt(
        about job: CommitJob, standing: inout CommitJob.Standing, with writer: OutcomeWriter
    ) throws(KafkaError) -> Bool {
        standing = .doubtful
        switch try hanging.settledOutcome(of: job, with: writer) {
        case .committed: return true
        case .superseded, .inconclusive: return false
        case .notCommitted:
            standing = .unpublished
            throw .lostTransaction
        }
    }

    /// Leaves a producer that works: aborts the transaction if its state is known, or else discards the producer. The next
    /// one, with the same transactional id, makes the broker settle the open transaction before anything else.
    private mutating func giveUp(_ writer: OutcomeWriter, isSettled: Bool) {
        let start = MonotonicTime.now()
        if isSettled, (try? writer.producer.abortTransaction(timeout: configuration.transactionTimeout)) != nil {
            hanging.transactionFailed(mayHang: !HangingTransactions.isPrompt(since: start))
            return
        }
        hanging.transactionFailed(mayHang: true)
        writer.close(timeout: .zero)
    }

    /// Calls again what may be called again, for as long as the broker keeps the transaction open. A position in a topic that is missing
    /// may not: it would be refused all that time.
    private func repeatedly(_ call: () throws(KafkaError) -> Void) throws(KafkaError) {
        let deadline = MonotonicTime.now().advanced(by: configuration.transactionTimeout)
        while true {
            do throws(KafkaError) {
                try call()
                return
            } catch {
                guard error.isRetriable, !error.requiresAbort, !error.isFatal, !error.isUnknownTopicOrPartition,
                    MonotonicTime.now() < deadline
                else { throw error }
            }
        }
    }

    /// Without transactions: records first, then offsets. Records that fail are written again by a new producer, and some may then stand
    /// there twice; where only the offsets fail, they alone are committed again.
    private func publishPlainly(
        _ job: CommitJob, standing: inout CommitJob.Standing, with writer: OutcomeWriter
    ) throws(KafkaError) {
        if standing != .written {
            try writer.findTopics(for: job.batch, turn: turn)
            do throws(KafkaError) {
                try writer.write(job.batch, timestamp: clock.millisecondsSince1970, turn: turn)
                try writer.confirm()
            } catch {
                writer.close(timeout: .zero)
                throw error
            }
            standing = .written
        }
        try group.commit(job.offsets)
    }
}

/// The part that others ask of it: whether it has lost its place, and that its transactions hold back no answer of the group.
extension OutcomePublisher {
    /// True if another process has this worker's transactional id.
    ///
    /// The broker fences a producer also when it aborted its transaction because it was silent for too long; then a new one
    /// works at once. Only a second process fences again and again.
    mutating func isTakenOver(_ error: KafkaError) -> Bool {
        guard error.isFenced else { return false }
        let limit = configuration.transactionTimeout.wholeNanoseconds / 10 * 9
        if let begun = transactionBegun, MonotonicTime.now().nanoseconds(since: begun) >= limit { return false }
        fencedCount += 1
        return fencedCount >= Self.fencingLimit
    }

    private static let fencingLimit = 5

    /// After trouble, finds out about the latest commit, and ends what is left of it if it did not take place: that would hold back the
    /// group's positions.
    mutating func settleLatest(_ writer: OutcomeWriter) throws(KafkaError) {
        _ = try hanging.settleLatest(writer)
    }

    /// Ends what holds back the group's positions of some partitions, if that can be a transaction of this worker's own.
    mutating func release(_ partitions: [TopicPartition], with writer: OutcomeWriter) throws(KafkaError) {
        guard configuration.guarantee == .exactlyOnce else { return }
        try hanging.remove(partitions.map { OffsetCommit($0, offset: 0, metadata: "") }, with: writer)
    }
}

/// The work that only a build with failpoints does.
extension OutcomePublisher {
    /// Passes a point: what dies there is to die with results. A commit of positions alone may come before any.
    private func pass(_ point: Failpoint, for job: CommitJob) {
        if !job.batch.isEmpty { Failpoint.pass(point) }
    }

    /// In a build with failpoints, waits until the records are written, so that dying here leaves an open transaction.
    private func passProduced(_ producer: Producer, for job: CommitJob) throws(KafkaError) {
        #if PUSHFAN_FAILPOINTS
            if Failpoint.isArmed(.produced), !job.batch.isEmpty { try producer.flush(timeout: .seconds(10)) }
            pass(.produced, for: job)
        #endif
    }

    /// Does what the fault suite must catch: the results are there whatever becomes of the offsets.
    private func publishOutside(_ batch: borrowing OutcomeBatch) throws(KafkaError) {
        #if PUSHFAN_FAILPOINTS
            let outsider = try OutcomeWriter(configuration, transactionalID: nil)
            try outsider.write(batch, timestamp: clock.millisecondsSince1970, turn: turn)
            try outsider.confirm()
            outsider.close(timeout: .seconds(5))
        #endif
    }
}
