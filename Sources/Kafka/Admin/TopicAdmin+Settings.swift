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
        try TopicName.validate(topic)
        _ = try ClusterSnapshot(of: client, timeout: timeout) { events.drainErrors() }
        return try settings(RD_KAFKA_RESOURCE_TOPIC, topic, "topic '\(topic)'", timeout)
    }

    /// The settings of one of the brokers; most are the same for all of them.
    ///
    /// - Parameter timeout: How long to wait.
    /// - Returns: Every setting, those with their default included.
    /// - Throws: `isAuthorization` without the right to describe the cluster's configuration, `isUnreachable`, or `isAuthentication`.
    public func brokerSettings(timeout: Duration) throws(KafkaError) -> [TopicSetting] {
        let snapshot = try ClusterSnapshot(of: client, timeout: timeout) { events.drainErrors() }
        guard let broker = snapshot.anyBroker else { throw KafkaError(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) }
        return try settings(RD_KAFKA_RESOURCE_BROKER, String(broker), "broker \(broker)", timeout)
    }

    private func settings(
        _ type: rd_kafka_ResourceType_t, _ name: String, _ subject: String, _ timeout: Duration
    ) throws(KafkaError) -> [TopicSetting] {
        var resources: [OpaquePointer?] = [rd_kafka_ConfigResource_new(type, name)]
        defer { rd_kafka_ConfigResource_destroy_array(&resources, resources.count) }
        let result = try request(RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout: timeout) { options, queue in
            rd_kafka_DescribeConfigs(client.pointer, &resources, resources.count, options, queue)
        }
        defer { rd_kafka_event_destroy(result) }
        var count = 0
        let list = rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(result), &count)
        guard count == 1, let resource = list?[0] else { return [] }
        try KafkaError.check(rd_kafka_ConfigResource_error(resource), subject)
        var entryCount = 0
        let entries = UnsafeBufferPointer(start: rd_kafka_ConfigResource_configs(resource, &entryCount), count: entryCount)
        return entries.map {
            TopicSetting(
                name: String(cString: rd_kafka_ConfigEntry_name($0)),
                value: rd_kafka_ConfigEntry_value($0).map { String(cString: $0) },
                isDefault: rd_kafka_ConfigEntry_is_default($0) != 0)
        }
    }
}
