/// The records that the library accepted and could not write.
public struct DeliveryFailures: Sendable, Equatable {
    /// The number of failures.
    public internal(set) var count = 0
    /// The error of the first.
    public internal(set) var first: KafkaError?
}
