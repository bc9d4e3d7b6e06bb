public import Kafka

/// Writes states of receivers. Its calls block.
public final class StateWriter: Sendable {
    private let producer: Producer
    private let topic: String
    private let timeout: Duration

    /// A writer that has sent nothing yet.
    ///
    /// - Parameters:
    ///   - kafka: The brokers and the user's properties.
    ///   - topic: The topic of states.
    ///   - timeout: The longest wait for the brokers.
    /// - Throws: A configuration that was refused.
    public init(_ kafka: KafkaConfiguration, topic: String, timeout: Duration = .seconds(10)) throws(KafkaError) {
        producer = try Producer(kafka, transactionalID: nil)
        (self.topic, self.timeout) = (topic, timeout)
    }

    /// Writes the state of a receiver, and waits until brokers have it. One call at a time.
    ///
    /// - Parameters:
    ///   - state: Its state.
    ///   - receiver: Its name.
    /// - Throws: It is not, or perhaps not, written: the topic is missing, or brokers do not answer.
    public func write(_ state: ReceiverState, of receiver: String) throws(KafkaError) {
        let topics = try producer.warmUp(topics: [topic], timeout: timeout)
        let (key, value) = (Array(receiver.utf8), state.json(of: receiver))
        let before = producer.failedDeliveries.count
        for topic in topics {
            try producer.produce(to: topic, key: key.span, value: value.span, timestamp: state.at)
        }
        try producer.flush(timeout: timeout)
        let failures = producer.failedDeliveries
        if failures.count > before, let failure = failures.first { throw failure }
    }

    /// Frees the producer. A write afterwards fails.
    public func close() { producer.close(timeout: .zero) }
}
