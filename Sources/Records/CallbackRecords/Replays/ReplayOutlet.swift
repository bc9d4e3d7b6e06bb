import JobSupport
import Kafka

/// Writes results to the topic of what is sent once more, for one receiver. Few of them are in memory at a time.
final class ReplayOutlet {
    /// The records between two looks at what became of those before.
    private static let gap = 256
    /// The most bytes that wait to be written. The user's properties, which follow, say otherwise.
    private static let room = KafkaConfiguration.Property(key: "queue.buffering.max.kbytes", value: "32768")

    private let producer: Producer
    private let topic: Producer.Topic
    private let key: [UInt8]
    private let timeout: Duration
    private var count = 0

    /// An outlet for a receiver. Throws where the topic is missing, or may not be written to.
    init(_ topic: String, receiver: String, context: JobContext) throws(JobFailure) {
        var kafka = context.kafka
        kafka.properties.insert(Self.room, at: 0)
        (key, timeout) = (Array(receiver.utf8), context.timeout)
        (producer, self.topic) = try JobFailure.naming(.write(topic: topic)) { [kafka] () throws(KafkaError) in
            let producer = try Producer(kafka, transactionalID: nil)
            for fault in try producer.faults(of: [topic], timeout: context.timeout).values { throw fault }
            return (producer, try producer.topic(named: topic))
        }
    }

    /// Hands a result over. Throws where one before was not written.
    func write(_ line: [UInt8]) throws(JobFailure) {
        try JobFailure.naming(.write(topic: topic.name)) { () throws(KafkaError) in
            let key = key
            try producer.produce(to: topic, key: key.span, value: line.span)
            count += 1
            guard count % Self.gap == 0 else { return }
            producer.poll()
            if let failure = producer.failedDeliveries.first { throw failure }
        }
    }

    /// Waits until all of them are written.
    func finish() throws(JobFailure) {
        try JobFailure.naming(.write(topic: topic.name)) { () throws(KafkaError) in
            try producer.flush(timeout: timeout)
            if let failure = producer.failedDeliveries.first { throw failure }
        }
    }

    /// Frees the producer.
    func close() { producer.close(timeout: .seconds(1)) }
}
