import Basics
import CRDKafka

/// A Kafka cluster inside this process, for the demo and for tests: librdkafka's own (rdkafka_mock.h).
///
/// Other local processes can connect to it. Everything is in memory and gone after `close`. In version 2.0.2 it only pretends to do transactions:
/// their offsets are not stored and aborted records stay visible. Groups, plain commits and errors are real enough.
public final class MockCluster {
    /// The address of its brokers.
    public let bootstrapServers: String

    /// The configuration for its clients. The cluster answers an empty fetch only when the wait is over, and cannot be asked what
    /// wakes a fetcher, so that waits are short and queues deep.
    public var configuration: KafkaConfiguration {
        KafkaConfiguration(
            bootstrapServers: bootstrapServers,
            properties: [.init(key: "fetch.wait.max.ms", value: "5"), .init(key: "queued.min.messages", value: "20000")])
    }

    private var owner: OpaquePointer?
    private var cluster: OpaquePointer?

    /// Starts `brokers` brokers on free ports of the loopback interface.
    public init(brokers: Int = 1) throws(KafkaError) {
        let settings = try ClientSettings(
            KafkaConfiguration(bootstrapServers: "127.0.0.1:1", clientID: "mock"), defaults: [], fixed: [])
        settings.withConf { rd_kafka_conf_set_log_cb($0) { _, _, _, _ in } }
        let owner = try settings.makeClient(RD_KAFKA_PRODUCER)
        guard let cluster = rd_kafka_mock_cluster_new(owner, Int32(clamping: brokers)) else {
            rd_kafka_destroy(owner)
            throw KafkaError(RD_KAFKA_RESP_ERR__FAIL, message: "the embedded Kafka cluster did not start")
        }
        bootstrapServers = String(cString: rd_kafka_mock_cluster_bootstraps(cluster))
        self.owner = owner
        self.cluster = cluster
    }

    deinit {
        close()
    }

    /// True for the id that such a cluster gives itself, as its clients hear it.
    public static func isEmbedded(clusterID: String) -> Bool { clusterID.hasPrefix("mockCluster") }

    /// Creates a topic, or throws for a name that is not allowed or taken. Without it, the first use creates one with 4
    /// partitions.
    public func createTopic(_ name: String, partitions: Int) throws(KafkaError) {
        try TopicName.validate(name)
        guard let cluster else { throw .closed }
        try KafkaError.check(
            rd_kafka_mock_topic_create(cluster, name, Int32(clamping: partitions), 1), what: "cannot create the topic '\(name)'")
    }

    /// Lets brokers say that a topic is missing, or no longer. Producers then write nothing there. What it holds stays.
    public func setTopic(_ name: String, isMissing: Bool) {
        guard let cluster else { return }
        rd_kafka_mock_topic_set_error(
            cluster, name, isMissing ? RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART : RD_KAFKA_RESP_ERR_NO_ERROR)
    }

    /// Lets brokers say that a topic may not be seen, or may again.
    public func setTopic(_ name: String, isForbidden: Bool) {
        guard let cluster else { return }
        rd_kafka_mock_topic_set_error(
            cluster, name, isForbidden ? RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED : RD_KAFKA_RESP_ERR_NO_ERROR)
    }

    /// Lets the next requests of a kind fail, one for each code.
    ///
    /// - Parameters:
    ///   - apiKey: The kind of request by its number in Kafka's protocol, such as 0 for Produce, 8 for OffsetCommit and 12 for Heartbeat.
    ///   - codes: The errors to answer with, as in `KafkaError.code`.
    public func failNext(apiKey: Int16, codes: [Int32]) {
        guard let cluster else { return }
        let errors = codes.map { rd_kafka_resp_err_t($0) }
        rd_kafka_mock_push_request_errors_array(cluster, apiKey, errors.count, errors)
    }

    /// Lets requests of a kind succeed again, however many were to fail by `failNext(apiKey:codes:)`.
    public func failNoMore(apiKey: Int16) {
        guard let cluster else { return }
        rd_kafka_mock_clear_request_errors(cluster, apiKey)
    }

    /// Takes a broker, counted from 1, out of service or puts it back. What it leads stays with it.
    public func setBroker(_ id: Int32, isUp: Bool) {
        guard let cluster else { return }
        _ = isUp ? rd_kafka_mock_broker_set_up(cluster, id) : rd_kafka_mock_broker_set_down(cluster, id)
    }

    /// Gives a partition another leader, a broker counted from 1, or none.
    public func setLeader(of partition: TopicPartition, to broker: Int32?) {
        guard let cluster else { return }
        _ = rd_kafka_mock_partition_set_leader(cluster, partition.topic, partition.partition, broker ?? -1)
    }

    /// Delays every answer of a broker, counted from 1.
    public func setBroker(_ id: Int32, roundTripTime: Duration) {
        guard let cluster else { return }
        rd_kafka_mock_broker_set_rtt(cluster, id, roundTripTime.timeoutMilliseconds)
    }

    /// Stops the brokers and frees everything. A second call does nothing. Clients of it should be closed before.
    public func close() {
        if let cluster { rd_kafka_mock_cluster_destroy(cluster) }
        if let owner { rd_kafka_destroy(owner) }
        cluster = nil
        owner = nil
    }
}
