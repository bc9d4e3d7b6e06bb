import CallbackRecords
import EventLoop
import Kafka
import PushModel
import Synchronization

/// Writes dead letters of receivers to Kafka, and tells of each whether it is written. Any thread may call.
final class DeadLetterWriter: DeadLetterSink {
    /// A producer, and the thread in which it hears from the brokers.
    private struct Outlet {
        let producer: Producer
        let topic: Producer.Topic
        private let thread = ServiceThread()

        init(_ kafka: KafkaConfiguration, topic name: String) throws(KafkaError) {
            // The loop must not wait for room.
            producer = try Producer(kafka, transactionalID: nil, enqueueTimeout: .zero)
            topic = try producer.topic(named: name)
            thread.start(named: "pushfan-letters") { [producer] in
                while (try? producer.poll(timeout: .seconds(1))) != nil { while producer.nextEvent() != nil {} }
            }
        }
    }

    private let kafka: KafkaConfiguration
    private let name: String
    /// Has the outlet that is used now, or nil at the end. Nothing else is locked while it is held, and no report is called.
    private let outlet: Mutex<Outlet?>

    /// A writer to the topic of that name. Throws for a configuration that was refused.
    init(_ kafka: KafkaConfiguration, topic name: String) throws(KafkaError) {
        (self.kafka, self.name) = (kafka, name)
        outlet = Mutex(try Outlet(kafka, topic: name))
    }

    func write(_ letter: CallbackDeadLetter, then: @escaping @Sendable (String?) -> Void) {
        do throws(KafkaError) {
            guard let outlet = try current() else { return then("the writer is closed") }
            let moment = Timestamp(milliseconds: WallClock.millisecondsSince1970())
            try letter.write(with: outlet.producer, to: outlet.topic, at: moment) { delivery in
                switch delivery {
                case .persisted: then(nil)
                case .notPersisted(let error), .possiblyPersisted(let error): then(error.description)
                }
            }
        } catch {
            then(error.description)
        }
    }

    /// Ends it. What is not written by then counts as not written.
    func close() { take()?.producer.close(timeout: .zero) }

    /// The outlet, which is another after properties of the clients have changed. What the old one has not written counts as not written.
    private func current() throws(KafkaError) -> Outlet? {
        guard let known = outlet.withLock({ $0 }), known.producer.isOutdated else { return outlet.withLock { $0 } }
        let next = try Outlet(kafka, topic: name)
        take()?.producer.close(timeout: .zero)
        outlet.withLock { $0 = next }
        return next
    }

    private func take() -> Outlet? {
        outlet.withLock { outlet in
            defer { outlet = nil }
            return outlet
        }
    }
}
