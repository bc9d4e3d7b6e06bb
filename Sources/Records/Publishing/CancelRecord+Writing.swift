public import Kafka
public import PushModel

extension CancelRecord {
    /// A fault for which no worker would understand a cancellation.
    public enum Fault: Error, Sendable, Equatable {
        /// No request has this id.
        case id
        /// The reason has more characters than are kept.
        case reason
    }

    /// Cancels a request.
    ///
    /// - Parameters:
    ///   - requestID: The request's id, 1 to 288 bytes.
    ///   - reason: The reason, at most 100 characters.
    /// - Throws: The faulty part.
    public init(checking requestID: String, reason: String?) throws(Fault) {
        guard (1...Self.maximumIDByteCount).contains(requestID.utf8.count) else { throw .id }
        guard reason?.count ?? 0 <= Self.maximumReasonLength else { throw .reason }
        self.init(requestID: requestID, reason: reason)
    }

    /// Hands the record to a producer, which writes it in the background.
    ///
    /// - Parameters:
    ///   - producer: Writes it.
    ///   - topic: The control topic.
    ///   - moment: The latest time of publication of the request that is meant. Becomes the record's time.
    ///   - report: Called once with the delivery of the record, unless this throws.
    /// - Throws: The record was not taken: the queue is full, the producer is closed.
    public func write(
        with producer: Producer, to topic: Producer.Topic, at moment: Timestamp,
        report: @escaping @Sendable (Producer.Delivery) -> Void
    ) throws(KafkaError) {
        let (key, value) = (key, value(at: moment))
        try producer.produce(
            to: topic, partition: Self.partition, key: key.span, value: value.span, timestamp: moment.milliseconds,
            report: report)
    }

    /// Hands the record to a producer whose `failedDeliveries` report failures later.
    ///
    /// - Parameters:
    ///   - producer: Writes it.
    ///   - topic: The control topic.
    ///   - moment: The latest time of publication of the request that is meant. Becomes the record's time.
    /// - Throws: The record was not taken.
    public func write(with producer: Producer, to topic: Producer.Topic, at moment: Timestamp) throws(KafkaError) {
        let (key, value) = (key, value(at: moment))
        try producer.produce(
            to: topic, partition: Self.partition, key: key.span, value: value.span, timestamp: moment.milliseconds)
    }
}
