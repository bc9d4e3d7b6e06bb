import Delivery
import Dispatch
import EventLoop
import Kafka
public import Observability
import Synchronization

/// Reports a worker to its fleet: once a second it writes what stands on the board to the topic `push.status.v1`, under the worker's name.
///
/// It has a thread and a producer of its own, so that no loop waits for it, and its failures are logged and nothing else. It does not
/// write while the board is empty, so that a process that waits for its name does not speak for the one that has it.
public final class StatusReporter: Sendable {
    /// The time for which a report is tried to be written, milliseconds. The next one says all that it did.
    private static let reportMilliseconds = 3000
    /// The time that the last record may take, and the thread to end.
    private static let leaveTime = (writing: Duration.milliseconds(800), ending: DispatchTimeInterval.seconds(1))

    private struct State {
        var failure = ReportFailure()
        /// The last failure that no further report can end.
        var lasting: KafkaError?
        var isStopped = false
        /// Something was written, and must be taken back.
        var hasWritten = false
    }

    /// Protects what the thread and its callers share. Nothing else is locked while it is held.
    private let state = Mutex(State())
    private let stopping = DispatchSemaphore(value: 0)
    private let thread = ServiceThread()
    private let kafka: KafkaConfiguration
    private let topic: String
    private let key: [UInt8]
    private let log: Log
    private let record: @Sendable () -> [UInt8]?

    /// A reporter that does not run yet.
    ///
    /// - Parameters:
    ///   - configuration: The worker's name, its brokers, topics and first hub.
    ///   - board: The board on which its loops write.
    ///   - log: The log for failures, each kind once until it is over.
    public init(_ configuration: WorkerConfiguration, board: StatusBoard, log: Log) {
        var kafka = configuration.kafka
        kafka.properties += [
            .init(key: "message.timeout.ms", value: "\(Self.reportMilliseconds)"), .init(key: "linger.ms", value: "0"),
            .init(key: "batch.num.messages", value: "1"), .init(key: "queue.buffering.max.messages", value: "16"),
        ]
        self.kafka = kafka
        topic = configuration.topics.status
        key = Array(configuration.workerID.utf8)
        self.log = log
        record = { [version = configuration.version, hub = configuration.hubName] in board.record(version: version, hub: hub) }
    }

    /// Starts to report. Called once.
    public func start() {
        thread.start(named: "pushfan-report") { [self] in run() }
    }

    /// Takes the worker out of its fleet, and ends. Waits for a second at most. Called after `start`, once.
    public func stop() {
        state.withLock { $0.isStopped = true }
        stopping.signal()
        thread.waitForEnd(until: .now() + Self.leaveTime.ending)
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    private func run() {
        while !isStopped {
            do throws(KafkaError) {
                let producer = try Producer(kafka, transactionalID: nil, enqueueTimeout: .zero)
                defer { producer.close(timeout: .zero) }
                let topic = try producer.warmUp(topics: [topic], timeout: .seconds(5))[0]
                try report(with: producer, to: topic)
            } catch {
                note(error)
                guard !isStopped else { return }
                pause(ReportFailure.Kind(error).isLasting ? .seconds(30) : .seconds(5))
            }
        }
    }

    /// Reports until the reporter is stopped. Throws where only another producer can do better, or an operator.
    private func report(with producer: Producer, to topic: Producer.Topic) throws(KafkaError) {
        _ = takeLasting()
        while !isStopped {
            if let value = record() {
                state.withLock { $0.hasWritten = true }
                write(value, with: producer, to: topic)
            }
            pause(.seconds(1))
            producer.poll()
            if producer.isOutdated { return }
            while let event = producer.nextEvent() {
                if case .error(let error) = event, error.isFatal { throw error }
            }
            if let error = takeLasting() { throw error }
        }
        guard state.withLock({ $0.hasWritten }) else { return }
        let key = key
        try producer.produce(to: topic, key: key.span, value: nil)
        producer.close(timeout: Self.leaveTime.writing)
    }

    private func write(_ value: [UInt8], with producer: Producer, to topic: Producer.Topic) {
        let key = key
        do throws(KafkaError) {
            try producer.produce(to: topic, key: key.span, value: value.span) { [weak self] delivery in
                switch delivery {
                case .persisted: self?.state.withLock { $0.failure.noteSuccess() }
                case .notPersisted(let error), .possiblyPersisted(let error): self?.note(error)
                }
            }
        } catch {
            note(error)
        }
    }

    private func takeLasting() -> KafkaError? {
        state.withLock { state in
            defer { state.lasting = nil }
            return state.lasting
        }
    }

    private func note(_ error: KafkaError) {
        let kind = ReportFailure.Kind(error)
        let isNew = state.withLock { state in
            if kind.isLasting { state.lasting = error }
            return !state.isStopped && state.failure.note(error)
        }
        guard isNew else { return }
        let reason = kind == .missing ? "there is no such topic; `pushfan topics create` makes it" : error.description
        log.warning(
            kind.isLasting ? .configurationDoubtful : .kafkaError, "the worker does not report itself; it works on",
            [.topic: .string(topic), .reason: .string(reason)])
    }

    /// Waits, but not once the reporter is stopped.
    private func pause(_ time: DispatchTimeInterval) { _ = stopping.wait(timeout: .now() + time) }
}
