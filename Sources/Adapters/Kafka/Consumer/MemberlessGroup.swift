/// The positions of a group that has no members: whoever keeps them divides the partitions by other means.
///
/// The library's requests for positions of any group (`rd_kafka_ListConsumerGroupOffsets`, `rd_kafka_AlterConsumerGroupOffsets`) end the whole
/// process with an assertion when the coordinator breaks meanwhile, or use memory that is not there when it moves (librdkafka, issues 4605 and
/// 5040). So each call here makes a client of the group, which joins nothing. It takes some milliseconds. Any thread may call.
public struct MemberlessGroup: Sendable {
    /// The group's name.
    public let id: String
    private let configuration: KafkaConfiguration

    /// The group of this name. Nothing is sent.
    ///
    /// - Parameters:
    ///   - configuration: The brokers and the user's properties.
    ///   - id: The group's name.
    public init(_ configuration: KafkaConfiguration, id: String) {
        (self.configuration, self.id) = (configuration, id)
    }

    /// Asks the group's coordinator what was committed, waiting for open transactions to end.
    ///
    /// - Parameters:
    ///   - partitions: The partitions to ask for.
    ///   - timeout: The longest wait.
    /// - Returns: One element for each partition, in the same order.
    /// - Throws: The call failed, or one of the partitions did: `isAuthorization` where the group may not be seen.
    public func committed(_ partitions: [TopicPartition], timeout: Duration) throws(KafkaError) -> [CommittedOffset] {
        guard !partitions.isEmpty else { return [] }
        let consumer = try makeConsumer()
        defer { consumer.close(timeout: .seconds(1)) }
        do throws(KafkaError) {
            return try consumer.group.committed(partitions, timeout: timeout)
        } catch {
            // The library searches the coordinator until time is up, also where that is not allowed, which its events alone say.
            while error.isTimeout, let event = consumer.nextEvent() {
                if case .error(let reason) = event, reason.isAuthorization { throw reason }
            }
            throw error
        }
    }

    /// Commits positions, outside of any transaction.
    ///
    /// - Parameter offsets: The positions.
    /// - Throws: The call failed, or one of the partitions did: `isOutOfGroup` where the group has members. The library's socket time-out
    ///   bounds the wait.
    public func commit(_ offsets: [OffsetCommit]) throws(KafkaError) {
        guard !offsets.isEmpty else { return }
        let consumer = try makeConsumer()
        defer { consumer.close(timeout: .seconds(1)) }
        do throws(KafkaError) {
            try consumer.group.commit(offsets)
        } catch {
            throw error.isOutOfGroup ? error.saying("the group '\(id)' has members, and they alone may move it") : error
        }
    }

    private func makeConsumer() throws(KafkaError) -> Consumer {
        try Consumer(configuration, groupID: id, wakeUpFileDescriptor: -1)
    }
}
