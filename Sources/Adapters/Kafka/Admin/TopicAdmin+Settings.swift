import CRDKafka

extension TopicAdmin {
    /// The settings of a topic as the broker applies them.
    ///
    /// - Parameters:
    ///   - topic: The topic's name.
    ///   - timeout: How long to wait.
    /// - Returns: Every setting, those with the broker's default included.
    /// - Throws: The topic is missing or must not be seen, `isUnreachable`, or `isAuthentication`.
    public func settings(ofTopic topic: String, timeout: Duration) throws(KafkaError) -> [TopicSetting] {
        guard let answer = try settings(ofTopics: [topic], timeout: timeout).first else { return [] }
        return try answer.get()
    }

    /// The settings of several topics, asked for at once.
    ///
    /// - Parameters:
    ///   - topics: The topics' names.
    ///   - timeout: How long to wait for all of them.
    /// - Returns: For each name, in order, its settings, or why they cannot be told.
    /// - Throws: `isUnreachable`, or `isAuthentication`.
    public func settings(
        ofTopics topics: [String], timeout: Duration
    ) throws(KafkaError) -> [Result<[TopicSetting], KafkaError>] {
        guard !topics.isEmpty else { return [] }
        for topic in topics { try TopicName.validate(topic) }
        _ = try ClusterSnapshot(of: client, timeout: timeout) { events.drainErrors() }
        return try settings(RD_KAFKA_RESOURCE_TOPIC, names: topics, kind: "topic", timeout: timeout)
    }

    /// The settings of one of the brokers. Most are the same for all of them.
    ///
    /// - Parameter timeout: How long to wait.
    /// - Returns: Every setting, those with their default included.
    /// - Throws: `isAuthorization` without the right to describe the cluster's configuration, `isUnreachable`, or `isAuthentication`.
    public func brokerSettings(timeout: Duration) throws(KafkaError) -> [TopicSetting] {
        let snapshot = try ClusterSnapshot(of: client, timeout: timeout) { events.drainErrors() }
        guard let broker = snapshot.anyBroker else { throw KafkaError(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) }
        guard let answer = try settings(RD_KAFKA_RESOURCE_BROKER, names: [String(broker)], kind: "broker", timeout: timeout).first
        else { return [] }
        return try answer.get()
    }

    private func settings(
        _ type: rd_kafka_ResourceType_t, names: [String], kind: String, timeout: Duration
    ) throws(KafkaError) -> [Result<[TopicSetting], KafkaError>] {
        var resources: [OpaquePointer?] = names.map { rd_kafka_ConfigResource_new(type, $0) }
        defer { rd_kafka_ConfigResource_destroy_array(&resources, resources.count) }
        let result = try request(RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout: timeout) { options, queue in
            rd_kafka_DescribeConfigs(client.pointer, &resources, resources.count, options, queue)
        }
        defer { rd_kafka_event_destroy(result) }
        var count = 0
        let list = rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(result), &count)
        let answers = UnsafeBufferPointer(start: list, count: count).compactMap(\.self)
        return names.map { name in
            guard let answer = answers.first(where: { String(cString: rd_kafka_ConfigResource_name($0)) == name }) else {
                return .failure(
                    KafkaError(RD_KAFKA_RESP_ERR__BAD_MSG, message: "the broker's answer leaves out \(kind) '\(name)'"))
            }
            return Result { () throws(KafkaError) in
                try KafkaError.check(rd_kafka_ConfigResource_error(answer), what: "\(kind) '\(name)'")
                return Self.entries(of: answer)
            }
        }
    }

    private static func entries(of resource: OpaquePointer) -> [TopicSetting] {
        var count = 0
        let entries = UnsafeBufferPointer(start: rd_kafka_ConfigResource_configs(resource, &count), count: count)
        return entries.map {
            TopicSetting(
                name: String(cString: rd_kafka_ConfigEntry_name($0)),
                value: rd_kafka_ConfigEntry_value($0).map { String(cString: $0) },
                isDefault: rd_kafka_ConfigEntry_is_default($0) != 0)
        }
    }
}
