public import Kafka
import Synchronization

/// Writes states of receivers. Its calls block.
public final class StateWriter: Sendable {
    private let kafka: KafkaConfiguration
    private let topic: String
    private let timeout: Duration
    /// Has the producer that is used now, or nil at the end. Nothing but clients is locked while it is held.
    private let producer: Mutex<Producer?>

    /// A writer that has sent nothing yet.
    ///
    /// - Parameters:
    ///   - kafka: The brokers and the user's properties.
    ///   - topic: The topic of states.
    ///   - timeout: The longest wait for the brokers.
    /// - Throws: A configuration that was refused.
    public init(_ kafka: KafkaConfiguration, topic: String, timeout: Duration = .seconds(10)) throws(KafkaError) {
        producer = Mutex(try Producer(kafka, transactionalID: nil))
        (self.kafka, self.topic, self.timeout) = (kafka, topic, timeout)
    }

    /// Writes the state of a receiver, and waits until brokers have it. One call at a time.
    ///
    /// - Parameters:
    ///   - state: Its state.
    ///   - receiver: Its name.
    /// - Throws: It is not, or perhaps not, written: the topic is missing, or brokers do not answer.
    public func write(_ state: ReceiverState, of receiver: String) throws(KafkaError) {
        try write(state.json(of: receiver), key: receiver, at: state.at)
    }

    /// Writes a record, and waits until brokers have it. One call at a time.
    func write(_ value: [UInt8], key: String, at moment: Int64) throws(KafkaError) {
        let producer = try current()
        let topics = try producer.warmUp(topics: [topic], timeout: timeout)
        let key = Array(key.utf8)
        let before = producer.failedDeliveries.count
        for topic in topics {
            try producer.produce(to: topic, key: key.span, value: value.span, timestamp: moment)
        }
        try producer.flush(timeout: timeout)
        let failures = producer.failedDeliveries
        if failures.count > before, let failure = failures.first { throw failure }
    }

    /// The producer, which is another after properties of the clients have changed.
    private func current() throws(KafkaError) -> Producer {
        try producer.withLock { producer throws(KafkaError) in
            guard let known = producer else { throw .invalidArgument("the writer of states is closed") }
            guard known.isOutdated else { return known }
            let next = try Producer(kafka, transactionalID: nil)
            known.close(timeout: .zero)
            producer = next
            return next
        }
    }

    /// True if the next write needs another producer first.
    var isOutdated: Bool { producer.withLock { $0?.isOutdated ?? false } }

    /// Frees the producer. A write afterwards fails.
    public func close() { producer.withLock { $0.take() }?.close(timeout: .zero) }
}
