import CRDKafka

/// Reads single records back by their offsets, without a group and without leaving a trace at the broker.
///
/// Ask in ascending order: what lies close together is read in one go, and what lies far apart is jumped over. Belongs to one thread.
public final class RecordFetcher {
    /// The outcome of a question.
    public enum Answer: Sendable {
        /// The record.
        case record(FetchedRecord)
        /// No such record is kept: it was removed by retention or compaction, or there never was one.
        case gone
    }

    /// The number of records that are read over although they are not asked for. More of them are jumped over.
    private static let longestStep: Int64 = 5000

    private let client: ClientHandle
    private let events: ClientQueue
    private var records: ClientQueue?
    private var partition: TopicPartition?
    /// The offset of the next record that the queue can give.
    private var position: Int64 = 0
    /// The partition's end, once reading came there. It is reported only once.
    private var end: Int64?
    /// The topics whose partitions the client has asked for.
    private var knownTopics: Set<String> = []
    /// A record that was read when an earlier one was looked for.
    private var ahead: FetchedRecord?

    /// Makes a client. Nothing is sent yet.
    ///
    /// - Parameters:
    ///   - configuration: The brokers and the user's properties.
    ///   - byteCount: How many bytes may wait in memory, at least 1 MiB. librdkafka 2.0 pauses for up to 1 s whenever it is reached, so those in
    ///     a hurry want 256 MiB.
    ///   - seesUncommitted: Whether it reads what open and aborted transactions wrote, too. Default no.
    /// - Throws: A configuration that was refused.
    public init(
        _ configuration: KafkaConfiguration, readAhead byteCount: Int, seesUncommitted: Bool = false
    ) throws(KafkaError) {
        // Of two settings with one key the later counts.
        let isolation = seesUncommitted ? [("isolation.level", "read_uncommitted")] : []
        let settings = try ClientSettings(
            configuration, defaults: Self.defaults + [("queued.max.messages.kbytes", "\(max(1024, byteCount >> 10))")],
            fixed: TopicReader.fixed + isolation)
        settings.withConf { rd_kafka_conf_set_events($0, RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS | RD_KAFKA_EVENT_LOG) }
        client = try ClientHandle(RD_KAFKA_CONSUMER, settings: settings, inbox: nil)
        events = try ClientQueue.main(of: client)
    }

    deinit {
        stop()
    }

    private static var defaults: [ClientSettings.Setting] {
        [("fetch.wait.max.ms", "50"), ("fetch.error.backoff.ms", "100"), ("queued.min.messages", "1000000")]
    }

    /// The record at an offset.
    ///
    /// - Parameters:
    ///   - offset: At least that of the question before, as long as it is the same partition.
    ///   - partition: The partition.
    ///   - timeout: How long to wait for the brokers.
    /// - Returns: The record, or that it is gone.
    /// - Throws: `isUnknownTopicOrPartition`, `isUnreachable`, `isAuthorization`, or a time-out.
    public func record(at offset: Int64, of partition: TopicPartition, timeout: Duration) throws(KafkaError) -> Answer {
        guard let found = try firstRecord(from: offset, of: partition, timeout: timeout), found.offset == offset else {
            return .gone
        }
        return .record(found)
    }

    /// The first record at an offset or behind it.
    ///
    /// - Parameters:
    ///   - offset: At least that of the question before, as long as it is the same partition.
    ///   - partition: The partition.
    ///   - timeout: How long to wait for the brokers.
    /// - Returns: The record; nil when the partition ends before there is one.
    /// - Throws: As `record` does.
    public func firstRecord(
        from offset: Int64, of partition: TopicPartition, timeout: Duration
    ) throws(KafkaError) -> FetchedRecord? {
        let isPassed = ahead.map { $0.offset >= offset } ?? false
        let isNear = offset >= position && offset - position <= Self.longestStep
        if self.partition != partition || !(isPassed || isNear) { try start(partition, at: offset) }
        let deadline = ContinuousClock.now + timeout
        while true {
            if let found = ahead {
                if found.offset >= offset { return found }
                ahead = nil
            }
            if position > offset || offset >= end ?? .max { return nil }
            guard ContinuousClock.now < deadline else { throw timedOut(offset) }
            try readOn(to: offset)
        }
    }

    /// The number of partitions that a topic has, as the brokers know it now.
    ///
    /// - Parameters:
    ///   - topic: The topic's name.
    ///   - timeout: How long to wait for the brokers.
    /// - Returns: The number of partitions.
    /// - Throws: As `record` does.
    public func partitionCount(of topic: String, timeout: Duration) throws(KafkaError) -> Int {
        _ = try client.addTopic(topic)
        let snapshot = try ClusterSnapshot(of: client, timeout: timeout) { events.drainErrors() }
        guard let found = snapshot.topic(topic) else { throw KafkaError(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) }
        if let error = found.error { throw error }
        knownTopics.insert(topic)
        return found.partitionCount
    }

    /// The offset of the oldest record that a partition may have, as its leader knows it now.
    ///
    /// - Parameters:
    ///   - partition: The partition.
    ///   - timeout: How long to wait for the brokers.
    /// - Returns: The offset.
    /// - Throws: As `record` does.
    public func startOffset(of partition: TopicPartition, timeout: Duration) throws(KafkaError) -> Int64 {
        try edges(of: [partition.partition], in: partition.topic, at: LogicalOffset.beginning, timeout: timeout)[0]
    }

    /// The offset behind the last record of a partition that can be read, as its leader knows it now.
    ///
    /// - Parameters:
    ///   - partition: The partition.
    ///   - timeout: How long to wait for the brokers.
    /// - Returns: The offset.
    /// - Throws: As `record` does.
    public func endOffset(of partition: TopicPartition, timeout: Duration) throws(KafkaError) -> Int64 {
        try endOffsets(of: [partition.partition], in: partition.topic, timeout: timeout)[0]
    }

    /// The same for partitions of one topic, asked at once.
    ///
    /// - Parameters:
    ///   - partitions: Their numbers.
    ///   - topic: The topic's name.
    ///   - timeout: How long to wait for the brokers.
    /// - Returns: One offset for each, in order.
    /// - Throws: As `record` does.
    public func endOffsets(of partitions: [Int32], in topic: String, timeout: Duration) throws(KafkaError) -> [Int64] {
        try edges(of: partitions, in: topic, at: LogicalOffset.end, timeout: timeout)
    }

    private func edges(
        of partitions: [Int32], in topic: String, at logical: Int64, timeout: Duration
    ) throws(KafkaError) -> [Int64] {
        guard !partitions.isEmpty else { return [] }
        let deadline = ContinuousClock.now + timeout
        // A client that has not found its brokers asks for a leader too early, and then only now and then.
        if !knownTopics.contains(topic) { _ = try partitionCount(of: topic, timeout: timeout) }
        let found = try client.offsets(of: partitions, in: topic, at: logical, timeout: deadline - .now)
        guard found.count == partitions.count, found.allSatisfy({ $0 >= 0 }) else {
            throw KafkaError(RD_KAFKA_RESP_ERR__NO_OFFSET)
        }
        return found
    }

    /// Stops reading. The next question starts again.
    public func stop() {
        if let partition, let index = try? client.addTopic(partition.topic) {
            rd_kafka_consume_stop(client.topic(index), partition.partition)
        }
        partition = nil
        records = nil
        ahead = nil
        end = nil
    }

    private func start(_ partition: TopicPartition, at offset: Int64) throws(KafkaError) {
        stop()
        let index = try client.addTopic(partition.topic)
        let queue = try ClientQueue.empty(of: client)
        try queue.startReading(topic: client.topic(index), partition: partition.partition, offset: offset)
        records = queue
        self.partition = partition
        position = offset
    }

    /// Takes what the queue has, up to the record at `offset` or behind it.
    private func readOn(to offset: Int64) throws(KafkaError) {
        guard let records else { throw .closed }
        while ahead == nil, position <= offset, offset < end ?? .max {
            let result = records.read(waiting: 100) { record in
                // The partition ends before the place where reading was to begin, so it began at the partition's start.
                if record.offset < position { end = position }
                position = record.offset + 1
                if record.offset >= offset { ahead = FetchedRecord(record) }
            } onEnd: {
                // What lies before the end and was not delivered is no record but a transaction's marker.
                end = $1
                position = max(position, $1)
            }
            switch result {
            case .record, .endOfPartition: continue
            case .empty: return
            case .error(let error):
                if error.isAuthorization || error.isFatal || error.isUnknownTopicOrPartition { throw error }
                return
            }
        }
    }

    private func timedOut(_ offset: Int64) -> KafkaError {
        let reason = events.drainErrors()
        let place = partition.map { "\($0)" } ?? ""
        return reason
            ?? KafkaError(
                RD_KAFKA_RESP_ERR__TIMED_OUT, message: "the record at offset \(offset) of \(place) did not come in time")
    }
}
