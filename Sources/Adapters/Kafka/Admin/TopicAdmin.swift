import Basics
import CRDKafka

/// Looks at topics and groups, creates and deletes topics. Every call blocks, up to its time-out, and may come from any thread, one at a time.
public final class TopicAdmin {
    let client: ClientHandle
    let events: ClientQueue

    /// Makes a client for the cluster of `configuration`. Nothing is sent yet.
    ///
    /// - Parameters:
    ///   - configuration: The brokers and the user's properties.
    ///   - seesUncommitted: Whether partitions end behind all that was written to them, that of open transactions included. Default no:
    ///     they end where reading ends for those who see only what was committed.
    /// - Throws: A configuration that was refused.
    public init(_ configuration: KafkaConfiguration, seesUncommitted: Bool = false) throws(KafkaError) {
        var fixed = [("allow.auto.create.topics", "false")]
        if seesUncommitted { fixed.append(("isolation.level", "read_uncommitted")) }
        let settings = try ClientSettings(configuration, defaults: Self.defaults, fixed: fixed)
        settings.withConf { rd_kafka_conf_set_events($0, RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_LOG) }
        // A consumer without a group: asking about a topic must not create it, which a producer cannot be kept from.
        client = try ClientHandle(RD_KAFKA_CONSUMER, settings: settings, inbox: nil)
        events = try ClientQueue.main(of: client)
    }

    /// Each call has a limit of its own. A shorter one of the connection would end a call with it, because of another request that the
    /// client makes by itself: a broker answers a connection's requests in order (`socket.timeout.ms`, `socket.max.fails`). In milliseconds,
    /// the most that rdkafka takes.
    private static var defaults: [ClientSettings.Setting] { [("socket.timeout.ms", "300000")] }

    /// Asks the cluster about itself and about `topics`.
    ///
    /// - Parameters:
    ///   - topics: The names to ask for; none is created by asking. One that Kafka does not allow is missing.
    ///   - timeout: How long to wait.
    /// - Returns: The cluster, with one description for each name.
    /// - Throws: `isUnreachable` if no broker answered, `isAuthentication` if they refused us.
    public func describe(topics: [String], timeout: Duration) throws(KafkaError) -> ClusterDescription {
        // A client that lives long has events of long ago.
        _ = events.drainErrors()
        for topic in topics { _ = try? client.addTopic(topic) }
        let snapshot = try ClusterSnapshot(of: client, timeout: timeout) { events.drainErrors() }
        let clusterID = rd_kafka_clusterid(client.pointer, timeout.timeoutMilliseconds)
        defer { rd_kafka_mem_free(client.pointer, clusterID) }
        return ClusterDescription(
            clusterID: clusterID.map { String(cString: $0) }, brokerCount: snapshot.brokerCount,
            topics: topics.map { Self.describe(snapshot.topic($0)) },
            partitions: topics.map { snapshot.topic($0)?.partitions ?? [] })
    }

    private static func describe(_ topic: ClusterSnapshot.Topic?) -> TopicDescription {
        guard let topic else { return .missing }
        guard let error = topic.error else { return .existing(partitionCount: topic.partitionCount) }
        return error.isUnknownTopicOrPartition ? .missing : .failed(error)
    }

    /// Creates `topics`. Brokers may learn of them a little later than this returns.
    ///
    /// - Parameters:
    ///   - topics: The topics; at least one.
    ///   - timeout: How long to wait.
    /// - Returns: What became of each, in the same order.
    /// - Throws: A bad name or number, a name that is listed twice, `isUnreachable`, or `isAuthentication`; whether topics were created is unknown after a time-out.
    public func createTopics(_ topics: [NewTopic], timeout: Duration) throws(KafkaError) -> [TopicCreation] {
        _ = try ClusterSnapshot(of: client, timeout: timeout) { events.drainErrors() }
        var handles: [OpaquePointer?] = []
        defer { rd_kafka_NewTopic_destroy_array(&handles, handles.count) }
        // The library crashes on an answer for a name that it asked for twice.
        guard Set(topics.map(\.name)).count == topics.count else { throw .invalidArgument("a topic is listed twice") }
        for topic in topics { handles.append(try Self.handle(for: topic)) }
        let result = try request(RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout: timeout) { options, queue in
            rd_kafka_CreateTopics(client.pointer, &handles, handles.count, options, queue)
        }
        defer { rd_kafka_event_destroy(result) }
        var count = 0
        let list = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(result), &count)
        let outcomes = UnsafeBufferPointer(start: list, count: count)
        return topics.map { topic in
            let outcome = outcomes.first { String(cString: rd_kafka_topic_result_name($0)) == topic.name }
            return Self.creation(outcome ?? nil)
        }
    }

    /// Gives a topic more partitions.
    ///
    /// - Parameters:
    ///   - topic: Its name.
    ///   - count: How many it is to have in all, more than it has.
    ///   - timeout: How long to wait.
    /// - Throws: The brokers refused it, or did not answer in time; whether it was done is unknown then.
    public func grow(topic: String, to count: Int, timeout: Duration) throws(KafkaError) {
        try TopicName.validate(topic)
        _ = try ClusterSnapshot(of: client, timeout: timeout) { events.drainErrors() }
        var reason = [CChar](repeating: 0, count: 256)
        var handles = [rd_kafka_NewPartitions_new(topic, count, &reason, reason.count)]
        guard handles[0] != nil else { throw .invalidArgument("topic '\(topic)': \(text(reason))") }
        defer { rd_kafka_NewPartitions_destroy(handles[0]) }
        let result = try request(RD_KAFKA_ADMIN_OP_CREATEPARTITIONS, timeout: timeout) { options, queue in
            rd_kafka_CreatePartitions(client.pointer, &handles, handles.count, options, queue)
        }
        defer { rd_kafka_event_destroy(result) }
        var found = 0
        let list = rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(result), &found)
        for outcome in UnsafeBufferPointer(start: list, count: found) {
            try KafkaError.check(rd_kafka_topic_result_error(outcome), what: "the topic '\(topic)' gets no more partitions")
        }
    }

    /// Deletes topics with all that is in them.
    ///
    /// - Parameters:
    ///   - names: The topics; at least one.
    ///   - timeout: How long to wait.
    /// - Returns: Those that are still there, with the reason; one that does not exist is gone.
    /// - Throws: `isUnreachable`, or `isAuthentication`; whether topics were deleted is unknown after a time-out.
    public func deleteTopics(_ names: [String], timeout: Duration) throws(KafkaError) -> [(name: String, reason: KafkaError)] {
        _ = try ClusterSnapshot(of: client, timeout: timeout) { events.drainErrors() }
        var handles: [OpaquePointer?] = names.map { rd_kafka_DeleteTopic_new($0) }
        defer { rd_kafka_DeleteTopic_destroy_array(&handles, handles.count) }
        let result = try request(RD_KAFKA_ADMIN_OP_DELETETOPICS, timeout: timeout) { options, queue in
            rd_kafka_DeleteTopics(client.pointer, &handles, handles.count, options, queue)
        }
        defer { rd_kafka_event_destroy(result) }
        var count = 0
        let list = rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(result), &count)
        return UnsafeBufferPointer(start: list, count: count).compactMap { outcome in
            let code = rd_kafka_topic_result_error(outcome)
            let reason = KafkaError(code, message: rd_kafka_topic_result_error_string(outcome).map { String(cString: $0) })
            guard code != RD_KAFKA_RESP_ERR_NO_ERROR, !reason.isUnknownTopicOrPartition else { return nil }
            return (String(cString: rd_kafka_topic_result_name(outcome)), reason)
        }
    }
}

extension TopicAdmin {
    private static func handle(for topic: NewTopic) throws(KafkaError) -> OpaquePointer {
        try TopicName.validate(topic.name)
        var reason = [CChar](repeating: 0, count: 256)
        let handle = rd_kafka_NewTopic_new(
            topic.name, Int32(clamping: topic.partitionCount ?? -1), Int32(clamping: topic.replicationFactor ?? -1), &reason,
            reason.count)
        guard let handle else { throw .invalidArgument("topic '\(topic.name)': \(text(reason))") }
        for property in topic.configuration {
            let code = rd_kafka_NewTopic_set_config(handle, property.key, property.value)
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
                rd_kafka_NewTopic_destroy(handle)
                throw .invalidArgument("topic '\(topic.name)': the setting '\(property.key)' is not accepted")
            }
        }
        return handle
    }

    private static func creation(_ result: OpaquePointer?) -> TopicCreation {
        guard let result else {
            return .failed(KafkaError(RD_KAFKA_RESP_ERR__BAD_MSG, message: "the broker's answer leaves the topic out"))
        }
        let code = rd_kafka_topic_result_error(result)
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return .created }
        let error = KafkaError(code, message: rd_kafka_topic_result_error_string(result).map { String(cString: $0) })
        return error.isTopicAlreadyExists ? .alreadyExists : .failed(error)
    }

    /// Sends an admin request and waits for its result, which the caller destroys.
    func request(
        _ operation: rd_kafka_admin_op_t, timeout: Duration, send: (_ options: OpaquePointer?, _ queue: OpaquePointer?) -> Void
    ) throws(KafkaError) -> OpaquePointer {
        let milliseconds = max(timeout.timeoutMilliseconds, 1)
        let options = rd_kafka_AdminOptions_new(client.pointer, operation)
        defer { rd_kafka_AdminOptions_destroy(options) }
        var reason = [CChar](repeating: 0, count: 256)
        rd_kafka_AdminOptions_set_request_timeout(options, milliseconds, &reason, reason.count)
        rd_kafka_AdminOptions_set_operation_timeout(options, milliseconds, &reason, reason.count)
        let queue = rd_kafka_queue_new(client.pointer)
        defer { rd_kafka_queue_destroy(queue) }
        send(options, queue)
        // The request's own time-out ends the wait with an error event; a little more than that, and something is very wrong.
        guard let event = rd_kafka_queue_poll(queue, milliseconds.addingReportingOverflow(2000).partialValue) else {
            throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT, message: "no answer from the brokers")
        }
        let code = rd_kafka_event_error(event)
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else {
            client.diagnosis.watch?.answered()
            return event
        }
        defer { rd_kafka_event_destroy(event) }
        throw client.diagnosis.explain(
            KafkaError(code, message: rd_kafka_event_error_string(event).map { String(cString: $0) }))
    }
}
