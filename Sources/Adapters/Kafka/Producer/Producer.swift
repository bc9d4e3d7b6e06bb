import Basics
import CRDKafka

/// Writes records, each once and in order per partition, and with a transactional id all or none of them together with offsets.
///
/// `produce`, the transaction calls, `flush` and `poll` belong to one thread at a time; it may change. Nothing breaks if they do not, but records
/// may land in the wrong transaction. Without transactions, threads may produce while another one polls. `close` may be called from any
/// thread, and ends no call in flight.
public final class Producer: Sendable {
    /// A topic that the producer writes to.
    public struct Topic: Sendable, Hashable {
        let index: Int
        /// The topic's name.
        public let name: String
    }

    let lease: ClientLease
    let inbox: ClientInbox
    private let enqueueTimeout: Duration

    /// Makes a producer. Nothing is sent yet.
    ///
    /// - Parameters:
    ///   - configuration: The brokers and the user's properties.
    ///   - transactionalID: The stable name under which the broker fences earlier producers; nil for one without transactions.
    ///   - transactionTimeout: After which the broker aborts a transaction left open, and the limit of a record's delivery. Default 15 s;
    ///     the broker allows up to 15 min. Ignored without `transactionalID`.
    ///   - enqueueTimeout: How long `produce` waits for room in the library's queue, and polls meanwhile. Default 10 s; with zero it
    ///     neither waits nor polls.
    /// - Throws: A configuration that was refused.
    public init(
        _ configuration: KafkaConfiguration, transactionalID: String?, transactionTimeout: Duration = .seconds(15),
        enqueueTimeout: Duration = .seconds(10)
    ) throws(KafkaError) {
        var defaults = Self.defaults
        var fixed = Self.fixed
        if let transactionalID {
            guard !transactionalID.isEmpty else { throw .invalidArgument("the transactional id is empty") }
            fixed.append(("transactional.id", transactionalID))
            defaults.append(("transaction.timeout.ms", "\(transactionTimeout.timeoutMilliseconds)"))
        }
        let settings = try ClientSettings(configuration, defaults: defaults, fixed: fixed)
        inbox = ClientInbox(settings.diagnosis)
        lease = ClientLease(try ClientHandle(RD_KAFKA_PRODUCER, settings: settings, inbox: inbox))
        self.enqueueTimeout = enqueueTimeout
    }

    deinit {
        close(timeout: .zero)
    }

    /// One request at a time to each broker. Else a second one overtakes a first that was refused while the partition had no leader. A
    /// broker that does not know the producer yet then takes the first one for a duplicate, and it is lost although it is confirmed
    /// (seen with librdkafka 2.0.2 and Kafka 4.3.1). A transaction's records of a partition are one request anyway.
    private static var fixed: [ClientSettings.Setting] {
        [
            ("enable.idempotence", "true"), ("delivery.report.only.error", "false"),
            ("max.in.flight.requests.per.connection", "1"),
        ]
    }

    /// The settings that small transactions need to be quick: no lingering and short retries. The partitioner is that of the Java
    /// client.
    private static var defaults: [ClientSettings.Setting] {
        [("linger.ms", "1"), ("retry.backoff.ms", "10"), ("compression.type", "lz4"), ("partitioner", "murmur2_random")]
    }

    /// Makes the topics known and fetches where their partitions are, so that the first record does not wait up to 1 s for it.
    ///
    /// - Parameters:
    ///   - topics: The names of the topics.
    ///   - timeout: How long to wait for the brokers.
    /// - Returns: A topic for each name, in the same order.
    /// - Throws: No broker answered, or a topic is missing or not allowed; the message names it.
    public func warmUp(topics: [String], timeout: Duration) throws(KafkaError) -> [Topic] {
        let faults = try faults(of: topics, timeout: timeout)
        for name in topics {
            if let error = faults[name] { throw error }
        }
        var result: [Topic] = []
        for topic in topics { result.append(try self.topic(named: topic)) }
        return result
    }

    /// Makes the topics known as ``warmUp(topics:timeout:)`` does, and says what is wrong with each that is missing, not allowed or
    /// without a leader. Throws where no broker answered within `timeout`.
    public func faults(of topics: [String], timeout: Duration) throws(KafkaError) -> [String: KafkaError] {
        let client = try lease.current()
        for topic in topics { _ = try self.topic(named: topic) }
        let known = try ClusterSnapshot(of: client, timeout: timeout) {
            rd_kafka_poll(client.pointer, 0)
            return inbox.worstError
        }
        var faults: [String: KafkaError] = [:]
        for topic in topics { faults[topic] = known.topic(topic)?.error }
        return faults
    }

    /// The number of partitions that a topic of this producer has, as the brokers know it now. Throws where no broker answered
    /// within `timeout`, or the topic is missing or not allowed.
    public func partitionCount(of topic: Topic, timeout: Duration) throws(KafkaError) -> Int32 {
        let client = try lease.current()
        let known = try ClusterSnapshot(of: client, timeout: timeout) { inbox.worstError }.topic(topic.name)
        if let error = known?.error { throw error }
        return Int32(known?.partitionCount ?? 0)
    }

    /// Makes a topic known by name alone, or throws for one that Kafka does not allow. Its first record may wait up to 1 s.
    public func topic(named name: String) throws(KafkaError) -> Topic {
        Topic(index: try lease.current().addTopic(name), name: name)
    }

    /// Hands a record to the library, which copies it and writes it in the background.
    ///
    /// - Parameters:
    ///   - topic: A topic of this producer.
    ///   - partition: The partition's number; nil lets the key decide, or chance without a key.
    ///   - key: The key; nil for none.
    ///   - value: The value; nil for a tombstone.
    ///   - headers: The headers.
    ///   - timestamp: Milliseconds since 1970; nil for now.
    /// - Throws: The record was not taken: it is too large, the queue stayed full, the transaction failed. Failures that come later are counted
    ///   in `failedDeliveries`.
    public func produce(
        to topic: Topic, partition: Int32? = nil, key: Span<UInt8>?, value: Span<UInt8>?,
        headers: consuming HeaderList = HeaderList(),
        timestamp: Int64? = nil
    ) throws(KafkaError) {
        let client = try lease.current()
        if let failure = client.diagnosis.watch?.clusterFailure { throw failure }
        let result = try headers.give { list in
            let result = withBytes(key) { key in
                withBytes(value) { value in
                    enqueue(
                        client, topic: client.topic(topic.index), partition: partition ?? -1, key: key, value: value,
                        headers: list, timestamp: timestamp ?? 0)
                }
            }
            return (result, result == RD_KAFKA_RESP_ERR_NO_ERROR)
        }
        guard result != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
        throw refusal(result, of: topic, client: client)
    }

    /// The partition that a record with this key goes to in a topic of `count` partitions, 1 or more, unless the user's properties name
    /// another partitioner. As `rd_kafka_msg_partitioner_murmur2` of rdkafka.h says, which is that of the Java client.
    public static func partition(ofKey key: Span<UInt8>, of count: Int32) -> Int32 {
        key.withUnsafeBytes { rd_kafka_msg_partitioner_murmur2(nil, $0.baseAddress, $0.count, count, nil, nil) }
    }

    /// Serves delivery reports and whatever else is waiting. A producer that is not used otherwise needs it now and then.
    public func poll() {
        guard let client = try? lease.current() else { return }
        rd_kafka_poll(client.pointer, 0)
    }

    /// Waits until something is there to be served, and serves all of it: delivery reports come in the thread that calls this.
    ///
    /// A service calls it again and again in a thread of its own, until it throws.
    ///
    /// - Parameter timeout: How long to wait; a call in flight goes on for as long even when the producer is closed.
    /// - Throws: An error with `isClosed` after `close`.
    public func poll(timeout: Duration) throws(KafkaError) {
        let client = try lease.current()
        // Not thrown, because reports are still to come.
        if client.clusterFailure != nil { rd_kafka_purge(client.pointer, RD_KAFKA_PURGE_F_QUEUE) }
        rd_kafka_poll(client.pointer, timeout.timeoutMilliseconds)
    }

    /// Waits until every record was written or given up, and tells the reports that come meanwhile.
    ///
    /// - Parameter timeout: How long to wait; nil for as long as it takes.
    /// - Throws: An error with `isTimeout` if records are still waiting.
    public func flush(timeout: Duration?) throws(KafkaError) {
        let client = try lease.current()
        try KafkaError.check(
            rd_kafka_flush(client.pointer, timeout.timeoutMilliseconds), what: "records were not written in time")
    }

    /// The records accepted since `beginTransaction` (or the start) and not written.
    public var failedDeliveries: DeliveryFailures { inbox.failures }

    /// True if properties or certificates have changed since it was made (`LiveProperties`). It works on, and another should take its place.
    public var isOutdated: Bool { (try? lease.current())?.isOutdated ?? false }

    /// Removes the next error, statistics or log line that came in during a call before. Nil if there is none.
    public func nextEvent() -> ClientEvent? { inbox.next() }

    /// Writes what is waiting, and frees everything. A second call does nothing. Abort a transaction before, or the broker will
    /// when it times out.
    ///
    /// Every report that did not come before comes now: with what the library knows, or else as possibly persisted.
    ///
    /// - Parameter timeout: How long to wait for records that are not written yet; what is left then is given up.
    public func close(timeout: Duration) {
        guard let client = lease.end() else { return }
        // All that is left was for another cluster than the one that answers now.
        if client.clusterFailure != nil { rd_kafka_purge(client.pointer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT) }
        rd_kafka_flush(client.pointer, timeout.timeoutMilliseconds)
        rd_kafka_purge(client.pointer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT)
        rd_kafka_poll(client.pointer, 0)
        inbox.reports.end()
    }
}

extension Producer {
    private typealias Bytes = UnsafeBufferPointer<UInt8>?

    private func enqueue(
        _ client: ClientHandle, topic: OpaquePointer, partition: Int32, key: Bytes, value: Bytes, headers: OpaquePointer?,
        timestamp: Int64
    ) -> rd_kafka_resp_err_t {
        var deadline: ContinuousClock.Instant?
        while true {
            let result = pushfan_rdkafka_produce(
                client.pointer, topic, partition, key?.baseAddress, key?.count ?? 0, value?.baseAddress, value?.count ?? 0,
                timestamp,
                headers)
            guard result == RD_KAFKA_RESP_ERR__QUEUE_FULL, waitForRoom(client, until: &deadline) else { return result }
        }
    }

    /// The reason that the library did not take a record.
    func refusal(_ code: rd_kafka_resp_err_t, of topic: Topic, client: ClientHandle) -> KafkaError {
        let reason = KafkaError.reported(code, message: nil, by: client.pointer, isFatal: false)
        return reason.saying("a record for '\(topic.name)' was not taken: \(reason.message)")
    }

    /// Gives the full queue of a client a moment to get shorter, until a deadline that the first call sets. Returns whether to
    /// try again.
    func waitForRoom(_ client: ClientHandle, until deadline: inout ContinuousClock.Instant?) -> Bool {
        guard enqueueTimeout > .zero else { return false }
        let now = ContinuousClock.now
        let end = deadline ?? now + enqueueTimeout
        deadline = end
        guard now < end else { return false }
        rd_kafka_poll(client.pointer, 10)
        return true
    }
}
