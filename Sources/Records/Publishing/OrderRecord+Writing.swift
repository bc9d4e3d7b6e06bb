public import Kafka
public import PushModel

extension OrderRecord {
    /// Hands the record to a producer, which writes it in the background.
    ///
    /// - Parameters:
    ///   - producer: Writes it.
    ///   - topic: The control topic.
    ///   - report: Called once with the delivery of the record, unless this throws.
    /// - Throws: The record was not taken: the queue is full, the producer is closed.
    public func write(
        with producer: Producer, to topic: Producer.Topic, report: @escaping @Sendable (Producer.Delivery) -> Void
    ) throws(KafkaError) {
        let (key, value) = (key, value)
        try producer.produce(
            to: topic, partition: Self.partition, key: key.span, value: value.span, timestamp: writtenAt.milliseconds,
            report: report)
    }

    /// Hands the record to a producer whose `failedDeliveries` report failures later.
    ///
    /// - Parameters:
    ///   - producer: Writes it.
    ///   - topic: The control topic.
    /// - Throws: The record was not taken.
    public func write(with producer: Producer, to topic: Producer.Topic) throws(KafkaError) {
        let (key, value) = (key, value)
        try producer.produce(
            to: topic, partition: Self.partition, key: key.span, value: value.span, timestamp: writtenAt.milliseconds)
    }

    private var writtenAt: Timestamp { release?.at ?? since }
}
