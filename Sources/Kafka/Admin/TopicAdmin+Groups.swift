import CRDKafka

extension TopicAdmin {
    /// Asks a group's coordinator for the group's members and what they read.
    ///
    /// - Parameters:
    ///   - group: The group's name; one that does not exist is `dead`.
    ///   - timeout: How long to wait.
    /// - Returns: The group.
    /// - Throws: `isAuthorization` without the right to describe the group, `isUnreachable`, `isAuthentication`, or a broker that does not
    ///   know the question.
    public func describe(group: String, timeout: Duration) throws(KafkaError) -> GroupDescription {
        guard !group.isEmpty, !group.utf8.contains(0) else { throw .invalidArgument("the consumer group has no valid name") }
        _ = try ClusterSnapshot(of: client, timeout: timeout) { events.drainErrors() }
        let result = try request(RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, timeout: timeout) { options, queue in
            group.withCString { name in
                var names: [UnsafePointer<CChar>?] = [name]
                rd_kafka_DescribeConsumerGroups(client.pointer, &names, 1, options, queue)
            }
        }
        defer { rd_kafka_event_destroy(result) }
        var count = 0
        let list = rd_kafka_DescribeConsumerGroups_result_groups(
            rd_kafka_event_DescribeConsumerGroups_result(result), &count)
        guard count == 1, let description = list?[0] else {
            throw KafkaError(RD_KAFKA_RESP_ERR__BAD_MSG, message: "the broker's answer leaves the group out")
        }
        if let error = rd_kafka_ConsumerGroupDescription_error(description) {
            let code = rd_kafka_error_code(error)
            if code != RD_KAFKA_RESP_ERR_NO_ERROR {
                throw KafkaError(code, message: "group '\(group)': \(String(cString: rd_kafka_error_string(error)))")
            }
        }
        return GroupDescription(description)
    }
}

extension GroupDescription {
    /// A copy of what the library holds.
    fileprivate init(_ description: OpaquePointer) {
        state =
            switch rd_kafka_ConsumerGroupDescription_state(description) {
            case RD_KAFKA_CONSUMER_GROUP_STATE_STABLE: .stable
            case RD_KAFKA_CONSUMER_GROUP_STATE_PREPARING_REBALANCE, RD_KAFKA_CONSUMER_GROUP_STATE_COMPLETING_REBALANCE:
                .rebalancing
            case RD_KAFKA_CONSUMER_GROUP_STATE_EMPTY: .empty
            case RD_KAFKA_CONSUMER_GROUP_STATE_DEAD: .dead
            default: .unknown  // The library's enumeration is open: a newer one may have more.
            }
        members = (0..<rd_kafka_ConsumerGroupDescription_member_count(description)).compactMap { index in
            rd_kafka_ConsumerGroupDescription_member(description, index).map { GroupMember($0) }
        }
    }
}

extension GroupMember {
    fileprivate init(_ member: OpaquePointer) {
        instanceID = rd_kafka_MemberDescription_group_instance_id(member).map { String(cString: $0) }
        // Kafka writes "/10.0.0.7".
        let address = rd_kafka_MemberDescription_host(member).map { String(cString: $0) } ?? ""
        host = address.hasPrefix("/") ? String(address.dropFirst()) : address
        let assignment = rd_kafka_MemberDescription_assignment(member)
        let list = assignment.flatMap { rd_kafka_MemberAssignment_partitions($0) }
        let elements = UnsafeBufferPointer(start: list?.pointee.elems, count: Int(list?.pointee.cnt ?? 0))
        partitions = elements.map(\.topicPartition)
    }
}
