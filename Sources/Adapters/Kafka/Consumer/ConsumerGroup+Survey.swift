import CRDKafka

extension ConsumerGroup {
    /// The numbers of partitions that topics have now. They can grow while a group goes on with what it was given.
    ///
    /// - Parameters:
    ///   - topics: Names of topics.
    ///   - timeout: How long to wait.
    /// - Returns: The number of each, in the same order; 0 for a topic that is not there.
    /// - Throws: No broker answered in time, or the consumer is closed.
    public func partitionCounts(of topics: [String], timeout: Duration) throws(KafkaError) -> [Int] {
        let client = try lease.current()
        for topic in topics { _ = try client.addTopic(topic) }
        let snapshot = try ClusterSnapshot(of: client, timeout: timeout) { nil }
        return topics.map { snapshot.topic($0)?.partitionCount ?? 0 }
    }

    /// The partitions that no member has, although the group is rebalanced.
    ///
    /// - Parameters:
    ///   - partitions: Those that a member should have.
    ///   - timeout: How long to wait.
    /// - Returns: Those that no member has; none while members join or leave.
    /// - Throws: The brokers did not answer in time, or the group must not be seen.
    public func unread(of partitions: [TopicPartition], timeout: Duration) throws(KafkaError) -> [TopicPartition] {
        let description = try lease.current().describe(group: id, timeout: timeout)
        guard description.state == .stable else { return [] }
        let read = Set(description.members.flatMap(\.partitions))
        // A member whose share cannot be read may have any of them.
        guard !description.members.isEmpty, !read.isEmpty else { return [] }
        return partitions.filter { !read.contains($0) }
    }
}
