import Basics
import Delivery
import EventLoop
import Kafka

/// A producer with the topics that it writes to, with the partitions that they had when it was made: it knows where each record of a batch
/// goes.
///
/// Lives on the committer's thread, which makes another once this one is closed.
final class OutcomeWriter {
    let producer: Producer
    /// True if it was closed, and another must be made.
    private(set) var isClosed = false
    /// The topic of results, with the number of its partitions when it was found.
    private let results: (topic: Producer.Topic, partitions: Int32)
    private var deadLetters: LateTopic
    /// The brokers' answers about the topics of delay lanes and of held requests.
    let laneAnswers: [String: LaneTopics.Answer]
    /// The delay lanes that are there.
    let lanes: DelayLanes
    /// The topics of the delay lanes, or nil where there is none: waits are shorter lanes' then, or the loop's own.
    private var delays: [LateTopic?]
    /// The partitions of a delay lane, once polls were written to it.
    private var pollPartitions = [Int: Int32]()
    /// The topic that parts of requests go to, and that of the requests they are parts of, with the numbers of their partitions.
    private var own: LateTopic
    private var parents: LateTopic
    /// Before when it is not asked again how many partitions the topic of parents has.
    private var nextCount = MonotonicTime.now()
    /// The topic of held requests, if it is there.
    private var held: LateTopic?
    /// The topic of dead handles, if it is there.
    private var handles: LateTopic?
    /// Asks which topics there are: what another client asks about costs the producer nothing.
    private let observer: TopicAdmin

    /// A topic that the producer hears of with its first record. At each of its wakings it looks at all partitions that it knows of
    /// (`rd_kafka_broker_produce_toppars`, librdkafka 2.0.2), so one that is seldom written to would make each commit dearer.
    private struct LateTopic {
        let name: String
        var partitions: Int32
        private var topic: Producer.Topic?

        init(_ name: String, partitions: Int32) { (self.name, self.partitions) = (name, partitions) }

        /// The topic itself. Throws where it is missing, or no broker answers.
        mutating func known(to producer: Producer) throws(KafkaError) -> Producer.Topic {
            if let topic { return topic }
            let found = try producer.warmUp(topics: [name], timeout: .seconds(5))[0]
            topic = found
            return found
        }
    }

    /// Makes a producer that is ready to write. By a transactional id the broker fences earlier producers, and settles what they
    /// left open. Throws where the brokers did not answer, a topic is missing, or the broker fences this producer.
    init(_ configuration: WorkerConfiguration, transactionalID: String?) throws(KafkaError) {
        var kafka = configuration.kafka
        kafka.properties.insert(contentsOf: Self.defaults, at: 0)
        let producer = try Producer(
            kafka, transactionalID: transactionalID, transactionTimeout: configuration.transactionTimeout)
        let names = configuration.topics
        let main = try producer.warmUp(topics: [names.results], timeout: .seconds(5))[0]
        results = (main, max(1, try producer.partitionCount(of: main, timeout: .seconds(5))))
        let observer = try TopicAdmin(configuration.kafka)
        let lanes = names.delays + [names.held]
        let found = try observer.descriptions(
            of: [names.deadLetters, names.requestsOwn, names.parents, names.handles] + lanes, timeout: .seconds(5))
        func topic(named name: String) throws(KafkaError) -> LateTopic {
            LateTopic(name, partitions: try (found[name] ?? .missing).partitionCount(of: name))
        }
        func optional(_ name: String) -> LateTopic? {
            let count = LaneTopics.Answer(found[name] ?? .missing).partitionCount
            return count > 0 ? LateTopic(name, partitions: count) : nil
        }
        laneAnswers = found.filter { lanes.contains($0.key) }.mapValues { LaneTopics.Answer($0) }
        deadLetters = try topic(named: names.deadLetters)
        own = try topic(named: names.requestsOwn)
        parents = try topic(named: names.parents)
        delays = names.delays.map(optional)
        self.lanes = DelayLanes(delays.indices.filter { [delays] in delays[$0] != nil })
        held = optional(names.held)
        handles = optional(names.handles)
        if transactionalID != nil { try producer.initTransactions(timeout: .seconds(30)) }
        self.observer = observer
        self.producer = producer
    }

    /// The properties that a batch needs. The user's properties, which follow, say otherwise.
    private static let defaults: [KafkaConfiguration.Property] = [
        // A dead letter is larger than its record; what the broker takes is the broker's to say.
        .init(key: "message.max.bytes", value: "8388608"),
        // A batch is handed over within some milliseconds, and goes out in few requests if it is waited for; `flush` cuts it short.
        .init(key: "linger.ms", value: "20"),
        // What the library copies of a batch at a time: each record costs it about 2 KB besides its bytes.
        .init(key: "queue.buffering.max.messages", value: "\(roomOfQueue)"),
    ]

    /// The records that the library has at a time, unless the user's properties say otherwise.
    private static let roomOfQueue = 2500

    /// The partitions of the topic of parents.
    var parentPartitions: Int32 { parents.partitions }

    /// The partitions of the topic of held requests, or 0 if it is not there.
    var heldPartitions: Int32 { held?.partitions ?? 0 }

    /// True if the topic of dead handles is there.
    var hasHandles: Bool { handles != nil }

    /// The brokers' present answers about topics. Throws where no broker answered in time.
    func answers(on names: [String], timeout: Duration) throws(KafkaError) -> [String: LaneTopics.Answer] {
        try observer.descriptions(of: names, timeout: timeout).mapValues { LaneTopics.Answer($0) }
    }

    /// Every topic that it writes to, all of which the producer then knows.
    func allTopics() throws(KafkaError) -> [Producer.Topic] {
        var topics = [
            results.topic, try deadLetters.known(to: producer), try own.known(to: producer), try parents.known(to: producer),
        ]
        if let topic = try held?.known(to: producer) { topics.append(topic) }
        if let topic = try handles?.known(to: producer) { topics.append(topic) }
        for lane in delays.indices {
            if let topic = try delays[lane]?.known(to: producer) { topics.append(topic) }
        }
        return topics
    }

    /// True if the partitions of held requests are there that a batch has records for: they were when the partitions were
    /// assigned.
    func hasPlaces(for batch: borrowing OutcomeBatch) -> Bool {
        batch.records.allSatisfy { record in
            if case .held(let partition) = record.destination { partition < heldPartitions } else { true }
        }
    }

    /// Finds the topics of a batch before its first record is written: brokers may take long to name one. Throws `noDelayLane` where there
    /// is no lane for what waits, which stays in memory then.
    func findTopics(for batch: borrowing OutcomeBatch, turn: Int32) throws(KafkaError) {
        for record in batch.records where record.destination != .results { _ = try place(of: record.destination, turn: turn) }
    }

    /// Hands all records of a batch to the producer. `turn` says which partition of a delay lane the polls go to, 0 or more.
    /// Throws where a record was not taken, or has no topic to go to.
    func write(_ batch: borrowing OutcomeBatch, timestamp: Int64, turn: Int32) throws(KafkaError) {
        // More than the library takes at a time goes by partitions: each needs one request to its broker then, and not one for each part.
        guard batch.records.count > Self.roomOfQueue else {
            for record in batch.records { try write(record, of: batch, timestamp: timestamp, turn: turn) }
            return
        }
        for index in batch.order(ofPartitions: results.partitions) {
            try write(batch.records[index], of: batch, timestamp: timestamp, turn: turn)
        }
    }

    private func write(
        _ record: OutcomeBatch.Record, of batch: borrowing OutcomeBatch, timestamp: Int64, turn: Int32
    ) throws(KafkaError) {
        guard let (topic, partition) = try place(of: record.destination, turn: turn) else { return }
        try produce(record, of: batch, to: topic, partition: partition, headers: batch.headers(of: record), timestamp: timestamp)
    }

    /// Waits until everything is written, and fails when anything was not.
    func confirm() throws(KafkaError) {
        try producer.flush(timeout: .seconds(30))
        if let error = producer.failedDeliveries.first { throw error }
    }

    /// Discards the producer, after waiting for records that are not written yet. A second call does nothing.
    func close(timeout: Duration) {
        producer.close(timeout: timeout)
        isClosed = true
    }

    /// The destination of a record: the topic and, where it is not the key's to say, the partition. Nil when it is for no
    /// partition there is.
    private func place(
        of destination: OutcomeBatch.Destination, turn: Int32
    ) throws(KafkaError) -> (Producer.Topic, Int32?)? {
        switch destination {
        case .results: return (results.topic, nil)
        case .deadLetters: return (try deadLetters.known(to: producer), nil)
        case .delay(let lane): return (try delayLane(nearest: lane).topic, nil)
        case .poll(let wanted):
            let (lane, topic) = try delayLane(nearest: wanted)
            return (topic, try partition(ofPollsIn: lane, topic: topic, turn: turn))
        case .held(let partition):
            guard let topic = try held?.known(to: producer) else { throw .invalidArgument("there is no topic of held requests") }
            return (topic, partition)
        case .own(let number): return (try own.known(to: producer), Int32(number % UInt32(max(1, own.partitions))))
        case .parents(let partition): return try place(ofParents: partition)
        // Of use, and no request's result: where its topic has gone meanwhile, nothing waits for it.
        case .handles:
            guard let topic = try handles?.known(to: producer) else { return nil }
            return (topic, nil)
        }
    }

    /// A delay lane, or the nearest of those that are there, if its topic has gone since the loop was told.
    private func delayLane(nearest lane: Int) throws(KafkaError) -> (number: Int, topic: Producer.Topic) {
        guard let number = lanes.nearest(to: lane), let topic = try delays[number]?.known(to: producer) else {
            throw .noDelayLane
        }
        return (number, topic)
    }

    /// The partition of a delay lane that the polls of this commit go to. Spread over all, a few to each, they would take a request to
    /// the broker for each partition.
    private func partition(ofPollsIn lane: Int, topic: Producer.Topic, turn: Int32) throws(KafkaError) -> Int32 {
        if let count = pollPartitions[lane] { return turn % count }
        let count = max(1, try producer.partitionCount(of: topic, timeout: .seconds(5)))
        pollPartitions[lane] = count
        return turn % count
    }

    private func place(ofParents partition: Int32) throws(KafkaError) -> (Producer.Topic, Int32?)? {
        if partition >= parents.partitions, MonotonicTime.now() >= nextCount {
            // It may have grown. A partition that is not there was named by nobody who writes parents; such a record is of no use.
            let found = try observer.describe(topics: [parents.name], timeout: .seconds(5)).topics[0]
            parents.partitions = try found.partitionCount(of: parents.name)
            nextCount = MonotonicTime.now().advanced(by: .seconds(1))
        }
        return partition < parents.partitions ? (try parents.known(to: producer), partition) : nil
    }

    private func produce(
        _ record: OutcomeBatch.Record, of batch: borrowing OutcomeBatch, to topic: Producer.Topic, partition: Int32?,
        headers: consuming HeaderList, timestamp: Int64
    ) throws(KafkaError) {
        switch (record.key, record.value) {
        case (let key?, let value?):
            try producer.produce(
                to: topic, partition: partition, key: batch.span(key, of: record), value: batch.span(value, of: record),
                headers: headers,
                timestamp: timestamp)
        case (nil, let value?):
            try producer.produce(
                to: topic, partition: partition, key: nil, value: batch.span(value, of: record), headers: headers,
                timestamp: timestamp)
        case (let key?, nil):
            try producer.produce(
                to: topic, partition: partition, key: batch.span(key, of: record), value: nil, headers: headers,
                timestamp: timestamp)
        case (nil, nil):
            try producer.produce(
                to: topic, partition: partition, key: nil, value: nil, headers: headers, timestamp: timestamp)
        }
    }
}

extension LaneTopics.Answer {
    /// The brokers' answer about a topic.
    init(_ found: TopicDescription) {
        switch found {
        case .existing(let count): self = .partitions(Int32(clamping: count))
        case .missing: self = .missing
        case .failed(let error): self = error.isAuthorization ? .partitions(0) : .unclear
        }
    }
}

extension TopicDescription {
    /// The partitions of the topic, which is called `name`. Throws where it is missing, or the cluster could not say.
    fileprivate func partitionCount(of name: String) throws(KafkaError) -> Int32 {
        switch self {
        case .existing(let count): return Int32(clamping: count)
        case .missing: throw .unknownTopic(name)
        case .failed(let error): throw error
        }
    }
}

extension TopicAdmin {
    /// The cluster's descriptions of topics, by their names. Throws where no broker answered.
    func descriptions(of names: [String], timeout: Duration) throws(KafkaError) -> [String: TopicDescription] {
        Dictionary(zip(names, try describe(topics: names, timeout: timeout).topics)) { first, _ in first }
    }
}
