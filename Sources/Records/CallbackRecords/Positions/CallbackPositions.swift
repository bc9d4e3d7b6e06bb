public import Kafka

/// Keeps the position of each receiver in each partition of results, and of what is sent once more.
public protocol CallbackPositions: Sendable {
    /// The place where a receiver goes on in each of the partitions.
    ///
    /// - Parameters:
    ///   - receiver: Its name.
    ///   - partitions: The partitions.
    /// - Returns: The next offset of each.
    /// - Throws: Kafka did not say. Nothing may be sent to the receiver then.
    func load(_ receiver: String, in partitions: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64]

    /// Keeps the positions of a receiver.
    ///
    /// - Parameters:
    ///   - receiver: Its name.
    ///   - offsets: The next offset of each partition that has changed.
    /// - Throws: It is not known whether they are kept.
    func save(_ receiver: String, at offsets: [TopicPartition: Int64]) throws(KafkaError)

    /// Keeps the positions of many receivers, which costs little more than those of one.
    ///
    /// - Parameter positions: The next offset of each partition that has changed, by receiver.
    /// - Throws: It is not known whether they are kept.
    func save(_ positions: [String: [TopicPartition: Int64]]) throws(KafkaError)
}

extension CallbackPositions {
    /// Keeps the positions of one receiver after another.
    public func save(_ positions: [String: [TopicPartition: Int64]]) throws(KafkaError) {
        for (receiver, offsets) in positions { try save(receiver, at: offsets) }
    }
}
