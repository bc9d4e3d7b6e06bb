import CRDKafka

/// Reads ranges of offsets in many partitions of any topics at once, without a group and without leaving a trace at the broker.
///
/// All of them flow into one queue, whose size is limited, so that it takes a few fetches of each broker, not some of each partition.
/// Belongs to one thread.
public final class RangeReader {
    /// A range of offsets in a partition.
    public struct Part: Sendable, Equatable {
        /// The partition, of which a reading has one range at most.
        public let partition: TopicPartition
        /// The offsets. Some may hold no record.
        public let offsets: Range<Int64>

        /// A range of offsets in a partition.
        public init(_ partition: TopicPartition, offsets: Range<Int64>) {
            self.partition = partition
            self.offsets = offsets
        }
    }

    /// The most that waits in memory by default, in bytes. One answer of each broker comes on top of it.
    public static let readAhead = 16 << 20

    private let client: ClientHandle
    let events: ClientQueue
    /// The topics that the client has asked about.
    private var knownTopics: Set<String> = []

    /// Makes a client. Nothing is sent yet.
    ///
    /// - Parameters:
    ///   - configuration: The brokers and the user's properties.
    ///   - portion: The most bytes that a partition gives at a time. The default is 64 KiB, so that few of its records come in vain.
    ///   - readAhead: The most bytes that wait in memory, 1 KiB – 2 GiB.
    ///   - seesUncommitted: True to read what open and aborted transactions wrote, too. Default no.
    /// - Throws: A configuration that was refused.
    public init(
        _ configuration: KafkaConfiguration, portion: Int = 64 << 10, readAhead: Int = readAhead, seesUncommitted: Bool = false
    ) throws(KafkaError) {
        // Of two settings with one key the later counts.
        let isolation = seesUncommitted ? [("isolation.level", "read_uncommitted")] : []
        let settings = try ClientSettings(
            configuration, defaults: Self.defaults(portion: portion, readAhead: readAhead), fixed: TopicReader.fixed + isolation)
        settings.withConf { rd_kafka_conf_set_events($0, RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS | RD_KAFKA_EVENT_LOG) }
        client = try ClientHandle(RD_KAFKA_CONSUMER, settings: settings, inbox: nil)
        events = try ClientQueue.main(of: client)
    }

    private static func defaults(portion: Int, readAhead: Int) -> [ClientSettings.Setting] {
        [
            ("fetch.wait.max.ms", "20"), ("fetch.error.backoff.ms", "100"), ("queued.min.messages", "1000000"),
            ("queued.max.messages.kbytes", "\(min(max(1, readAhead >> 10), 2_097_151))"),
            ("max.partition.fetch.bytes", "\(portion)"),
        ]
    }

    /// The ends of partitions, for those who see what it sees, in one question for all of them.
    ///
    /// - Parameters:
    ///   - partitions: The partitions, each once.
    ///   - timeout: The longest wait.
    /// - Returns: The next offset of each, in order.
    /// - Throws: `isAuthorization`, `isUnknownTopicOrPartition`, `isUnreachable`, or `isAuthentication`, of any of them.
    public func ends(of partitions: [TopicPartition], timeout: Duration) throws(KafkaError) -> [Int64] {
        guard !partitions.isEmpty else { return [] }
        // A client that has not found its brokers asks for a leader too early, and then only now and then.
        try learn(topics: Set(partitions.map(\.topic)), timeout: timeout)
        return try client.offsets(of: partitions, at: LogicalOffset.end, timeout: timeout)
    }

    /// The offsets that are kept of each partition of a topic now, up to the end for those who see what it sees.
    ///
    /// - Parameters:
    ///   - topic: The topic's name.
    ///   - timeout: The longest wait.
    /// - Returns: One range for each partition, in order.
    /// - Throws: `isAuthorization`, `isUnknownTopicOrPartition`, `isUnreachable`, or `isAuthentication`.
    public func bounds(of topic: String, timeout: Duration) throws(KafkaError) -> [Range<Int64>] {
        let deadline = ContinuousClock.now + timeout
        // A client that lives long has events of long ago.
        _ = events.drainErrors()
        _ = try client.addTopic(topic)
        let snapshot = try ClusterSnapshot(of: client, timeout: timeout) { events.drainErrors() }
        guard let found = snapshot.topic(topic) else { throw .unknownTopic(topic) }
        if let error = found.error { throw error }
        knownTopics.insert(topic)
        let partitions = 0..<Int32(clamping: found.partitionCount)
        let lows = try client.offsets(of: partitions, in: topic, at: LogicalOffset.beginning, timeout: deadline - .now)
        let ends = try client.offsets(of: partitions, in: topic, at: LogicalOffset.end, timeout: deadline - .now)
        return zip(lows, ends).map { low, end in low..<max(low, end) }
    }

    /// The first record of each partition of a topic that is not older than a time.
    ///
    /// - Parameters:
    ///   - time: Milliseconds since 1970. Times before that count as 0.
    ///   - topic: The topic's name.
    ///   - ends: The ends of its partitions.
    ///   - timeout: The longest wait.
    /// - Returns: One offset for each partition, in order, or its end where every record is older.
    /// - Throws: As `bounds` does.
    public func offsets(since time: Int64, of topic: String, ends: [Int64], timeout: Duration) throws(KafkaError) -> [Int64] {
        // Times before 1970 would be taken for the logical offsets.
        let found = try client.offsets(of: 0..<Int32(clamping: ends.count), in: topic, at: max(0, time), timeout: timeout)
        return zip(found, ends).map { $0 >= 0 ? $0 : $1 }
    }

    /// True once the properties or certificates that it was made with are not those of now, so that another reader must take over.
    public var isOutdated: Bool { client.isOutdated }

    /// Asks the brokers who leads topics that were not asked about before, in one question for all of them.
    ///
    /// - Parameters:
    ///   - topics: The names of the topics. One that is not there is no error yet.
    ///   - timeout: The longest wait.
    /// - Throws: `isUnreachable`, `isAuthentication`, or a name that no topic can have.
    public func learn(topics: Set<String>, timeout: Duration) throws(KafkaError) {
        guard !knownTopics.isSuperset(of: topics) else { return }
        for topic in topics { _ = try client.addTopic(topic) }
        _ = try ClusterSnapshot(of: client, timeout: timeout) { events.drainErrors() }
        knownTopics.formUnion(topics)
    }

    /// Reads the records of all ranges, those of one partition in order, and those of different ones as they come.
    ///
    /// - Parameters:
    ///   - parts: The ranges.
    ///   - timeout: The longest wait while nothing comes.
    ///   - isOver: Asked every 64 records, and every 100 ms while nothing comes. True ends the reading.
    ///   - body: Looks at a record of the range with this index. Returns false if it wants no more of that range.
    /// - Returns: False if `isOver` has ended the reading.
    /// - Throws: `isUnknownTopicOrPartition`, `isAuthorization`, `isFatal`, or nothing came in time although something should.
    @discardableResult
    public func read(
        _ parts: [Part], timeout: Duration, unless isOver: () -> Bool = { false },
        perform body: (_ index: Int, borrowing ConsumedRecord) -> Bool
    ) throws(KafkaError) -> Bool {
        var reading = try Reading(parts, of: client)
        defer { reading.stop() }
        var deadline = ContinuousClock.now + timeout
        var count = 0
        while reading.isOpen {
            switch reading.readNext(perform: body) {
            case .record, .endOfPartition:
                deadline = ContinuousClock.now + timeout
                count += 1
                if count & 0x3F == 0, isOver() { return false }
            case .error(let error) where error.isAuthorization || error.isFatal || error.isUnknownTopicOrPartition: throw error
            case .error, .empty:
                if isOver() { return false }
                guard ContinuousClock.now >= deadline else { continue }
                throw events.drainErrors()
                    ?? KafkaError(
                        RD_KAFKA_RESP_ERR__TIMED_OUT, message: "the next record of \(reading.place) did not come in time")
            }
        }
        return true
    }
}

/// One reading of ranges, and the partitions that are still open.
private struct Reading {
    private let parts: [RangeReader.Part]
    private let records: ClientQueue
    private let client: ClientHandle
    /// The handle of each topic, and the index of the range in each of its partitions that is not read to its end.
    private var open: [OpaquePointer: [Int32: Int]] = [:]
    private var openCount = 0

    init(_ parts: [RangeReader.Part], of client: ClientHandle) throws(KafkaError) {
        self.parts = parts
        self.client = client
        records = try ClientQueue.empty(of: client)
        do throws(KafkaError) {
            for (index, part) in parts.enumerated() where !part.offsets.isEmpty {
                let topic = client.topic(try client.addTopic(part.partition.topic))
                let number = part.partition.partition
                try records.startReading(topic: topic, partition: number, offset: part.offsets.lowerBound)
                open[topic, default: [:]][number] = index
                openCount += 1
            }
        } catch {
            stop()
            throw error
        }
    }

    var isOpen: Bool { openCount > 0 }

    /// A partition that is still read, for messages.
    var place: String { open.values.lazy.compactMap(\.values.first).first.map { "\(parts[$0].partition)" } ?? "" }

    mutating func readNext(perform body: (_ index: Int, borrowing ConsumedRecord) -> Bool) -> ReadResult {
        guard let message = records.nextMessage(waiting: 100) else { return .empty }
        defer { rd_kafka_message_destroy(message) }
        let (topic, number) = (message.pointee.rkt, message.pointee.partition)
        // Records of a partition behind its end are left over.
        guard let topic, let index = open[topic]?[number] else { return .empty }
        switch message.pointee.err {
        case RD_KAFKA_RESP_ERR_NO_ERROR:
            let end = parts[index].offsets.upperBound
            // A record before the range shows that the partition is shorter: reading begins anew at its beginning then.
            let offset = message.pointee.offset
            let isWithin = parts[index].offsets.contains(offset)
            let isEnough = isWithin ? !body(index, ConsumedRecord(message)) : true
            if isEnough || offset + 1 >= end { finish(topic, at: number) }
            return .record
        case RD_KAFKA_RESP_ERR__PARTITION_EOF:
            finish(topic, at: number)
            return .endOfPartition(offset: message.pointee.offset)
        default:
            let reason = rd_kafka_message_errstr(message).map { String(cString: $0) }
            return .error(
                client.diagnosis.explain(.reported(message.pointee.err, message: reason, by: client.pointer, isFatal: false)))
        }
    }

    private mutating func finish(_ topic: OpaquePointer, at number: Int32) {
        open[topic]?[number] = nil
        openCount -= 1
        rd_kafka_consume_stop(topic, number)
    }

    /// Stops reading what is still open.
    mutating func stop() {
        for (topic, numbers) in open { for number in numbers.keys { rd_kafka_consume_stop(topic, number) } }
        open = [:]
        openCount = 0
    }
}
