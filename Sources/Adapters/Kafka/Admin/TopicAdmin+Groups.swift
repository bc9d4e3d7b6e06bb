import Basics
import CRDKafka

extension TopicAdmin {
    /// Asks the brokers for a group's members and what they read.
    ///
    /// The library's newer request for this (`rd_kafka_DescribeConsumerGroups`) ends the whole process with an assertion when the connection to
    /// the group's coordinator breaks meanwhile (librdkafka, issue 4605); this one asks every broker and does not.
    ///
    /// - Parameters:
    ///   - group: The group's name; one that does not exist, or must not be seen, is `absent`.
    ///   - timeout: How long to wait.
    /// - Returns: The group.
    /// - Throws: `isUnreachable`, `isAuthentication`, a coordinator that is just being appointed, or a broker that does not know the question.
    public func describe(group: String, timeout: Duration) throws(KafkaError) -> GroupDescription {
        guard !group.isEmpty, !group.utf8.contains(0) else { throw .invalidArgument("the consumer group has no valid name") }
        _ = try ClusterSnapshot(of: client, timeout: timeout) { events.drainErrors() }
        return try client.describe(group: group, timeout: timeout)
    }
}

extension ClientHandle {
    /// Asks every broker for a group: see `TopicAdmin.describe(group:timeout:)`.
    func describe(group: String, timeout: Duration) throws(KafkaError) -> GroupDescription {
        var list: UnsafePointer<rd_kafka_group_list>?
        let code = rd_kafka_list_groups(pointer, group, &list, max(timeout.timeoutMilliseconds, 1))
        defer { if let list { rd_kafka_group_list_destroy(list) } }
        if code != RD_KAFKA_RESP_ERR__PARTIAL { try KafkaError.check(code, what: "cannot ask who is in the group '\(group)'") }
        let found = UnsafeBufferPointer(start: list?.pointee.groups, count: Int(list?.pointee.group_cnt ?? 0))
            .first { String(cString: $0.group) == group }
        guard let found else {
            // The broker that did not answer may be the group's.
            try KafkaError.check(code, what: "cannot ask who is in the group '\(group)'")
            return GroupDescription(state: .absent, members: [])
        }
        try KafkaError.check(found.err, what: "cannot ask who is in the group '\(group)'")
        return GroupDescription(found)
    }
}

extension GroupDescription {
    /// A copy of what the library holds.
    fileprivate init(_ group: rd_kafka_group_info) {
        self.init(
            state: State(word: group.state.map { String(cString: $0) } ?? ""),
            members: UnsafeBufferPointer(start: group.members, count: Int(group.member_cnt)).map { GroupMember($0) },
            coordinator: group.broker.id)
    }
}

extension GroupMember {
    fileprivate init(_ member: rd_kafka_group_member_info) {
        let assignment = UnsafeRawBufferPointer(
            start: member.member_assignment, count: Int(max(0, member.member_assignment_size)))
        self.init(
            memberID: member.member_id.map { String(cString: $0) } ?? "",
            host: member.client_host.map { String(cString: $0) } ?? "", assignment: Array(assignment),
            clientID: member.client_id.map { String(cString: $0) } ?? "")
    }
}
