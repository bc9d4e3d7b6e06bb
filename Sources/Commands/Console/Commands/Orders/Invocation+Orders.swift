import Audiences
import Delivery
import Groups
import JobSupport
import Kafka
import Publishing
import PushModel
import Settings

extension Invocation {
    /// Writes an order or its release to the control topic, and waits for Kafka's acknowledgement.
    func write(_ order: OrderRecord, settings: Settings, context: JobContext) throws(CommandFailure) {
        let name = context.topics.control
        try namingRight("Write", on: name) { () throws(CommandFailure) in
            let (producer, topics) = try perform(context.writer(to: [name]), with: settings)
            defer { producer.close(timeout: .zero) }
            guard let topic = topics[name] else { throw CommandFailure(.failed, "the topic \(name) is not known") }
            do throws(KafkaError) {
                try order.write(with: producer, to: topic)
                try producer.flush(timeout: context.timeout)
                if let error = producer.failedDeliveries.first { throw Self.cause(of: error, in: producer) }
            } catch {
                throw failure(error, settings.kafka, to: "write to \(name)")
            }
        }
    }

    /// The refusal for which a producer has given its records up, or else the error itself. Who may write to no topic is refused before the
    /// first record.
    private static func cause(of error: KafkaError, in producer: Producer) -> KafkaError {
        while let event = producer.nextEvent() {
            if case .error(let cause) = event, cause.isAuthorization { return cause }
        }
        return error
    }

    /// Notes which workers do not cancel, if any. Of no use to who may not read reports.
    func noteWorkers(withoutCancellation context: JobContext) {
        let note = (try? context.fleet())??.cancellationNote(topic: context.topics.control, at: Deadline.milliseconds())
        if let note { streams.note(note) }
    }

    /// Reads the orders that were given until now.
    func orderBook(_ settings: Settings, context: JobContext) throws(CommandFailure) -> OrderBook {
        try namingRight("Read", on: context.topics.control) { () throws(CommandFailure) in
            try perform(context.orderBook(), with: settings)
        }
    }

    /// Does something with a topic. Where the broker does not allow it, the failure says which right is missing.
    private func namingRight<Value>(
        _ right: String, on topic: String, perform body: () throws(CommandFailure) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(CommandFailure) {
            return try body()
        } catch {
            guard error.code == .notAllowed, error.hint == nil else { throw error }
            throw CommandFailure(
                error.code, error.message,
                hint: "the right \(right) on the topic \(topic) is missing: `pushfan topics acls --role operator` prints it")
        }
    }
}
