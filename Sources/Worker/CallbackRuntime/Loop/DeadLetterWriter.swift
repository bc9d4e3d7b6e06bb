import CallbackRecords
import EventLoop
import Kafka
import PushModel
import Synchronization

/// Writes dead letters of receivers to Kafka, and tells of each whether it is written. Any thread may call.
final class DeadLetterWriter: DeadLetterSink {
    private let producer: Producer
    private let topic: Producer.Topic
    private let thread = ServiceThread()

    /// A writer with a thread that hears from the brokers. Throws for a configuration that was refused.
    init(_ kafka: KafkaConfiguration, topic name: String) throws(KafkaError) {
        // The loop must not wait for room.
        producer = try Producer(kafka, transactionalID: nil, enqueueTimeout: .zero)
        topic = try producer.topic(named: name)
        thread.start(named: "pushfan-letters") { [producer] in
            while (try? producer.poll(timeout: .seconds(1))) != nil {}
        }
    }

    func write(_ letter: CallbackDeadLetter, then: @escaping @Sendable (Bool) -> Void) {
        do throws(KafkaError) {
            let moment = Timestamp(milliseconds: WallClock.millisecondsSince1970())
            try letter.write(with: producer, to: topic, at: moment) { delivery in
                if case .persisted = delivery { then(true) } else { then(false) }
            }
        } catch {
            then(false)
        }
    }

    /// Ends it. What is not written by then is told so.
    func close() {
        producer.close(timeout: .zero)
        thread.waitForEnd()
    }
}
