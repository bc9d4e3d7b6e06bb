import Basics
import CRDKafka

/// A member of a consumer group that reads each of its partitions by itself, and gets rebalances as events instead of being driven by them.
///
/// Belongs to one thread. It polls `nextEvent()` until nil whenever the descriptor is readable, and several times a second in any case: that
/// alone keeps the member in its group (`max.poll.interval.ms`). A partition that is not read fills up to its limits and costs nothing more;
/// there is no pausing, which would throw away what was fetched. What may be called from other threads is in `group`.
public final class Consumer {
    /// The group's offsets and this member's place in the group. May be used from any thread.
    public let group: ConsumerGroup

    /// The partitions of the current assignment. The index of each is its slot.
    public private(set) var assignment: [TopicPartition] = []

    private let lease: ClientLease
    private let wakeUpFileDescriptor: Int32
    /// Nil after `close`.
    private var events: ClientQueue?
    private var partitionQueues: [ClientQueue] = []
    /// Those of the assignment before. What they still have holds their partitions, and these hold the brokers: of a partition whose topic
    /// was deleted the library forgets the queue, and then waits for ever when the client is freed (2.0.2).
    private var formerQueues: [ClientQueue] = []
    private(set) var refill: PrefetchRefill?
    /// A rebalance was handed out and not answered yet.
    private var owesAnswer = false
    /// Partitions that were taken without a group, until `nextEvent()` has handed them out.
    private var taken: [TopicPartition]?

    /// Makes a member of the group `groupID`. It joins with `subscribe(_:)`. Nothing is sent yet.
    ///
    /// - Parameters:
    ///   - configuration: The brokers and the user's properties.
    ///   - groupID: The group's name.
    ///   - instanceID: The member's stable name for static membership: a restart within the session time-out causes no rebalance, and every
    ///     commit is fenced. Nil for a member without a name.
    ///   - sessionTimeout: How long the group waits for a silent member. Default 10 s; brokers allow 6 s to 30 min.
    ///   - heartbeatInterval: How often the member says that it is there, which is also when it hears of a rebalance; all wait for the last one
    ///     to hear of it. Default 3 s, less than `sessionTimeout`.
    ///   - maxPollInterval: How long the member may go without `nextEvent()`, and how long the group waits for an answer to a rebalance.
    ///     Default 60 s, at least `sessionTimeout`.
    ///   - autoOffsetReset: Where to start if an offset is missing. Default `.earliest`.
    ///   - room: What the library may hold of each partition. Default `.large`.
    ///   - reportsPartitionEnd: Whether `read` says when it has reached the end of a partition. Default no, because it costs an event each time.
    ///   - wakeUpFileDescriptor: A non-blocking eventfd, to which 8 bytes are written when an event or record arrives where none was; -1 for
    ///     none. It must stay open until `close`.
    /// - Throws: A configuration that was refused.
    public init(
        _ configuration: KafkaConfiguration, groupID: String, instanceID: String? = nil, sessionTimeout: Duration = .seconds(10),
        heartbeatInterval: Duration = .seconds(3), maxPollInterval: Duration = .seconds(60),
        autoOffsetReset: OffsetReset = .earliest, room: QueueRoom = .large, reportsPartitionEnd: Bool = false,
        wakeUpFileDescriptor: Int32
    ) throws(KafkaError) {
        guard !groupID.isEmpty else { throw .invalidArgument("the consumer group has no name") }
        let defaults =
            Self.defaults + room.settings + [
                ("session.timeout.ms", "\(sessionTimeout.timeoutMilliseconds)"),
                ("heartbeat.interval.ms", "\(heartbeatInterval.timeoutMilliseconds)"),
                ("max.poll.interval.ms", "\(maxPollInterval.timeoutMilliseconds)"),
                ("auto.offset.reset", autoOffsetReset.rawValue),
            ]
        var fixed = Self.fixed + [("group.id", groupID), ("enable.partition.eof", reportsPartitionEnd ? "true" : "false")]
        if let instanceID { fixed.append(("group.instance.id", instanceID)) }
        let settings = try ClientSettings(configuration, defaults: defaults, fixed: fixed)
        settings.withConf {
            rd_kafka_conf_set_events(
                $0, RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS | RD_KAFKA_EVENT_LOG)
        }
        let client = try ClientHandle(RD_KAFKA_CONSUMER, settings: settings, inbox: nil)
        let events = try ClientQueue.consumer(of: client)
        if wakeUpFileDescriptor >= 0 { events.signal(wakeUpFileDescriptor) }
        refill = try PrefetchRefill(client)
        self.events = events
        self.wakeUpFileDescriptor = wakeUpFileDescriptor
        lease = ClientLease(client)
        group = ConsumerGroup(id: groupID, lease: lease)
    }

    deinit {
        close(timeout: .seconds(1))
    }

    /// Joins the group for `topics`, at least one. One that does not exist is reported as an event and joined when it appears.
    public func subscribe(_ topics: [String]) throws(KafkaError) {
        let client = try client()
        let list = OffsetList(capacity: topics.count)
        for topic in topics {
            try TopicName.validate(topic)
            try list.add(TopicPartition(topic: topic, partition: -1), offset: LogicalOffset.invalid)
        }
        try KafkaError.check(rd_kafka_subscribe(client.pointer, list.pointer), what: "cannot subscribe to the topics")
    }

    /// Takes partitions without joining the group, whose offsets it commits all the same. `nextEvent()` hands them out as an assignment.
    ///
    /// - Parameter partitions: The partitions, which no other member of the group may read.
    public func take(_ partitions: [TopicPartition]) { taken = partitions }

    /// Removes the next event without waiting. Call it until it returns nil: the descriptor is written only when an empty queue fills.
    public func nextEvent() -> ConsumerEvent? {
        guard let events else { return nil }
        if let partitions = taken {
            taken = nil
            return .assigned(partitions)
        }
        while let event = events.nextEvent() {
            defer { rd_kafka_event_destroy(event) }
            if rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE { return rebalance(event) }
            if let event = ClientEvent(event, of: events.client) { return ConsumerEvent(event) }
        }
        return nil
    }

    /// Starts to read each partition at its position, as the answer to `.assigned`, replacing any assignment before.
    ///
    /// - Parameters:
    ///   - positions: The partitions; the index of each becomes its slot.
    ///   - arrivals: A pipe to which the slot of a partition is written, 4 bytes, when a record arrives in it where none was, with the same
    ///     obligations as the descriptor of events. Nil, the default, for that one.
    /// - Throws: The library refused; nothing can be read then, and the answer is still owed.
    public func assign(
        _ positions: [(partition: TopicPartition, start: StartOffset)], arrivals: Int32? = nil
    ) throws(KafkaError) {
        let client = try client()
        // Of a partition that is assigned anew while it is assigned, librdkafka 2.0.2 delivers nothing.
        if !assignment.isEmpty { try unassign() }
        // Before the same queues get a signal, and the records that are to be read.
        dropFormerQueues()
        let list = OffsetList(capacity: positions.count)
        var queues: [ClientQueue] = []
        for (slot, position) in positions.enumerated() {
            try list.add(position.partition, offset: position.start.value)
            let queue = try ClientQueue.partition(position.partition, of: client)
            if let arrivals {
                queue.signal(arrivals, number: slot)
            } else if wakeUpFileDescriptor >= 0 {
                queue.signal(wakeUpFileDescriptor)
            }
            queues.append(queue)
        }
        try KafkaError.check(rd_kafka_assign(client.pointer, list.pointer), what: "cannot take the assignment")
        owesAnswer = false
        partitionQueues = queues
        assignment = positions.map(\.partition)
    }

    /// Stops reading all partitions, as the answer to `.revoked`. Throws where the library refuses, or the consumer is closed.
    public func unassign() throws(KafkaError) {
        let client = try client()
        releasePartitions()
        try KafkaError.check(rd_kafka_assign(client.pointer, nil), what: "cannot give the assignment back")
        owesAnswer = false
    }

    /// Takes one record of a partition, if there is one, and lets `body` look at it.
    ///
    /// The descriptor is written only when an empty queue fills: read until `.empty`, or remember that there may be more.
    ///
    /// - Parameters:
    ///   - slot: The partition's index in `assignment`; one that is not assigned is empty.
    ///   - body: Looks at the record, which is gone when it returns.
    /// - Returns: What there was.
    /// - Throws: What `body` throws; the record is gone then too.
    public func read<Failure>(
        slot: Int, perform body: (borrowing ConsumedRecord) throws(Failure) -> Void
    ) throws(Failure) -> ReadResult {
        // A failed rebalance takes the assignment away before the caller can know: then there is nothing to read, and no crash.
        guard partitionQueues.indices.contains(slot) else { return .empty }
        return try partitionQueues[slot].read(perform: body)
    }

    /// Goes to another place in a partition that is read: as `PartitionReader.goBack`.
    ///
    /// - Parameters:
    ///   - slot: The partition's index in `assignment`; for one that is not assigned, nothing is done.
    ///   - offset: The offset of the record that is to come next.
    /// - Throws: The library refused; the partition is read on as before then.
    public func goBack(slot: Int, to offset: Int64) throws(KafkaError) {
        guard assignment.indices.contains(slot) else { return }
        let client = try client()
        let topic = client.topic(try client.addTopic(assignment[slot].topic))
        let code = rd_kafka_seek(topic, assignment[slot].partition, offset, 0)
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { throw KafkaError(code) }
    }

    /// Has records fetched on before a partition's queue is empty. To be called every 10 ms or so while records are read.
    ///
    /// - Parameter slots: The partitions that may have records. The others have none that would have to be fetched on.
    public func keepFetching(_ slots: some Sequence<Int>) { refill?.check(partitionQueues, slots: slots) }

    /// True if properties or certificates have changed since it was made (`LiveProperties`). It works on, and another should take its place.
    public var isOutdated: Bool { (try? lease.current())?.isOutdated ?? false }

    /// The reason that the process may not go on: another cluster answers than the first. Nil while none does. To be asked once a second.
    public var clusterFailure: KafkaError? { (try? lease.current())?.clusterFailure }

    /// The oldest and the next offset of a partition as the last fetch reported them, or nil before the first.
    ///
    /// - Parameter slot: The partition's index in `assignment`.
    /// - Returns: The offsets; no request is sent.
    public func watermarks(slot: Int) -> Watermarks? {
        guard partitionQueues.indices.contains(slot) else { return nil }
        return partitionQueues[slot].client.watermarks(of: assignment[slot])
    }

    /// Leaves the group and frees everything. A second call does nothing.
    ///
    /// A revocation that the group wants answered meanwhile is answered at once: drain and commit before. A member with an instance name keeps
    /// its partitions until the session time-out, for its successor.
    ///
    /// - Parameter timeout: How long to wait for the library. Then the client is abandoned with its threads and memory instead of being freed,
    ///   because to free it could take for ever; a process that is about to end loses nothing by it.
    /// - Returns: Whether the member left in time. A member that failed for good (`isFatal`) has left already and gives false.
    @discardableResult
    public func close(timeout: Duration) -> Bool {
        guard let client = lease.end() else { return true }
        while nextEvent() != nil {}
        releasePartitions()
        refill = nil
        // The library waits for ever, even when it is destroyed, for the answer to a rebalance that was taken off its queue.
        if owesAnswer { rd_kafka_assign(client.pointer, nil) }
        events = nil
        let hasLeft = Self.leave(client, timeout: timeout)
        dropFormerQueues()
        return hasLeft
    }
}

/// The offsets between which a partition's records lie.
public struct Watermarks: Sendable, Equatable {
    /// The offset of the oldest record that is kept.
    public let low: Int64
    /// The offset that the next record will get.
    public let high: Int64
}

extension ClientHandle {
    /// The oldest and the next offset of a partition as the last fetch reported them, or nil before the first.
    func watermarks(of partition: TopicPartition) -> Watermarks? {
        var low: Int64 = 0
        var high: Int64 = 0
        // The name as it is. Where it is an argument itself, an array is made of it.
        let result = partition.topic.withCString {
            rd_kafka_get_watermark_offsets(pointer, $0, partition.partition, &low, &high)
        }
        guard result == RD_KAFKA_RESP_ERR_NO_ERROR, high >= 0 else { return nil }
        return Watermarks(low: low, high: high)
    }
}

extension Consumer {
    /// Small waits, and for each partition a queue of two thousand records, which `keepFetching` refills: a fetch brings about 1,000 of
    /// the usual size more. Large records are bounded by their bytes (`QueueRoom`). A broker that has nothing is asked 12 times a second
    /// at most (`QueueRoom.fetchWait`), each of which takes 130 us for 24 partitions. A partition whose queue is full is missing in the fetch and has to wait for its end.
    /// For that time the 1,000 records that `keepFetching` leaves in it last at 12,500/s.
    private static var defaults: [ClientSettings.Setting] {
        [
            ("fetch.error.backoff.ms", "100"), ("queued.min.messages", "\(PrefetchRefill.defaultLimit)"),
            ("partition.assignment.strategy", "range,roundrobin"),
        ] + PrefetchRefill.settings
    }

    /// Offsets are committed by the caller alone, and only what was committed is read.
    private static var fixed: [ClientSettings.Setting] {
        [("enable.auto.commit", "false"), ("enable.auto.offset.store", "false"), ("isolation.level", "read_committed")]
    }

    private func client() throws(KafkaError) -> ClientHandle { try lease.current() }

    private func releasePartitions() {
        // A second release, of nothing, leaves those of the first.
        if !partitionQueues.isEmpty { formerQueues = partitionQueues }
        for queue in partitionQueues { queue.signalNoMore() }
        partitionQueues.removeAll()
        assignment.removeAll()
    }

    private func dropFormerQueues() {
        for queue in formerQueues { queue.dropMessages() }
        formerQueues.removeAll()
    }

    private func rebalance(_ event: OpaquePointer) -> ConsumerEvent? {
        guard let client = events?.client.pointer else { return nil }
        let list = rd_kafka_event_topic_partition_list(event)
        let elements = UnsafeBufferPointer(start: list?.pointee.elems, count: Int(list?.pointee.cnt ?? 0))
        let partitions = elements.map(\.topicPartition)
        let code = rd_kafka_event_error(event)
        owesAnswer = true
        switch code {
        case RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS:
            events?.client.diagnosis.watch?.answered()
            return .assigned(partitions)
        case RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS:
            return .revoked(partitions, isLost: rd_kafka_assignment_lost(client) != 0)
        default:
            // The group is in trouble: all that the library wants is that the assignment be given up (rdkafka.h, rebalance_cb).
            releasePartitions()
            owesAnswer = false
            rd_kafka_assign(client, nil)
            return .error(KafkaError(code, message: "the rebalance failed: \(String(cString: rd_kafka_err2str(code)))"))
        }
    }

    private static func leave(_ client: ClientHandle, timeout: Duration) -> Bool {
        let deadline = ContinuousClock.now + timeout
        do {
            let queue = try ClientQueue.empty(of: client)
            try queue.closeConsumer()
            while rd_kafka_consumer_closed(client.pointer) == 0 {
                guard ContinuousClock.now < deadline else {
                    _ = Unmanaged.passRetained(client)  // Abandoned on purpose, as the declaration of `close` says.
                    return false
                }
                guard let event = queue.nextEvent(waiting: 50) else { continue }
                defer { rd_kafka_event_destroy(event) }
                if rd_kafka_event_type(event) == RD_KAFKA_EVENT_REBALANCE { rd_kafka_assign(client.pointer, nil) }
            }
            return true
        } catch {
            return false  // After a fatal error there is no group to leave.
        }
    }
}
