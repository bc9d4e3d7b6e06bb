public import Kafka

/// The way in which a receiver begins in partitions where it has no position.
public enum CallbackStart: Sendable, Equatable {
    /// It is new: with the results from now on.
    case new
    /// Brokers have forgotten its positions: with the oldest results that are kept, and with nothing that was to be sent once more.
    case forgotten
    /// The partitions came later: with their first records.
    case added([TopicPartition])
}
