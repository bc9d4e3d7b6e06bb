import Basics
import CRDKafka

/// The brokers' description of themselves and of the topics that a client knows.
struct ClusterSnapshot {
    struct Topic {
        let name: String
        let partitions: [PartitionReplicas]
        let error: KafkaError?

        var partitionCount: Int { partitions.count }
    }

    let brokerCount: Int
    /// The number of one broker in service, which can be asked for its own settings, or nil when none is named.
    let anyBroker: Int32?
    private let topics: [Topic]

    /// Asks for the topics that `client` has handles for, or for one topic alone. Throws where authentication failed, or no
    /// broker answered in time.
    ///
    /// That a broker refuses us shows only in the client's errors while the request waits; so the wait is cut into slices, each
    /// twice as long as the one before for the sake of slow brokers, and `worstError` is asked in between.
    init(of client: ClientHandle, timeout: Duration, worstError: () -> KafkaError?) throws(KafkaError) {
        let metadata = try Self.request(client, timeout: timeout, worstError: worstError)
        defer { rd_kafka_metadata_destroy(metadata) }
        brokerCount = Int(metadata.pointee.broker_cnt)
        anyBroker = metadata.pointee.brokers.flatMap { metadata.pointee.broker_cnt > 0 ? $0.pointee.id : nil }
        let entries = UnsafeBufferPointer(start: metadata.pointee.topics, count: Int(metadata.pointee.topic_cnt))
        topics = entries.map { Topic($0) }
    }

    /// The topic `name` as far as it is known, or nil if the answer does not mention it.
    func topic(_ name: String) -> Topic? { topics.first { $0.name == name } }

    private static func request(
        _ client: ClientHandle, timeout: Duration, worstError: () -> KafkaError?
    ) throws(KafkaError) -> UnsafePointer<rd_kafka_metadata> {
        let deadline = ContinuousClock.now + timeout
        var slice = Duration.milliseconds(250)
        var reason: KafkaError?
        while true {
            let left = max(ContinuousClock.now.duration(to: deadline), .milliseconds(1))
            var metadata: UnsafePointer<rd_kafka_metadata>?
            let code = rd_kafka_metadata(client.pointer, 0, nil, &metadata, min(left, slice).timeoutMilliseconds)
            if code == RD_KAFKA_RESP_ERR_NO_ERROR, let metadata {
                client.diagnosis.watch?.answered()
                do throws(KafkaError) {
                    try client.checkCluster()
                } catch {
                    rd_kafka_metadata_destroy(metadata)
                    throw error
                }
                return metadata
            }
            reason = worstError() ?? reason ?? client.tokenError
            if let reason, reason.isAuthentication || reason.isFatal { throw reason }
            let error = KafkaError(code)
            if error.isUnreachable { client.diagnosis.watch?.noteFailure(reason?.brokerFailure?.cause) }
            guard error.isUnreachable, ContinuousClock.now < deadline else {
                throw error.saying(
                    "no answer from the brokers: \((reason ?? error).message)", brokerFailure: reason?.brokerFailure)
            }
            slice *= 2
        }
    }
}

extension ClusterSnapshot.Topic {
    fileprivate init(_ topic: rd_kafka_metadata_topic) {
        let name = topic.topic.map { String(cString: $0) } ?? ""
        self.name = name
        let entries = UnsafeBufferPointer(start: topic.partitions, count: Int(topic.partition_cnt)).sorted { $0.id < $1.id }
        partitions = entries.map {
            let inSync = UnsafeBufferPointer(start: $0.isrs, count: Int($0.isr_cnt))
            let missing = UnsafeBufferPointer(start: $0.replicas, count: Int($0.replica_cnt)).filter { !inSync.contains($0) }
            return PartitionReplicas(
                leader: $0.leader >= 0 ? $0.leader : nil, count: Int($0.replica_cnt), inSyncCount: inSync.count, missing: missing)
        }
        error =
            topic.err == RD_KAFKA_RESP_ERR_NO_ERROR
            ? nil : KafkaError(topic.err, message: "topic '\(name)': \(String(cString: rd_kafka_err2str(topic.err)))")
    }
}
