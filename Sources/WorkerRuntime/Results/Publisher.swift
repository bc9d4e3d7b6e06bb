import Basics
import Delivery
import EventLoop
import Kafka
import PushModel

/// Writes batches to Kafka: in one transaction with the consumed offsets, or, on a broker without transactions, before them.
///
/// Lives on the committer's thread. After every failure it is ready for the same batch again. Whether a transaction whose outcome is
/// unknown was committed shows in the group's position, which only that transaction can have moved.
///
/// The rules of exactness that are kept here (`kafka-dispatch` 6.3): results are written in the transaction that carries their offsets,
/// all of them before the offsets (1). An aborted batch is written again (3). After an unknown commit a new producer settles the
/// transaction, and the positions are read back before anything is written again (7, 8).
struct Publisher {
    let configuration: WorkerConfiguration
    let group: ConsumerGroup
    let clock: WorkerClock
    private var kafka: KafkaConfiguration
    var producer: Producer?
    private(set) var results: Producer.Topic?
    private(set) var deadLetters: Producer.Topic?
    /// The topics of the delay lanes; nil where there is none.
    private(set) var delays: [Producer.Topic?] = []
    /// The partitions of a delay lane, once polls were written to it.
    private var pollPartitions = [Int: Int32]()
    /// Says which of them the polls of a commit go to.
    private var turn: Int32 = 0
    /// The topic that parts of requests go to, and that of the requests they are parts of, with the numbers of their partitions.
    private(set) var own: (topic: Producer.Topic, partitions: Int32)?
    private(set) var parents: (topic: Producer.Topic, partitions: Int32)?
    /// Before when it is not asked again how many partitions the topic of parents has.
    private var nextCount = MonotonicTime.now()
    /// The topic of held requests, if it is there, with the number of its partitions.
    private(set) var held: (topic: Producer.Topic, partitions: Int32)?
    /// The topic of dead handles, if it is there.
    private(set) var handles: Producer.Topic?
    /// The numbers of partitions of which every one had a consumer, so that the group need not be asked again.
    private var surveyed: [Int] = []
    /// How often in a row the broker took this producer for an outdated one.
    private var fencedCount = 0
    /// When the open transaction was begun; nil while there is none.
    private var transactionBegun: MonotonicTime?

    /// The latest commit that the broker confirmed.
    var latest: Confirmed?
    /// Whether a transaction has failed since, so that it must be checked whether the latest commit has taken place.
    var suspectsLostCommit = false
    /// Whether a transaction may have left records that neither a commit nor an abort has reached.
    var mayHaveHangingTransaction = false

    init(_ configuration: WorkerConfiguration, group: ConsumerGroup, clock: WorkerClock) {
        self.configuration = configuration
        self.group = group
        self.clock = clock
        kafka = configuration.kafka
        kafka.properties.insert(contentsOf: Self.defaults, at: 0)
    }

    /// What a batch needs; the user's properties, which follow, say otherwise.
    private static let defaults: [KafkaConfiguration.Property] = [
        // A dead letter is larger than its record; what the broker takes is the broker's to say.
        .init(key: "message.max.bytes", value: "8388608"),
        // A batch is handed over within a few milliseconds, and goes out in few requests if it is waited for; `flush` cuts it short.
        .init(key: "linger.ms", value: "5"),
        // What the library copies of a batch at a time: each record costs it about 2 KB besides its bytes.
        .init(key: "queue.buffering.max.messages", value: "2500"),
    ]

    mutating func perform(_ job: Committer.Job) -> Committer.Reply {
        switch job {
        case .prepare:
            do throws(KafkaError) {
                try prepare()
                let lanes = delays.indices.filter { delays[$0] != nil }
                return .prepared(lanes: lanes, parents: parents?.partitions ?? 0, hasHandles: handles != nil)
            } catch {
                return isTakenOver(error) ? .fenced(error) : .failed(error)
            }
        case .positions(let partitions, let partitionsBehindCommit, let epoch):
            do throws(KafkaError) {
                surveyed = []
                // A transaction that was left open holds the positions back until a producer of the same name settles it.
                try prepare()
                let held = heldPartitions(of: partitions)
                let positions = try positions(of: partitions + held)
                let admin = try TopicAdmin(configuration.kafka, seesUncommitted: true)
                var ends = Committer.PartitionEnds()
                try findStarts(of: positions, partitionsBehindCommit, admin, into: &ends)
                ends.control = try controlEnd()
                ends.held = heldEnds(held, admin)
                return .positions(positions, ends, epoch: epoch)
            } catch {
                return isTakenOver(error) ? .fenced(error) : .positionsFailed(error, epoch: epoch)
            }
        case .probe(let partitions):
            do throws(KafkaError) {
                _ = try group.committed(partitions, timeout: .seconds(5))
                return .probed(nil)
            } catch {
                return .probed(error)
            }
        case .survey: return .surveyed((try? survey()) ?? [])
        case .commit(let job): return commit(job)
        case .stop:
            producer?.close(timeout: .seconds(5))
            producer = nil
            return .stopped
        }
    }

    private mutating func commit(_ job: CommitJob) -> Committer.Reply {
        var standing = job.standing
        turn = turn == .max ? 0 : turn + 1
        transactionBegun = nil
        do throws(KafkaError) {
            try prepare()
            guard hasPlaces(for: job.batch) else { return .misplaced }
            guard try publish(job, &standing) else { return .overtaken }
            fencedCount = 0
            return .committed
        } catch {
            if error.isUnknownTopicOrPartition { forgetTopics() }
            return isTakenOver(error) ? .fenced(error) : .commitFailed(error, standing)
        }
    }

    /// Discards the producer, and with it what it knows: a topic was deleted, or recreated with fewer partitions.
    private mutating func forgetTopics() {
        producer?.close(timeout: .zero)
        producer = nil
    }

    /// Whether the partitions of held requests are there that a batch has records for: they were when the partitions were assigned.
    private func hasPlaces(for batch: borrowing OutcomeBatch) -> Bool {
        batch.records.allSatisfy { record in
            if case .held(let partition) = record.destination { partition < held?.partitions ?? 0 } else { true }
        }
    }

    /// Whether another process has this worker's transactional id.
    ///
    /// The broker fences a producer also when it aborted its transaction because it was silent for too long; then a new one
    /// works at once. Only a second process fences again and again.
    private mutating func isTakenOver(_ error: KafkaError) -> Bool {
        guard error.isFenced else { return false }
        let limit = configuration.transactionTimeout.nanoseconds / 10 * 9
        if let begun = transactionBegun, MonotonicTime.now().nanoseconds(since: begun) >= limit { return false }
        fencedCount += 1
        return fencedCount >= Self.fencingLimit
    }

    private static let fencingLimit = 5

    private mutating func prepare() throws(KafkaError) {
        guard producer == nil else { return }
        let isTransactional = configuration.guarantee == .exactlyOnce
        let id = isTransactional ? configuration.transactionalID : nil
        let fresh = try Producer(kafka, transactionalID: id, transactionTimeout: configuration.transactionTimeout)
        let names = configuration.topics
        let topics = try fresh.warmUp(
            topics: [names.results, names.deadLetters, names.requestsOwn, names.parents], timeout: .seconds(5))
        own = (topics[2], try fresh.partitionCount(of: topics[2], timeout: .seconds(5)))
        parents = (topics[3], try fresh.partitionCount(of: topics[3], timeout: .seconds(5)))
        delays = try names.delays.map { (name) throws(KafkaError) in try optionalTopic(name, of: fresh) }
        handles = try optionalTopic(names.handles, of: fresh)
        pollPartitions.removeAll()
        held = nil
        if let topic = try optionalTopic(names.held, of: fresh) {
            held = (topic, try fresh.partitionCount(of: topic, timeout: .seconds(5)))
        }
        if isTransactional { try fresh.initTransactions(timeout: .seconds(30)) }
        (results, deadLetters) = (topics[0], topics[1])
        producer = fresh
    }

    /// The partitions without a consumer. The group is asked when numbers have changed only, so that it costs an idle fleet little.
    private mutating func survey() throws(KafkaError) -> [TopicPartition] {
        let topics = configuration.topics.shared
        let counts = try group.partitionCounts(of: topics, timeout: .seconds(1))
        guard counts != surveyed else { return [] }
        let all = zip(topics, counts).flatMap { topic, count in
            (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
        }
        let unread = try group.unread(of: all, timeout: .seconds(1))
        if unread.isEmpty { surveyed = counts }
        return unread
    }

    /// The partitions of held requests that belong to partitions of requests, as far as they are there.
    private func heldPartitions(of partitions: [TopicPartition]) -> [TopicPartition] {
        guard let held else { return [] }
        return partitions.compactMap { partition in
            guard let lane = Lane.allCases.first(where: { configuration.topics.requests(of: $0) == partition.topic }) else {
                return nil
            }
            guard let number = OrderedPartitions.heldPartition(of: partition.partition, lane) else { return nil }
            return number < held.partitions ? TopicPartition(topic: configuration.topics.held, partition: number) : nil
        }
    }

    /// Where partitions of held requests end, behind all that was written. Where that cannot be learnt soon, it is when they are read.
    private func heldEnds(_ partitions: [TopicPartition], _ admin: TopicAdmin) -> [Int32: Int64] {
        guard !partitions.isEmpty else { return [:] }
        do throws(KafkaError) {
            let numbers = partitions.map(\.partition)
            let ends = try admin.ends(of: numbers, in: configuration.topics.held, timeout: .seconds(1))
            return Dictionary(uniqueKeysWithValues: zip(numbers, ends))
        } catch {
            return [:]
        }
    }

    /// A topic that may be missing. Without a delay lane, waits are shorter lanes' or the loop's own.
    private func optionalTopic(_ name: String, of producer: Producer) throws(KafkaError) -> Producer.Topic? {
        do throws(KafkaError) {
            return try producer.warmUp(topics: [name], timeout: .seconds(5)).first
        } catch {
            guard !error.isUnreachable, !error.isTimeout else { throw error }
            return nil
        }
    }

    /// Where the control topic ends now; nil when it is not there.
    private func controlEnd() throws(KafkaError) -> Int64? {
        do throws(KafkaError) {
            _ = try producer?.warmUp(topics: [configuration.topics.control], timeout: .seconds(5))
        } catch {
            guard !error.isUnreachable, !error.isTimeout else { throw error }
            return nil
        }
        let partition = TopicPartition(topic: configuration.topics.control, partition: CancelRecord.partition)
        return try group.end(of: partition, timeout: .seconds(5))
    }

    /// - Returns: Whether the batch is published; false when another member or tool has moved the group's positions.
    private mutating func publish(_ job: CommitJob, _ standing: inout CommitJob.Standing) throws(KafkaError) -> Bool {
        guard let producer else { return false }
        guard try settleLatest(producer) else { return false }
        if standing == .doubtful, !job.changesNothing {
            switch try settledOutcome(of: job, producer) {
            case .committed: return true
            case .notCommitted:
                // None of it is left. The loop offers it again, and less at a time if it took too long.
                standing = .unpublished
                throw .lostTransaction
            case .superseded, .inconclusive: return false
            }
        }
        guard configuration.guarantee == .exactlyOnce, let group = job.group else {
            try publishPlainly(job.batch, job.offsets, &standing, with: producer)
            return true
        }
        if mayHaveHangingTransaction { try removeRemains(job.offsets, producer) }
        if Sabotage.isOn(.publishOutside) { try publishOutside(job.batch) }
        transactionBegun = MonotonicTime.now()
        do throws(KafkaError) {
            try producer.beginTransaction()
            pass(.begun, job)
            // Records before offsets: the broker's wait for the transaction before is shorter here (kafka-dispatch 4.8).
            if !Sabotage.isOn(.publishOutside) { try produce(job.batch, with: producer) }
            try passProduced(producer, job)
            try repeatedly { () throws(KafkaError) in
                try producer.sendOffsets(job.offsets, group: group, timeout: configuration.transactionTimeout)
            }
            pass(.offsetsSent, job)
        } catch {
            suspectsLostCommit = true
            // After a time-out a request may still be on its way; only a new producer keeps it out of the next transaction.
            giveUp(producer, isSettled: !error.isFatal && !error.isTimeout)
            throw error
        }
        let start = MonotonicTime.now()
        do throws(KafkaError) {
            pass(.committing, job)
            try repeatedly { () throws(KafkaError) in
                try producer.commitTransaction(timeout: configuration.transactionTimeout)
            }
            pass(.committed, job)
        } catch {
            standing = error.requiresAbort ? .unpublished : .doubtful
            suspectsLostCommit = true
            giveUp(producer, isSettled: error.requiresAbort)
            throw error
        }
        latest = Confirmed(job)
        // Where the group stands tells nothing about a commit that moves nothing.
        if Self.isPrompt(since: start) || job.changesNothing { return true }
        standing = .doubtful
        switch try settledOutcome(of: job, producer) {
        case .committed: return true
        case .superseded, .inconclusive: return false
        case .notCommitted:
            standing = .unpublished
            throw .lostTransaction
        }
    }

    /// Records first, then offsets. Records that fail are written again by a new producer, and some may then stand there twice; where only
    /// the offsets fail, they alone are committed again.
    private mutating func publishPlainly(
        _ batch: borrowing OutcomeBatch, _ offsets: [OffsetCommit], _ standing: inout CommitJob.Standing, with producer: Producer
    ) throws(KafkaError) {
        if standing != .written {
            do throws(KafkaError) {
                try produce(batch, with: producer)
                try confirm(producer)
            } catch {
                producer.close(timeout: .zero)
                self.producer = nil
                throw error
            }
            standing = .written
        }
        try group.commit(offsets)
    }

    /// Calls again what may be called again, for as long as the broker keeps the transaction open.
    private func repeatedly(_ call: () throws(KafkaError) -> Void) throws(KafkaError) {
        let deadline = MonotonicTime.now().advanced(by: configuration.transactionTimeout)
        while true {
            do throws(KafkaError) {
                try call()
                return
            } catch {
                guard error.isRetriable, !error.requiresAbort, !error.isFatal, MonotonicTime.now() < deadline else { throw error }
            }
        }
    }

    /// Leaves a producer that works: aborts the transaction if its state is known, or else parts with the producer. The next
    /// one, with the same transactional id, makes the broker settle the open transaction before anything else.
    private mutating func giveUp(_ producer: Producer, isSettled: Bool) {
        let start = MonotonicTime.now()
        if isSettled, (try? producer.abortTransaction(timeout: configuration.transactionTimeout)) != nil {
            mayHaveHangingTransaction = mayHaveHangingTransaction || !Self.isPrompt(since: start)
            return
        }
        mayHaveHangingTransaction = true
        producer.close(timeout: .zero)
        self.producer = nil
    }

    /// In a build with failpoints, waits until the records are written, so that dying here leaves an open transaction.
    private func passProduced(_ producer: Producer, _ job: CommitJob) throws(KafkaError) {
        #if PUSHFAN_FAILPOINTS
            if Failpoint.isArmed(.produced), !job.batch.isEmpty { try producer.flush(timeout: .seconds(10)) }
            pass(.produced, job)
        #endif
    }

    /// What dies at these points is to die with results. A commit of positions alone may come before any.
    private func pass(_ point: Failpoint, _ job: CommitJob) {
        if !job.batch.isEmpty { Failpoint.pass(point) }
    }

    /// What the fault suite must catch: the results are there whatever becomes of the offsets.
    private mutating func publishOutside(_ batch: borrowing OutcomeBatch) throws(KafkaError) {
        #if PUSHFAN_FAILPOINTS
            let outsider = try Producer(kafka, transactionalID: nil)
            _ = try outsider.warmUp(
                topics: [configuration.topics.results, configuration.topics.deadLetters], timeout: .seconds(5))
            try produce(batch, with: outsider)
            try confirm(outsider)
            outsider.close(timeout: .seconds(5))
        #endif
    }

    private mutating func produce(_ batch: borrowing OutcomeBatch, with producer: Producer) throws(KafkaError) {
        let timestamp = clock.millisecondsSince1970
        for record in batch.records {
            guard let (topic, partition) = try place(of: record.destination, producer) else { continue }
            try produce(record, of: batch, to: topic, partition, batch.headers(of: record), timestamp, with: producer)
        }
    }

    /// Where a record goes: the topic and, where it is not the key's to say, the partition; nil when it is for no partition there is.
    private mutating func place(
        of destination: OutcomeBatch.Destination, _ producer: Producer
    ) throws(KafkaError) -> (Producer.Topic, Int32?)? {
        switch destination {
        case .results: return results.map { ($0, nil) }
        case .deadLetters: return deadLetters.map { ($0, nil) }
        case .delay(let lane): return (try delayLane(nearest: lane).topic, nil)
        case .poll(let wanted):
            let (lane, topic) = try delayLane(nearest: wanted)
            return (topic, try partition(ofPollsIn: lane, topic, producer))
        case .held(let partition):
            guard let held else { throw .invalidArgument("there is no topic of held requests") }
            return (held.topic, partition)
        case .own(let number):
            guard let own else { throw .invalidArgument("there is no topic for parts of requests") }
            return (own.topic, Int32(number % UInt32(max(1, own.partitions))))
        case .parents(let partition): return try place(ofParents: partition, producer)
        // Of use, and no request's result: where its topic has gone meanwhile, nothing waits for it.
        case .handles: return handles.map { ($0, nil) }
        }
    }

    /// A delay lane, or the nearest of those that are there, if its topic has gone since the loop was told. A shorter one is better: its
    /// records are looked at before their time, and handed on.
    private func delayLane(nearest lane: Int) throws(KafkaError) -> (number: Int, topic: Producer.Topic) {
        for number in delays.indices.filter({ $0 <= lane }).reversed() + delays.indices.filter({ $0 > lane }) {
            if let topic = delays[number] { return (number, topic) }
        }
        throw .invalidArgument("there is no topic of a delay lane any more")
    }

    /// The partition of a delay lane that the polls of this commit go to. Spread over all, a few to each, they would take a request to
    /// the broker for each partition.
    private mutating func partition(
        ofPollsIn lane: Int, _ topic: Producer.Topic, _ producer: Producer
    ) throws(KafkaError) -> Int32 {
        if let count = pollPartitions[lane] { return turn % count }
        let count = max(1, try producer.partitionCount(of: topic, timeout: .seconds(5)))
        pollPartitions[lane] = count
        return turn % count
    }

    private mutating func place(
        ofParents partition: Int32, _ producer: Producer
    ) throws(KafkaError) -> (Producer.Topic, Int32?)? {
        guard var parents else { throw .invalidArgument("there is no topic of parents") }
        if partition >= parents.partitions, MonotonicTime.now() >= nextCount {
            // It may have grown. A partition that is not there was named by nobody who writes parents; such a record is of no use.
            parents.partitions = try producer.partitionCount(of: parents.topic, timeout: .seconds(5))
            self.parents = parents
            nextCount = MonotonicTime.now().advanced(by: .seconds(1))
        }
        return partition < parents.partitions ? (parents.topic, partition) : nil
    }

    private func produce(
        _ record: OutcomeBatch.Record, of batch: borrowing OutcomeBatch, to topic: Producer.Topic, _ partition: Int32?,
        _ headers: consuming Kafka.RecordHeaders, _ timestamp: Int64, with producer: Producer
    ) throws(KafkaError) {
        switch (record.key, record.value) {
        case (let key?, let value?):
            try producer.produce(
                to: topic, partition: partition, key: batch.span(key), value: batch.span(value), headers: headers,
                timestamp: timestamp)
        case (nil, let value?):
            try producer.produce(
                to: topic, partition: partition, key: nil, value: batch.span(value), headers: headers, timestamp: timestamp)
        case (let key?, nil):
            try producer.produce(
                to: topic, partition: partition, key: batch.span(key), value: nil, headers: headers, timestamp: timestamp)
        case (nil, nil):
            try producer.produce(
                to: topic, partition: partition, key: nil, value: nil, headers: headers, timestamp: timestamp)
        }
    }

    /// Waits until everything is written, and fails when anything was not.
    func confirm(_ producer: Producer) throws(KafkaError) {
        try producer.flush(timeout: .seconds(30))
        if let error = producer.failedDeliveries.first { throw error }
    }
}

extension LedgerCommit {
    init(_ offset: OffsetCommit) {
        self.init(offset: offset.offset, metadata: offset.metadata)
    }

    /// Nil if nothing was committed for the partition.
    init?(_ committed: CommittedOffset) {
        guard let offset = committed.offset else { return nil }
        self.init(offset: offset, metadata: committed.metadata)
    }
}
