package import Basics
import Dispatch
import EventLoop
package import Kafka
package import Publishing
package import PushModel
import Synchronization

/// Writes requests, and the texts of secure push, to Kafka and tells what became of each: an idempotent producer, and the thread that
/// serves it. Who writes waits for nothing.
///
/// A record that would join a queue that stands still is refused at once (``ProducerQueue``).
///
/// It may begin while no broker is there. A producer that has failed for good is replaced; what was handed to it is reported first.
package final class RequestProducer: Sendable {
    /// How long the client tries to write a record, unless the user's properties say something else: a caller waits for it.
    ///
    /// Attempts count that too few replicas in sync refuse, every 10 ms, and those without an answer, which last longer. So the refusal
    /// comes after a second or two as what it is, and not as a time-out.
    private static let defaults = [
        KafkaConfiguration.Property(key: "message.timeout.ms", value: "5000"),
        KafkaConfiguration.Property(key: "retries", value: "100"),
    ]
    /// The longest wait for something to be served, so that the end is seen in time.
    private static let step = Duration.milliseconds(100)
    /// The time for one question to the brokers for topics.
    private static let probeTimeout = Duration.milliseconds(500)

    /// The time after a topic's last refusal before a record that is written there says that it takes records again. Of several
    /// partitions one may refuse what the others take.
    private static let refusalSpan = Duration.seconds(10)

    /// A refusal of a record for what it is.
    package struct RecordRefusal: Sendable {
        package let topic: String
        package let reason: KafkaError
    }

    private struct State {
        var producer: Producer
        var queue = ProducerQueue()
        /// What was wrong last.
        var problem: KafkaError?
        /// Whether the brokers must be asked for the topic: they were not yet, or something was wrong since.
        var mustProbe = true
        /// The topics that brokers are asked for: those of the lanes, and others for which a record was not written.
        var watched: Set<String>
        /// Those that brokers do not show, each with the reason. What is for them is refused at once.
        var absences: [String: KafkaError] = [:]
        /// The topics that refused records for what is wrong with the topic, each with the last reason and its moment.
        var refusals: [String: (reason: KafkaError, at: MonotonicTime)] = [:]
        /// The first refusal of each kind and topic for what a record is, such as its size.
        var recordRefusals: [RecordRefusal] = []

        /// The time between two questions, or nil while there is nothing to ask.
        var probeInterval: Duration? { mustProbe ? .seconds(1) : absences.isEmpty ? nil : .seconds(5) }
        var isToOpenAgain = false
        var isStarted = false
        var isStopped = false
    }

    private let configuration: KafkaConfiguration
    private let topics: RequestTopics
    private let now: @Sendable () -> MonotonicTime
    /// Protects all of it; nothing else is locked while it is held, and nothing is reported.
    private let state: Mutex<State>
    private let thread = ServiceThread()

    /// Makes one whose thread does not run yet. Records wait until it does. A configuration may be refused.
    package init(
        _ kafka: KafkaConfiguration, topics: RequestTopics, now: @escaping @Sendable () -> MonotonicTime = { .now() }
    ) throws(KafkaError) {
        var configuration = kafka
        configuration.properties = Self.defaults + kafka.properties
        let producer = try Self.open(configuration, topics: topics)
        self.configuration = configuration
        self.topics = topics
        self.now = now
        state = Mutex(State(producer: producer, watched: Set(topics.all)))
    }

    /// What was wrong last; nil while nothing is, as far as is known.
    package var problem: KafkaError? { state.withLock { $0.problem } }

    /// The topics that records cannot be written to, as far as is known, each with the reason.
    package var unwritable: [String: KafkaError] {
        state.withLock { $0.refusals.mapValues(\.reason).merging($0.absences) { $1 } }
    }

    /// The refusals of records for what they are: the first one of each kind and topic.
    package var recordRefusals: [RecordRefusal] { state.withLock { $0.recordRefusals } }

    /// The producer that writes now.
    package var current: Producer { state.withLock { $0.producer } }

    /// For how long no record was confirmed in time although one waited, in nanoseconds, and how many records were refused for
    /// that.
    package var stillness: (age: Int64, refusedCount: Int) {
        let now = now()
        return state.withLock { ($0.queue.age(at: now), $0.queue.refusedCount) }
    }

    /// Starts the thread, once. It holds `self` until ``stop()``, and calls `turn` several times a second after the first query
    /// of brokers.
    package func start(turn: @escaping @Sendable () -> Void) {
        state.withLock { $0.isStarted = true }
        thread.start(named: "pushfan-requests") { [self] in work(turn) }
    }

    /// Hands a record to the client, which writes it in the background to the record's topic. `report` is called once, unless
    /// this throws.
    package func write(
        _ record: RequestRecord, for party: Party? = nil, at moment: Timestamp? = nil,
        report: @escaping @Sendable (Producer.Delivery) -> Void
    ) throws(KafkaError) {
        // The client keeps the handles of its topics.
        try handOver(report, for: party, to: record.topic) { (producer, report) throws(KafkaError) in
            try record.write(with: producer, to: try producer.topic(named: record.topic), at: moment, report: report)
        }
    }

    /// Hands a record without key to the client, which writes it in the background. The topic need not be there: health does not
    /// ask for it. `report` is called once, unless this throws.
    package func write(
        _ value: [UInt8], to topic: String, report: @escaping @Sendable (Producer.Delivery) -> Void
    ) throws(KafkaError) {
        try handOver(report, to: topic) { (producer, report) throws(KafkaError) in
            try producer.produce(to: try producer.topic(named: topic), key: nil, value: value.span, report: report)
        }
    }

    /// Hands a cancellation of what was published until `moment` to the client, which writes it in the background. The topic need
    /// not be there: health does not ask for it. `report` is called once, unless this throws.
    package func write(
        _ record: CancelRecord, to topic: String, at moment: Timestamp,
        report: @escaping @Sendable (Producer.Delivery) -> Void
    ) throws(KafkaError) {
        try handOver(report, to: topic) { (producer, report) throws(KafkaError) in
            try record.write(with: producer, to: try producer.topic(named: topic), at: moment, report: report)
        }
    }

    /// Hands an order, or its release, to the client, which writes it in the background. The topic need not be there: health does not ask
    /// for it. `report` is called once, unless this throws.
    package func write(
        _ order: OrderRecord, to topic: String, report: @escaping @Sendable (Producer.Delivery) -> Void
    ) throws(KafkaError) {
        try handOver(report, to: topic) { (producer, report) throws(KafkaError) in
            try order.write(with: producer, to: try producer.topic(named: topic), report: report)
        }
    }

    /// Hands a record to the client, and notes what becomes of it. Fails with `isQueueFull` where the queue stands still, and with
    /// what is wrong with a lane's topic that brokers do not show.
    private func handOver(
        _ report: @escaping @Sendable (Producer.Delivery) -> Void, for party: Party? = nil, to topic: String,
        by produce: (Producer, @escaping @Sendable (Producer.Delivery) -> Void) throws(KafkaError) -> Void
    ) throws(KafkaError) {
        let start = now()
        let admission = state.withLock { state -> Result<Producer, KafkaError> in
            if let absence = state.absences[topic] { return .failure(absence) }
            return state.queue.admit(for: party, at: start) ? .success(state.producer) : .failure(.queueFull)
        }
        let producer = try admission.get()
        do throws(KafkaError) {
            try produce(producer) { [self] delivery in report(note(delivery, in: topic, for: party, admittedAt: start)) }
        } catch {
            state.withLock { $0.queue.noteEnd(isAnswered: false, for: party, admittedAt: start, at: start) }
            note(error, of: topic)
            throw error
        }
    }

    /// Ends the thread, and waits for records that are on their way, together up to 3 s; what is left then is reported as it is known.
    package func stop() {
        let (producer, isToWait) = state.withLock { state -> (Producer, Bool) in
            defer { state.isStopped = true }
            return (state.producer, state.isStarted && !state.isStopped)
        }
        if isToWait { thread.waitForEnd(until: .now() + .seconds(2)) }
        producer.close(timeout: .seconds(1))
    }

    /// Lets another producer take the place of this one, as after a fatal error.
    package func openAgain() { state.withLock { $0.isToOpenAgain = true } }

    /// A producer that knows the topics, so that the first look fetches where the partitions of all of them are.
    private static func open(_ configuration: KafkaConfiguration, topics: RequestTopics) throws(KafkaError) -> Producer {
        let producer = try Producer(configuration, transactionalID: nil, enqueueTimeout: .zero)
        for topic in topics.all { _ = try producer.topic(named: topic) }
        return producer
    }

    // MARK: What is known of Kafka

    /// Notes what became of a record, and returns it. What ran out of time for want of its topic was refused for that.
    private func note(
        _ delivery: Producer.Delivery, in topic: String, for party: Party?, admittedAt start: MonotonicTime
    ) -> Producer.Delivery {
        let end = now()
        switch delivery {
        case .persisted:
            state.withLock { state in
                state.queue.noteEnd(isAnswered: true, for: party, admittedAt: start, at: end)
                state.problem = nil
                if let refusal = state.refusals[topic], end >= refusal.at.advanced(by: Self.refusalSpan) {
                    state.refusals[topic] = nil
                }
            }
        case .notPersisted(let error), .possiblyPersisted(let error):
            let absence = state.withLock { state -> KafkaError? in
                state.queue.noteEnd(
                    isAnswered: error.refusesRecords || error.isOfTopic, for: party, admittedAt: start, at: end)
                return error.isRecordTimeout ? state.absences[topic] : nil
            }
            note(error, of: topic)
            if let absence, case .notPersisted = delivery { return .notPersisted(absence) }
        }
        return delivery
    }

    private func note(_ error: KafkaError, of topic: String? = nil) {
        // That it does not take this record says nothing of the next one; and one that is closed is not asked any more.
        guard !error.isClosed else { return }
        guard !error.refusesRecords else {
            guard let topic else { return }
            return state.withLock { state in
                guard !state.recordRefusals.contains(where: { $0.topic == topic && $0.reason.name == error.name }) else { return }
                state.recordRefusals.append(RecordRefusal(topic: topic, reason: error))
            }
        }
        let (isOfTopic, now) = (error.isOfTopic && !error.isFatal, now())
        if let topic, isOfTopic || error.isRecordTimeout {
            state.withLock { state in
                state.watched.insert(topic)
                if isOfTopic { state.refusals[topic] = (error, now) }
                state.mustProbe = true
            }
            guard !isOfTopic else { return }
        }
        state.withLock { state in
            // A query or a record that a refused login leaves without an answer fails for want of a connection, which says less.
            let saysLess = error.isUnreachable || error.isRecordTimeout
            if state.problem?.isAuthentication != true || !saysLess { state.problem = error }
            state.mustProbe = true
            if error.isFatal { state.isToOpenAgain = true }
        }
    }

    // MARK: The thread

    private func work(_ turn: @Sendable () -> Void) {
        var lastLook = MonotonicTime.past
        func hasPassed(_ interval: Duration) -> Bool { MonotonicTime.now() >= lastLook.advanced(by: interval) }
        while let producer = state.withLock({ state -> Producer? in state.isStopped ? nil : state.producer }) {
            try? producer.poll(timeout: Self.step)
            while let event = producer.nextEvent() {
                guard case .error(let error) = event else { continue }
                // One broker of several that is away is the client's own affair.
                if error.isFatal || error.isAuthentication || error.isAllBrokersDown { note(error) }
            }
            if state.withLock({ $0.isToOpenAgain }) || producer.isOutdated && hasPassed(.seconds(1)) {
                replace(producer)
                lastLook = MonotonicTime.now()
            } else if let interval = state.withLock({ $0.probeInterval }), hasPassed(interval) {
                probe(producer)
                lastLook = MonotonicTime.now()
            }
            turn()
        }
    }

    private func probe(_ producer: Producer) {
        do throws(KafkaError) {
            let watched = state.withLock { $0.watched }
            let faults = try producer.faults(of: watched.sorted(), timeout: Self.probeTimeout)
            state.withLock { state in
                state.absences = faults.filter { $0.value.isOfTopic }
                // That a topic is missing is an absence, as long as it lasts.
                state.refusals = state.refusals.filter { !$0.value.reason.isUnknownTopicOrPartition || !watched.contains($0.key) }
                // The other lanes may be missing as long as no request is for them.
                state.problem = faults[topics.normal]
                state.mustProbe = state.problem != nil
            }
        } catch {
            note(error)
        }
    }

    /// Puts another producer in the place of this one, which tells what it still has to tell.
    private func replace(_ old: Producer) {
        do throws(KafkaError) {
            let producer = try Self.open(configuration, topics: topics)
            state.withLock { state in
                state.producer = producer
                state.mustProbe = true
            }
            // One that works on, and is only outdated, writes what it has.
            old.close(timeout: old.isOutdated ? .seconds(1) : .zero)
            // Not before: what the old one has told last is why it was replaced.
            state.withLock { $0.isToOpenAgain = false }
        } catch {
            // The next record that the old one refuses asks for it again.
            state.withLock { $0.isToOpenAgain = false }
            note(error)
        }
    }
}

extension KafkaError {
    /// True if it is the topic that cannot be written to, and not the record, the client or the cluster.
    fileprivate var isOfTopic: Bool { isUnknownTopicOrPartition || isAuthorization || isNotEnoughReplicas }
}
