/// The growth of a partition since a time.
public struct PartitionGrowth: Sendable, Equatable {
    /// The partition.
    public var partition: TopicPartition
    /// The offset of the first record that is not older than the time, or nil where every record is older.
    public var start: Int64?
    /// The offset behind the last record.
    public var end: Int64

    /// A partition with both offsets.
    public init(_ partition: TopicPartition, from start: Int64?, to end: Int64) {
        self.partition = partition
        self.start = start
        self.end = end
    }

    /// The offsets from `start` to `end`, or 0 if every record is older.
    public var count: Int64 { start.map { max(0, max(0, end) - max(0, $0)) } ?? 0 }
}

extension Producer {
    /// Reads how far topics have grown since a time: one query for their partitions, and two for the offsets of all of them. Any thread
    /// may call it.
    ///
    /// - Parameters:
    ///   - topics: The names of the topics. One that brokers do not describe is left out.
    ///   - time: Milliseconds since 1970. Earlier times count as 0.
    ///   - timeout: How long each question may take.
    /// - Returns: One element for each partition.
    /// - Throws: No broker answered, or a partition has no leader.
    public func growths(of topics: Set<String>, since time: Int64, timeout: Duration) throws(KafkaError) -> [PartitionGrowth] {
        let client = try lease.current()
        for topic in topics { _ = try client.addTopic(topic) }
        let known = try ClusterSnapshot(of: client, timeout: timeout) { inbox.worstError }
        let partitions = topics.flatMap { topic in
            (0..<Int32(known.topic(topic)?.partitionCount ?? 0)).map { TopicPartition(topic: topic, partition: $0) }
        }
        guard !partitions.isEmpty else { return [] }
        // Times before 1970 would be taken for the logical offsets.
        let starts = try client.offsetsAtOnce(of: partitions, at: max(0, time), timeout: timeout)
        let ends = try client.offsetsAtOnce(of: partitions, at: LogicalOffset.end, timeout: timeout)
        return zip(partitions, zip(starts, ends)).map { PartitionGrowth($0, from: $1.0 >= 0 ? $1.0 : nil, to: $1.1) }
    }
}
