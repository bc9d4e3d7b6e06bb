import Basics
import CRDKafka

/// Reads all partitions of a topic without a group and without leaving a trace at the broker, for looking, not for working.
///
/// Belongs to one thread. It sees only what was committed.
public final class TopicReader {
    /// The place to start.
    public enum Start: Sendable, Equatable {
        /// The oldest records that are kept.
        case beginning
        /// The records that arrive from now on.
        case end
        /// An offset for each partition. Partitions that are not named start at the beginning.
        case offsets([Int32: Int64])
        /// The first records not older than this time, in milliseconds since 1970.
        case time(Int64)
    }

    /// The place to stop.
    public enum Stop: Sendable, Equatable {
        /// Nowhere: what comes while reading is read as well.
        case never
        /// At the ends that the partitions have now.
        case end
        /// Before an offset for each partition, if that is not behind its end.
        case offsets([Int32: Int64])
        /// Before the first record that is not older than this time, in milliseconds since 1970.
        case time(Int64)
    }

    /// The topic's name.
    public let topic: String

    /// The cluster's id, as far as `init` asked for it.
    public private(set) var clusterID: String?
    /// From the oldest offset that is kept to the end, for each partition that `init` only looked at.
    public private(set) var bounds: [Range<Int64>] = []

    private let stop: Stop
    private let isBounded: Bool
    private let client: ClientHandle
    private let topicIndex: Int
    private let records: ClientQueue
    private let events: ClientQueue
    private var progress: [Progress] = []
    /// The number of partitions whose end was not reached yet.
    private var unfinishedCount = 0
    private var isClosed = false

    /// The progress in one partition: how far it was read, and where its end was when its reading began.
    private struct Progress {
        let start: Int64
        var position: Int64
        let end: Int64

        var isFinished: Bool { position >= end }
    }

    /// Finds the topic's partitions and starts to read them.
    ///
    /// - Parameters:
    ///   - configuration: The brokers and the user's properties.
    ///   - topic: The topic's name.
    ///   - start: Where to start.
    ///   - stop: Where to stop; what lies behind is passed over.
    ///   - timeout: How long to wait for the brokers.
    ///   - readAhead: The most bytes that are read ahead, 1 KiB – 2 GiB.
    /// - Throws: `isUnknownTopicOrPartition`, `isUnreachable`, `isAuthentication`, or a configuration that was refused.
    public convenience init(
        _ configuration: KafkaConfiguration, topic: String, start: Start, stop: Stop = .never, timeout: Duration,
        readAhead: Int = 256 << 20
    ) throws(KafkaError) {
        try self.init(configuration, topic: topic, stop: stop, readAhead: readAhead)
        try startPartitions(at: start, timeout: timeout)
    }

    /// Finds out where the topic's partitions begin and end. Nothing is read before `begin(at:)`, and nothing that comes later.
    ///
    /// - Parameters:
    ///   - topic: The topic's name.
    ///   - configuration: The brokers and the user's properties.
    ///   - timeout: How long to wait for the brokers.
    ///   - readAhead: The most bytes that are read ahead, 1 KiB – 2 GiB.
    /// - Throws: As the other initialiser does.
    public convenience init(
        surveying topic: String, configuration: KafkaConfiguration, timeout: Duration, readAhead: Int = 256 << 20
    ) throws(KafkaError) {
        try self.init(configuration, topic: topic, stop: .end, readAhead: readAhead)
        let partitions = try newPartitions(timeout: timeout)
        bounds = try bounds(of: partitions, timeout: timeout)
        // The answer came with the topic's partitions.
        guard let id = rd_kafka_clusterid(client.pointer, timeout.timeoutMilliseconds) else { return }
        clusterID = String(cString: id)
        rd_kafka_mem_free(client.pointer, id)
    }

    private init(_ configuration: KafkaConfiguration, topic: String, stop: Stop, readAhead: Int) throws(KafkaError) {
        let settings = try ClientSettings(configuration, defaults: Self.defaults(readAhead: readAhead), fixed: Self.fixed)
        settings.withConf { rd_kafka_conf_set_events($0, RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS | RD_KAFKA_EVENT_LOG) }
        client = try ClientHandle(RD_KAFKA_CONSUMER, settings: settings, inbox: nil)
        topicIndex = try client.addTopic(topic)
        records = try ClientQueue.empty(of: client)
        events = try ClientQueue.main(of: client)
        self.topic = topic
        self.stop = stop
        isBounded = stop != .never
    }

    deinit {
        close()
    }

    /// The defaults, which limit what is read ahead to so many bytes, and by nothing else.
    ///
    /// Whenever a limit is met, librdkafka 2.0 looks again after a second at most, however fast the queue was emptied meanwhile (2.2 has
    /// `fetch.queue.backoff.ms` for it). A million results of 1.2 KB took 9.2 s with 16 MiB, and take 2.3 s.
    private static func defaults(readAhead: Int) -> [ClientSettings.Setting] {
        [
            ("fetch.wait.max.ms", "100"), ("fetch.error.backoff.ms", "100"), ("queued.min.messages", "1000000"),
            ("queued.max.messages.kbytes", "\(min(max(1, readAhead / 1024), 2_097_151))"),
        ]
    }

    /// The settings that every reader without a group has.
    static var fixed: [ClientSettings.Setting] {
        [
            ("isolation.level", "read_committed"), ("enable.partition.eof", "true"), ("enable.auto.offset.store", "false"),
            ("enable.auto.commit", "false"), ("auto.offset.reset", "earliest"), ("allow.auto.create.topics", "false"),
        ]
    }

    /// The number of partitions that are read.
    public var partitionCount: Int { progress.count }

    /// Every partition was read to where it stops, or to the end that it had when its reading began.
    public var hasReachedEnd: Bool { unfinishedCount == 0 }

    /// The offset at which the reading of each partition began.
    public var startOffsets: [Int32: Int64] {
        Dictionary(uniqueKeysWithValues: progress.enumerated().map { (Int32($0), $1.start) })
    }

    /// The offset at which each partition is read on.
    public var positions: [Int32: Int64] {
        Dictionary(uniqueKeysWithValues: progress.enumerated().map { (Int32($0), $1.position) })
    }

    /// The number of offsets still to be read up to there. Some may hold no record.
    public var remainingCount: Int64 {
        progress.reduce(0) { sum, part in
            let (count, isBeyond) = sum.addingReportingOverflow(max(0, part.end - part.position))
            return isBeyond ? .max : count
        }
    }

    /// Waits for the next record of any partition and lets `body` look at it.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait; zero to look only.
    ///   - body: Looks at the record, which is gone when it returns.
    /// - Returns: `.empty` after the time-out; `.record` also for one that was passed over; an error with `isOutdated` for one that
    ///   never stops, when another must replace it. A reader that stops somewhere reads to there.
    /// - Throws: What `body` throws.
    public func read<Failure>(
        timeout: Duration, perform body: (borrowing ConsumedRecord) throws(Failure) -> Void
    ) throws(Failure) -> ReadResult {
        guard !isClosed else { return .error(.closed) }
        guard isBounded || !client.isOutdated else { return .error(.outdated) }
        var reached: (partition: Int32, position: Int64)?
        let result = try records.read(waiting: timeout.timeoutMilliseconds) { record throws(Failure) in
            reached = (record.partition, record.offset + 1)
            if isWanted(record) { try body(record) }
        } onEnd: {
            reached = ($0, $1)
        }
        if let reached { advance(Int(reached.partition), to: reached.position) }
        return result
    }

    private func isWanted(_ record: borrowing ConsumedRecord) -> Bool {
        guard isBounded, progress.indices.contains(Int(record.partition)) else { return true }
        return record.offset < progress[Int(record.partition)].end
    }

    private func advance(_ partition: Int, to position: Int64) {
        guard progress.indices.contains(partition) else { return }
        let wasFinished = progress[partition].isFinished
        // Records behind the end may have come with those before it, and were passed over.
        progress[partition].position = isBounded ? min(position, progress[partition].end) : position
        guard !wasFinished, progress[partition].isFinished else { return }
        unfinishedCount -= 1
        if isBounded { rd_kafka_consume_stop(client.topic(topicIndex), Int32(partition)) }
    }

    /// Removes the next error, statistics or log line without waiting. Nil if there is none. Look now and then: a refused login
    /// shows only here.
    public func nextEvent() -> ClientEvent? { isClosed ? nil : events.nextClientEvent() }

    /// Asks whether the topic has got more partitions, and reads those from their beginning.
    ///
    /// - Parameter timeout: How long to wait for the brokers.
    /// - Returns: The number of partitions that were added.
    /// - Throws: As the initialiser does.
    @discardableResult
    public func refreshPartitions(timeout: Duration) throws(KafkaError) -> Int {
        guard !isClosed else { throw .closed }
        let before = progress.count
        try startPartitions(at: .beginning, timeout: timeout)
        return progress.count - before
    }

    /// Stops reading. A second call does nothing.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        for partition in progress.indices where !isBounded || !progress[partition].isFinished {
            rd_kafka_consume_stop(client.topic(topicIndex), Int32(partition))
        }
    }
}

extension TopicReader {
    /// Starts to read what `init` only looked at.
    ///
    /// - Parameter offsets: Where to start in each partition; those that are not named start at the beginning.
    /// - Throws: A partition cannot be read.
    public func begin(at offsets: [Int32: Int64]) throws(KafkaError) {
        guard progress.isEmpty else { return }
        let positions = bounds.indices.map { offsets[Int32($0)] ?? 0 }
        try start(0..<Int32(clamping: bounds.count), bounds: bounds, at: positions, stops: bounds.map(\.upperBound))
    }

    /// Finds the first record of each partition, of those that `init` only looked at, that is not older than a time.
    ///
    /// - Parameters:
    ///   - time: Milliseconds since 1970. Times before that count as 0.
    ///   - timeout: How long to wait for the brokers.
    /// - Returns: One offset for each partition, in order, or its end by `bounds` where every record is older.
    /// - Throws: `isUnknownTopicOrPartition`, `isUnreachable`, or `isAuthorization`.
    public func offsets(since time: Int64, timeout: Duration) throws(KafkaError) -> [Int64] {
        guard !isClosed else { throw .closed }
        let partitions = 0..<Int32(clamping: bounds.count)
        return try firstOffsets(of: partitions, at: time, ends: bounds.map(\.upperBound), timeout: timeout)
    }

    /// Starts the partitions that are not read yet.
    private func startPartitions(at start: Start, timeout: Duration) throws(KafkaError) {
        let new = try newPartitions(timeout: timeout)
        guard !new.isEmpty else { return }
        let bounds = try bounds(of: new, timeout: timeout)
        let positions = try positions(of: new, at: start, bounds: bounds, timeout: timeout)
        try self.start(
            new, bounds: bounds, at: positions, stops: try stops(of: new, ends: bounds.map(\.upperBound), timeout: timeout))
    }

    private func newPartitions(timeout: Duration) throws(KafkaError) -> Range<Int32> {
        let snapshot = try ClusterSnapshot(of: client, timeout: timeout) { events.drainErrors() }
        guard let found = snapshot.topic(topic) else { throw KafkaError(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) }
        if let error = found.error { throw error }
        let known = Int32(progress.count)
        return known..<max(known, Int32(clamping: found.partitionCount))
    }

    private func bounds(of partitions: Range<Int32>, timeout: Duration) throws(KafkaError) -> [Range<Int64>] {
        let lows = try client.offsets(of: partitions, in: topic, at: LogicalOffset.beginning, timeout: timeout)
        let ends = try client.offsets(of: partitions, in: topic, at: LogicalOffset.end, timeout: timeout)
        return zip(lows, ends).map { low, end in low..<max(low, end) }
    }

    private func start(
        _ partitions: Range<Int32>, bounds: [Range<Int64>], at positions: [Int64], stops: [Int64]
    ) throws(KafkaError) {
        for (index, partition) in partitions.enumerated() {
            let bounds = bounds[index]
            let position = min(max(positions[index], bounds.lowerBound), bounds.upperBound)
            let part = Progress(start: position, position: position, end: min(stops[index], bounds.upperBound))
            if !isBounded || !part.isFinished {
                try records.startReading(topic: client.topic(topicIndex), partition: partition, offset: position)
            }
            progress.append(part)
            if !part.isFinished { unfinishedCount += 1 }
        }
    }

    private func stops(of partitions: Range<Int32>, ends: [Int64], timeout: Duration) throws(KafkaError) -> [Int64] {
        switch stop {
        case .never, .end: return ends
        case .offsets(let offsets): return zip(partitions, ends).map { offsets[$0] ?? $1 }
        case .time(let time): return try firstOffsets(of: partitions, at: time, ends: ends, timeout: timeout)
        }
    }

    private func positions(
        of partitions: Range<Int32>, at start: Start, bounds: [Range<Int64>], timeout: Duration
    ) throws(KafkaError) -> [Int64] {
        switch start {
        case .beginning: return bounds.map(\.lowerBound)
        case .end: return bounds.map(\.upperBound)
        case .offsets(let offsets): return partitions.map { offsets[$0] ?? 0 }
        case .time(let time):
            return try firstOffsets(of: partitions, at: time, ends: bounds.map(\.upperBound), timeout: timeout)
        }
    }

    /// The offset of the first record of each partition that is not older than `time`, or the partition's end.
    private func firstOffsets(
        of partitions: Range<Int32>, at time: Int64, ends: [Int64], timeout: Duration
    ) throws(KafkaError) -> [Int64] {
        // Times before 1970 would be taken for the logical offsets.
        let found = try client.offsets(of: partitions, in: topic, at: max(0, time), timeout: timeout)
        return zip(found, ends).map { $0 >= 0 ? $0 : $1 }
    }
}
