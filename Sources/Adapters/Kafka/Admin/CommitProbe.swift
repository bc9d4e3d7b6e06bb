import CRDKafka

/// Asks for the right to commit offsets of a group, without committing any.
///
/// The offset is that of a partition which no topic has: a broker looks at the right to the group first, at the right to the topic next,
/// and at the partition at last (Kafka, `KafkaApis.handleOffsetCommitRequest`), so that the error which comes back tells them apart. The
/// group does not hear of it, because nothing is left to commit.
public enum CommitProbe {
    /// Offers the offset to the group's coordinator.
    ///
    /// - Parameters:
    ///   - group: The group's name.
    ///   - topic: A topic that exists and that the client may read.
    ///   - configuration: The brokers and the user's properties.
    /// - Throws: `isAuthorization`, `isUnreachable`, `isAuthentication`, or a configuration that was refused. The library's socket time-out
    ///   bounds the wait.
    public static func ask(group: String, topic: String, configuration: KafkaConfiguration) throws(KafkaError) {
        let consumer = try Consumer(configuration, groupID: group, wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: .seconds(1)) }
        do throws(KafkaError) {
            try consumer.group.commit([OffsetCommit(TopicPartition(topic: topic, partition: .max), offset: 0)])
        } catch  where error.isUnknownTopicOrPartition {
            return
        }
    }
}
