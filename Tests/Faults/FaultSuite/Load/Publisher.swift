import Foundation
import Kafka
import Synchronization

/// Publishes a workload on a thread of its own, at a steady rate or as fast as Kafka takes it.
final class Publisher: Sendable {
    private struct State {
        var written = 0
        var isDone = false
        var failure: String?
    }

    private let state = Mutex(State())
    private let stop = Mutex(false)

    /// Starts to publish.
    ///
    /// - Parameters:
    ///   - workload: What to publish.
    ///   - firstNumber: The number of the first record; numbers must be unique in a scenario.
    ///   - kafka: The brokers.
    ///   - topic: The topic.
    ///   - seed: Begins what is random in the records.
    init(_ workload: Workload, firstNumber: Int = 0, kafka: KafkaConfiguration, topic: String, seed: UInt64) {
        let thread = Thread { [self] in
            do {
                try publish(workload, firstNumber, kafka, topic, seed)
            } catch {
                state.withLock { $0.failure = "\(error)" }
            }
            state.withLock { $0.isDone = true }
        }
        thread.name = "faults-publisher"
        thread.start()
    }

    /// Whether everything was handed over and confirmed, or publishing failed.
    var isDone: Bool { state.withLock { $0.isDone } }

    /// Records that Kafka has confirmed; counted when all are.
    var written: Int { state.withLock { $0.written } }

    /// Why publishing ended early.
    var failure: String? { state.withLock { $0.failure } }

    /// Ends early; what was handed over is still confirmed.
    func end() { stop.withLock { $0 = true } }

    private func publish(
        _ workload: Workload, _ firstNumber: Int, _ kafka: KafkaConfiguration, _ topicName: String, _ seed: UInt64
    ) throws {
        let isTransactional = workload.transactionSize > 0
        let producer = try Producer(
            kafka, transactionalID: isTransactional ? "\(topicName).publisher" : nil, enqueueTimeout: .seconds(120))
        defer { producer.close(timeout: .zero) }
        let topic = try producer.warmUp(topics: [topicName], timeout: .seconds(20))[0]
        if isTransactional {
            try producer.initTransactions(timeout: .seconds(30))
            try producer.beginTransaction()
        }
        var generator = SeededGenerator(seed: seed)
        let begin = ContinuousClock.now
        var handedOver = 0
        for number in firstNumber..<firstNumber + workload.count {
            if stop.withLock({ $0 }) { break }
            if let rate = workload.rate { pace(producer, handedOver, rate, since: begin) }
            try hand(workload.record(number, using: &generator), to: producer, topic)
            handedOver += 1
            if handedOver % 64 == 0 { producer.poll() }
            if isTransactional && handedOver % workload.transactionSize == 0 {
                try producer.commitTransaction(timeout: .seconds(30))
                try producer.beginTransaction()
                for step in 0..<workload.transactionSize { try hand(Workload.decoy(number + step), to: producer, topic) }
                try producer.flush(timeout: .seconds(30))
                try producer.abortTransaction(timeout: .seconds(30))
                try producer.beginTransaction()
            }
        }
        if isTransactional { try producer.commitTransaction(timeout: .seconds(30)) }
        try producer.flush(timeout: .seconds(240))
        let failures = producer.failedDeliveries
        if let first = failures.first { throw SuiteError.failed("\(failures.count) records were not written: \(first)") }
        let total = handedOver
        state.withLock { $0.written = total }
    }

    private func hand(_ record: Workload.Record, to producer: Producer, _ topic: Producer.Topic) throws {
        if let key = record.key {
            try producer.produce(to: topic, partition: record.partition, key: key.span, value: record.value.span)
        } else {
            try producer.produce(to: topic, key: nil, value: record.value.span)
        }
    }

    /// Waits until it is time for the next record.
    private func pace(_ producer: Producer, _ handedOver: Int, _ rate: Int, since begin: ContinuousClock.Instant) {
        let due = begin + .microseconds(handedOver * 1_000_000 / rate)
        while ContinuousClock.now < due && !stop.withLock({ $0 }) {
            producer.poll()
            Clock.pause(min(.milliseconds(10), ContinuousClock.now.duration(to: due)))
        }
    }
}
