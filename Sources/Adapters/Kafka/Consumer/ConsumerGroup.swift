import Basics
import CRDKafka

/// A group's offsets, and the place of one consumer in the group. Its calls block, and may come from any thread.
public struct ConsumerGroup: Sendable {
    /// The group's name.
    public let id: String

    let lease: ClientLease

    /// Asks the group's coordinator what was committed, waiting for open transactions to end.
    ///
    /// - Parameters:
    ///   - partitions: The partitions to ask for.
    ///   - timeout: How long to wait; a transaction that its producer left open holds the answer back until the broker aborts it.
    /// - Returns: One element for each partition, in the same order.
    /// - Throws: The call failed, or one of the partitions did.
    public func committed(_ partitions: [TopicPartition], timeout: Duration) throws(KafkaError) -> [CommittedOffset] {
        let client = try lease.current()
        let list = OffsetList(capacity: partitions.count)
        for partition in partitions { try list.add(partition, offset: LogicalOffset.invalid) }
        try KafkaError.check(
            rd_kafka_committed(client.pointer, list.pointer, timeout.timeoutMilliseconds), what: "cannot read committed offsets")
        client.diagnosis.watch?.answered()
        try list.checkElements("cannot read the committed offset")
        return list.map {
            CommittedOffset(partition: $0.topicPartition, offset: $0.offset >= 0 ? $0.offset : nil, metadata: $0.metadataText)
        }
    }

    /// Asks where a partition ends now for those who read what is committed, whether the group reads it or not.
    ///
    /// - Parameters:
    ///   - partition: A partition of a topic that is known to exist.
    ///   - timeout: How long to wait for its leader.
    /// - Returns: The next offset.
    /// - Throws: The call failed.
    public func end(of partition: TopicPartition, timeout: Duration) throws(KafkaError) -> Int64 {
        let client = try lease.current()
        return try client.offsets(
            of: CollectionOfOne(partition.partition), in: partition.topic, at: LogicalOffset.end, timeout: timeout)[0]
    }

    /// Commits offsets outside of any transaction, for brokers that have none.
    ///
    /// - Parameter offsets: The offsets and their metadata.
    /// - Throws: The call failed, or one of the partitions did. The library's session and socket time-outs bound the wait.
    public func commit(_ offsets: [OffsetCommit]) throws(KafkaError) {
        guard !offsets.isEmpty else { return }
        let client = try lease.current()
        try client.checkCluster()
        let list = try OffsetList(offsets)
        try KafkaError.check(rd_kafka_commit(client.pointer, list.pointer, 0), what: "cannot commit offsets")
        try list.checkElements("cannot commit the offset")
    }

    /// This member's place in the group at this moment, with which a transaction's offsets are fenced.
    ///
    /// Take it after the last check that the partitions are still owned, and answer no rebalance before the offsets are committed.
    ///
    /// - Throws: The member has no place: it has not joined, or the group gave it up. Such a commit would go through unfenced.
    public func metadata() throws(KafkaError) -> GroupMetadata {
        try GroupMetadata(of: try lease.current())
    }
}

extension OffsetList {
    /// The list of offsets to commit.
    init(_ offsets: [OffsetCommit]) throws(KafkaError) {
        self.init(capacity: offsets.count)
        for offset in offsets { try add(offset.partition, offset: offset.offset, metadata: offset.metadata) }
    }
}
