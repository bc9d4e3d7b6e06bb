/// The records that the library accepted and could not write.
public struct DeliveryFailures: Sendable, Equatable {
    /// How many there are.
    public internal(set) var count = 0
    /// What went wrong with the first.
    public internal(set) var first: KafkaError?
}
