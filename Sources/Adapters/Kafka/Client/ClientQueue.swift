import CRDKafka

/// Owns a reference to one of a client's queues. Used by one thread at a time. Keeps the client alive.
final class ClientQueue {
    let client: ClientHandle
    private let pointer: OpaquePointer
    /// The number of bytes of the value that was read last, or 0 before the first.
    var lastValueByteCount = 0

    private init(_ client: ClientHandle, pointer: OpaquePointer) {
        self.client = client
        self.pointer = pointer
    }

    deinit {
        // The queue itself may outlive this reference and must not write to a descriptor that is somebody else's by then.
        signalNoMore()
        rd_kafka_queue_destroy(pointer)
    }

    /// A new queue that nothing is forwarded to yet.
    static func empty(of client: ClientHandle) throws(KafkaError) -> ClientQueue {
        try of(client, pointer: rd_kafka_queue_new(client.pointer))
    }

    /// The queue for what the client says about itself.
    static func main(of client: ClientHandle) throws(KafkaError) -> ClientQueue {
        try of(client, pointer: rd_kafka_queue_get_main(client.pointer))
    }

    /// The queue that a member of a group must poll: rebalances, and after `rd_kafka_poll_set_consumer` the main queue's events too.
    static func consumer(of client: ClientHandle) throws(KafkaError) -> ClientQueue {
        rd_kafka_poll_set_consumer(client.pointer)
        return try of(client, pointer: rd_kafka_queue_get_consumer(client.pointer))
    }

    /// The queue of one partition, cut off from the consumer's queue.
    ///
    /// Cut off before the partition is assigned, so that no record takes the other way; the library remembers it for later assignments.
    static func partition(_ partition: TopicPartition, of client: ClientHandle) throws(KafkaError) -> ClientQueue {
        let queue = try of(client, pointer: rd_kafka_queue_get_partition(client.pointer, partition.topic, partition.partition))
        rd_kafka_queue_forward(queue.pointer, nil)
        return queue
    }

    private static func of(_ client: ClientHandle, pointer: OpaquePointer?) throws(KafkaError) -> ClientQueue {
        guard let pointer else { throw KafkaError(RD_KAFKA_RESP_ERR__STATE, message: "the Kafka client has no such queue") }
        return ClientQueue(client, pointer: pointer)
    }

    /// Writes 8 bytes, the number 1, to `descriptor` whenever the queue stops being empty, but not again before it was read until
    /// empty, and not for what lies in it already.
    func signal(_ descriptor: Int32) {
        withUnsafeBytes(of: 1 as UInt64) { rd_kafka_queue_io_event_enable(pointer, descriptor, $0.baseAddress, $0.count) }
    }

    /// Writes 4 bytes, `number`, to `pipe` by the same rule.
    func signal(_ pipe: Int32, number: Int) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: number)) {
            rd_kafka_queue_io_event_enable(pointer, pipe, $0.baseAddress, $0.count)
        }
    }

    /// Writes to no descriptor any more.
    func signalNoMore() { rd_kafka_queue_io_event_enable(pointer, -1, nil, 0) }

    /// Removes the next event, which the caller destroys.
    func nextEvent(waiting milliseconds: Int32 = 0) -> OpaquePointer? {
        rd_kafka_queue_poll(pointer, milliseconds)
    }

    /// Removes the next event of the client itself. Those of other kinds are destroyed.
    func nextClientEvent(waiting milliseconds: Int32 = 0) -> ClientEvent? {
        while let event = nextEvent(waiting: milliseconds) {
            defer { rd_kafka_event_destroy(event) }
            if let event = ClientEvent(event, of: client) { return event }
        }
        return nil
    }

    /// Removes all events of the client, and returns the error among them that says most about why no broker answers.
    func drainErrors() -> KafkaError? {
        var events: [ClientEvent] = []
        while let event = nextClientEvent() { events.append(event) }
        return KafkaError.worst(of: events)
    }

    /// Removes the next record or error of a partition, which the caller destroys.
    func nextMessage(waiting milliseconds: Int32 = 0) -> UnsafeMutablePointer<rd_kafka_message_t>? {
        rd_kafka_consume_queue(pointer, milliseconds)
    }

    /// Drops the records and errors that it has.
    func dropMessages() { while let message = nextMessage() { rd_kafka_message_destroy(message) } }

    /// The number of events or records in it.
    var count: Int { rd_kafka_queue_length(pointer) }

    /// Asks every broker for its groups. The answer comes into this queue.
    func listGroups(_ options: OpaquePointer?) { rd_kafka_ListConsumerGroups(client.pointer, options, pointer) }

    /// Lets the partition's records flow into this queue from `offset` on, without a group.
    func startReading(topic: OpaquePointer, partition: Int32, offset: Int64) throws(KafkaError) {
        guard rd_kafka_consume_start_queue(topic, partition, offset, pointer) == 0 else {
            throw KafkaError(rd_kafka_last_error())
        }
    }

    /// Leaves the group in the background. Its events go to this queue.
    func closeConsumer() throws(KafkaError) {
        if let error = KafkaError(consuming: rd_kafka_consumer_close_queue(client.pointer, pointer)) { throw error }
    }
}
