import Basics
import CRDKafka

/// Reads chosen partitions of several topics, each by itself, without a group and with little memory for each, for records that
/// may lie unread for long.
///
/// Belongs to one thread. Who owns the partitions, and where their reading begins, is the caller's to know. A partition that is not read
/// fills up to its limit and costs nothing more. It sees only what was committed.
public final class PartitionReader {
    /// The partitions that are read. The index of each is its slot.
    public private(set) var partitions: [TopicPartition] = []

    let client: ClientHandle
    private let events: ClientQueue
    private let wakeUpFileDescriptor: Int32
    private var readings: [Reading] = []

    /// One partition that is being read.
    private struct Reading {
        let topic: OpaquePointer
        let queue: ClientQueue
    }

    /// Makes a reader that reads nothing yet. Nothing is sent.
    ///
    /// - Parameters:
    ///   - configuration: The brokers and the user's properties.
    ///   - room: What the library may hold of each partition. Default `.small`.
    ///   - fetchWait: How long a broker may keep a fetch that finds nothing, in whole milliseconds. A partition that is begun meanwhile has
    ///     to wait for its end. Nil, the default, for what the user's properties say, or `room` does.
    ///   - wakeUpFileDescriptor: A non-blocking eventfd, to which 8 bytes are written when a record arrives where none was; -1 for none. It
    ///     must stay open until `stop`.
    /// - Throws: A configuration that was refused.
    public init(
        _ configuration: KafkaConfiguration, room: QueueRoom = .small, fetchWait: Duration? = nil, wakeUpFileDescriptor: Int32
    ) throws(KafkaError) {
        var own = configuration
        own.properties.removeAll { Self.limits.contains($0.key) }
        if let fetchWait {
            own.properties.append(.init(key: "fetch.wait.max.ms", value: "\(fetchWait.timeoutMilliseconds)"))
        }
        let settings = try ClientSettings(own, defaults: Self.defaults + room.settings, fixed: Self.fixed)
        settings.withConf { rd_kafka_conf_set_events($0, RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS | RD_KAFKA_EVENT_LOG) }
        client = try ClientHandle(RD_KAFKA_CONSUMER, settings: settings, inbox: nil)
        events = try ClientQueue.main(of: client)
        self.wakeUpFileDescriptor = wakeUpFileDescriptor
    }

    deinit {
        stop()
    }

    /// Limits so small make librdkafka 2.0.2 look again only after a second now and then (page Kafka, "Full queues"): half a megabyte a
    /// second of each partition is enough here. The user's own limits are meant for what is read at full speed.
    private static let limits = [
        "queued.min.messages", "queued.max.messages.kbytes", "fetch.message.max.bytes", "max.partition.fetch.bytes",
        "fetch.max.bytes",
    ]

    private static let defaults: [ClientSettings.Setting] = [
        ("fetch.error.backoff.ms", "100"), ("auto.offset.reset", "earliest"), ("queued.min.messages", "100000"),
    ]

    private static let fixed: [ClientSettings.Setting] = [
        ("isolation.level", "read_committed"), ("enable.partition.eof", "true"), ("enable.auto.offset.store", "false"),
        ("enable.auto.commit", "false"), ("allow.auto.create.topics", "false"),
    ]

    /// Begins to read partitions, in place of those before.
    ///
    /// - Parameters:
    ///   - positions: The partitions; the index of each becomes its slot.
    ///   - arrivals: A pipe to which the slot of a partition is written, 4 bytes, when a record arrives in it where none was. Nil, the
    ///     default, for the descriptor of the reader.
    /// - Throws: The library refused; nothing is read then.
    public func start(
        _ positions: [(partition: TopicPartition, start: StartOffset)], arrivals: Int32? = nil
    ) throws(KafkaError) {
        stop()
        do throws(KafkaError) {
            for (partition, start) in positions { try add(partition, at: start, arrivals: arrivals) }
        } catch {
            stop()
            throw error
        }
    }

    /// Begins to read one more partition, behind the others.
    ///
    /// - Parameters:
    ///   - partition: The partition. The number of those before becomes its slot.
    ///   - start: The place where its reading begins.
    ///   - arrivals: As for `start`.
    /// - Throws: The library refused. The others are read on then.
    public func add(_ partition: TopicPartition, at start: StartOffset, arrivals: Int32? = nil) throws(KafkaError) {
        let topic = client.topic(try client.addTopic(partition.topic))
        let queue = try ClientQueue.empty(of: client)
        if let arrivals {
            queue.signal(arrivals, number: partitions.count)
        } else if wakeUpFileDescriptor >= 0 {
            queue.signal(wakeUpFileDescriptor)
        }
        try queue.startReading(topic: topic, partition: partition.partition, offset: start.value)
        readings.append(Reading(topic: topic, queue: queue))
        partitions.append(partition)
    }

    /// Stops reading and forgets what was fetched. A second call does nothing.
    public func stop() { stop(from: 0) }

    /// Stops reading the partitions from a slot on, and forgets what was fetched of them. The others are read on.
    public func stop(from slot: Int) {
        guard slot < partitions.count else { return }
        for (partition, reading) in zip(partitions[slot...], readings[slot...]) {
            rd_kafka_consume_stop(reading.topic, partition.partition)
        }
        readings.removeSubrange(slot...)
        partitions.removeSubrange(slot...)
    }

    /// Takes one record of a partition, if there is one, and lets `body` look at it. The descriptor is written only when an empty queue
    /// fills: read until `.empty`, or remember that there may be more.
    ///
    /// - Parameters:
    ///   - slot: The partition's index in `partitions`; one that is not read is empty.
    ///   - body: Looks at the record, which is gone when it returns.
    /// - Returns: What there was.
    /// - Throws: What `body` throws; the record is gone then too.
    public func read<Failure>(
        slot: Int, perform body: (borrowing ConsumedRecord) throws(Failure) -> Void
    ) throws(Failure) -> ReadResult {
        guard readings.indices.contains(slot) else { return .empty }
        return try readings[slot].queue.read(perform: body)
    }

    /// Goes back in a partition, so that a record that was read comes once more, and all behind it. What was fetched is dropped, and fetched
    /// again in the background; nothing of it is read before the record.
    ///
    /// - Parameters:
    ///   - slot: The partition's index in `partitions`; for one that is not read, nothing is done.
    ///   - offset: The record's offset. If it is gone by then, the partition is read from its first record.
    /// - Throws: The library refused; the partition is read on as before then.
    public func goBack(slot: Int, to offset: Int64) throws(KafkaError) {
        guard readings.indices.contains(slot) else { return }
        // Without a time limit it does not wait, and what was fetched before is outdated as soon as it returns.
        let code = rd_kafka_seek(readings[slot].topic, partitions[slot].partition, offset, 0)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code) }
    }

    /// The oldest and the next offset of a partition as the last fetch reported them, or nil before the first.
    ///
    /// - Parameter slot: The partition's index in `partitions`.
    /// - Returns: The offsets; no request is sent.
    public func watermarks(slot: Int) -> Watermarks? {
        guard partitions.indices.contains(slot) else { return nil }
        return client.watermarks(of: partitions[slot])
    }

    /// True once the properties or certificates that it was made with are not those of now, so that another reader must take over.
    public var isOutdated: Bool { client.isOutdated }

    /// Removes the next error, statistics or log line without waiting. Nil if there is none.
    public func nextEvent() -> ClientEvent? { events.nextClientEvent() }
}
