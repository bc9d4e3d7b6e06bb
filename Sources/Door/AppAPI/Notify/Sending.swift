package import DeviceHubs
import Basics
import Delivery
import EventLoop
import FanOut
package import GatewayAPI
package import Kafka
import Observability
package import Publishing
import PushModel
import Synchronization

/// Sends requests through Kafka, and answers each when its result is known. No thread waits with a request.
///
/// The wait for a request's result begins before it is written, so that none comes unseen. Until results are read for the first time,
/// nothing is sent.
package final class Sending: Sendable {
    /// The longest time between two turns of the thread that writes records. Opening another producer may take some seconds of it.
    private static let turnLimit = Duration.seconds(30)

    package let producer: RequestProducer
    private let places = SendPlaces()
    private let results: ResultFollower.Configuration
    private let follower = Mutex<ResultFollower?>(nil)
    private let writer: Mutex<RequestWriter>
    private let hubs: DeviceHubs
    private let goal: Awaited.Goal
    private let wait: Duration
    private let services: GatewayServices
    private let check: HealthCheck
    /// Says by itself that no broker answers, as long as none has.
    private let watch: BrokerWatch?
    /// Whether Kafka could be used when it was looked at last; nil before.
    private let wasWell = Mutex<Bool?>(nil)
    /// The topics that could not be written to then, each with the name of the error.
    private let unwritable = Mutex<[String: String]>([:])
    /// The number of the producer's refusals of records that are in the log.
    private let loggedRefusals = Mutex(0)

    /// Makes one that sends nothing yet. `hubs` are asked for telemetry. Kafka's client may refuse the configuration.
    package init(_ configuration: GatewayConfiguration, hubs: DeviceHubs, services: GatewayServices) throws(KafkaError) {
        producer = try RequestProducer(configuration.kafka, topics: configuration.requestTopics, now: services.now)
        results = ResultFollower.Configuration(configuration.kafka, topic: configuration.topics.results)
        writer = Mutex(RequestWriter(topics: configuration.requestTopics, source: GatewayConfiguration.source))
        self.hubs = hubs
        goal = configuration.tracksOutcome ? .outcomes : .finalResult
        wait = configuration.sendWait
        watch = configuration.kafka.watch
        self.services = services
        check = services.health.check("kafka", for: .ready, until: "Kafka was not asked yet")
    }

    /// Begins to read results for a listener, once, whether or not Kafka is there. `begin` gets their reader before anything is written. `turn`
    /// is called several times a second in the producer's thread, and must not block.
    package func start(
        for listener: any ResultListener, begin: (ResultFollower) -> Void, turn: @escaping @Sendable () -> Void
    ) {
        let reader = ResultFollower(results, listener: listener)
        begin(reader)
        follower.withLock { $0 = reader }
        services.metrics.readWaitingSends { reader.waiterCount }
        services.metrics.readQueue { [producer] in producer.stillness }
        let heartbeat = services.health.heartbeat("requests", limit: Self.turnLimit, now: services.now().nanoseconds)
        producer.start { [self] in
            heartbeat.noteTurn(at: services.now().nanoseconds)
            reportHealth(reader)
            turn()
        }
    }

    /// Ends it: records that are on their way are written, and whoever still waits is answered with what is known. Takes some
    /// seconds at most.
    package func stop() {
        // First, so that it is known whether the requests of those who wait are written.
        producer.stop()
        follower.withLock { $0 }?.close()
    }

    /// Lets another producer take the place of this one, as after a fatal error.
    func openAgain() { producer.openAgain() }

    /// True for a result of a send: no back end publishes as this source.
    private static func isOwn(_ result: ResultRecord) -> Bool {
        result.source == GatewayConfiguration.source && result.tenant == nil
    }

    /// When a call that comes now is answered at the latest.
    var deadline: MonotonicTime { MonotonicTime.now().advanced(by: wait) }

    /// Writes the request that `makeRequest` makes for a caller, and answers with its outcome, or at the deadline. Waits for nothing.
    func send(
        _ reply: Reply, of caller: Caller, to recipient: UserTag, until deadline: MonotonicTime,
        making makeRequest: (_ id: String, _ moment: Timestamp) -> NotifyRequest
    ) {
        guard let follower = self.follower.withLock({ $0 }) else { return reply.answer(APIProblem.resultsUnread) }
        let place: SendPlaces.Place
        do throws(APIProblem) { place = try places.take(for: caller.name) } catch { return reply.answer(error) }
        let moment = Timestamp(milliseconds: WallClock.millisecondsSince1970())
        let id = writer.withLock { $0.newID(at: moment) }
        let request = OutgoingRequest(json: makeRequest(id, moment).json, id: id)
        let record = writer.withLock { $0.record(of: request, at: moment) }
        let report = RecordReport()
        let lanes = try? hubs.home(of: recipient, id: id, for: .user(caller)).lanes
        let ticket: ResultFollower.Ticket
        do throws(ResultFollower.WaitRefusal) {
            ticket = try follower.expect(id, awaiting: Awaited(goal, isOwn: Self.isOwn), until: deadline) {
                [lanes, place] ending in
                withExtendedLifetime(place) {
                    Sending.conclude(id, record: report.record, ending: ending, lanes: lanes, reply: reply)
                }
            }
        } catch {
            switch error {
            case .notReading: return reply.answer(APIProblem.resultsUnread)
            case .full: return reply.answer(APIProblem.overloaded(after: 1000))
            case .closed: return reply.answer(APIProblem.stopping)
            }
        }
        write(record, report: report, reply: reply) { follower.forget(ticket) }
    }

    /// Writes a record, and answers unless it is written.
    private func write(
        _ record: RequestRecord, report: RecordReport, reply: Reply, forget: @escaping @Sendable () -> Void
    ) {
        let (id, started) = (record.id, services.now())
        do throws(KafkaError) {
            try producer.write(record) { [services, topic = record.topic] delivery in
                if case .persisted(let partition, let offset) = delivery {
                    report.note(.written(topic: topic, partition: partition, offset: offset))
                }
                services.countAck(delivery, since: started)
                guard let problem = delivery.problem(id, in: topic) else { return }
                forget()
                reply.answer(problem)
            }
        } catch {
            forget()
            reply.answer(APIProblem.notTaken(error, in: record.topic, retryAfter: 1000))
        }
    }

    /// Answers what is known at the end of a wait; where outcomes are missing, the hub is asked first, unless the gateway stops.
    static func conclude(
        _ id: String, record: SendOutcome.Record, ending: ResultFollower.Ending, lanes: HubLanes?, reply: Reply
    ) {
        let outcome = SendOutcome(requestID: id, record: record, awaited: ending.awaited)
        switch outcome.step {
        case .answer(let answer): reply.answer(answer)
        case .ask where ending.reason == .closed: reply.answer(outcome.answer(telemetry: [:]))
        case .ask(let notifications):
            let isPut = lanes?.put(for: id) { caller in
                reply.answer(outcome.answer(telemetry: caller.telemetry(of: notifications)))
            }
            if isPut != true { reply.answer(outcome.answer(telemetry: [:])) }
        }
    }

    /// Tells health and log how Kafka is.
    private func reportHealth(_ follower: ResultFollower) {
        reportTopics()
        if let problem = producer.problem ?? Self.problem(of: follower) {
            check.fail(problem.description)
            guard watch?.isWaiting != true, note(isWell: false) else { return }
            services.log.warning(.brokerConnection, "Kafka cannot be used", [.reason: .string(problem.description)])
        } else if !follower.isReading {
            check.fail("results are not read yet")
        } else {
            check.pass()
            guard note(isWell: true) else { return }
            services.log.info(.brokerConnection, "requests can be written, and results are read")
        }
    }

    /// Tells health and log which topics cannot be written to. Each is in the log once, until it has another reason or none.
    private func reportTopics() {
        let refusals = producer.recordRefusals
        let count = loggedRefusals.withLock { count -> Int in
            defer { count = refusals.count }
            return count
        }
        for refusal in refusals.dropFirst(count) {
            services.log.warning(
                .kafkaError, "Kafka refuses a record for what it is",
                [.topic: .string(refusal.topic), .reason: .string(refusal.reason.description)])
        }
        let errors = producer.unwritable
        let before = unwritable.withLock { topics -> [String: String] in
            defer { topics = errors.mapValues(\.name) }
            return topics
        }
        guard !errors.isEmpty || !before.isEmpty else { return }
        let topics = errors.sorted { $0.key < $1.key }
        check.degrade(topics.isEmpty ? nil : topics.map { "\($0.key) takes no records: \($0.value)" }.joined(separator: ", "))
        for (topic, error) in topics where before[topic] != error.name {
            services.log.warning(
                .kafkaError, "a topic takes no records", [.topic: .string(topic), .reason: .string(error.description)])
        }
        for topic in before.keys.sorted() where errors[topic] == nil {
            services.log.info(.kafkaError, "a topic takes records again", [.topic: .string(topic)])
        }
    }

    /// Notes whether Kafka can be used; returns whether that is news.
    private func note(isWell: Bool) -> Bool {
        wasWell.withLock { state -> Bool in
            defer { state = isWell }
            return state != isWell
        }
    }

    /// What keeps results from being read; that one broker of several is away does not.
    private static func problem(of follower: ResultFollower) -> KafkaError? {
        guard let problem = follower.problem else { return nil }
        let isOneBroker = problem.isUnreachable && !problem.isAllBrokersDown && !problem.isTimeout
        return isOneBroker && follower.isReading ? nil : problem
    }
}

/// What is known of one request's record: noted by the thread that writes, read by the one that reads results.
private final class RecordReport: Sendable {
    private let state = Mutex(SendOutcome.Record.unreported)

    var record: SendOutcome.Record { state.withLock { $0 } }

    func note(_ record: SendOutcome.Record) { state.withLock { $0 = record } }
}

extension Producer.Delivery {
    /// The answer to the client of the API for a record that is not certainly written; nil for one that is.
    fileprivate func problem(_ id: String, in topic: String) -> APIProblem? {
        switch self {
        case .persisted: nil
        case .notPersisted(let error): .notTaken(error, in: topic, retryAfter: 1000)
        case .possiblyPersisted: APIProblem.perhapsWritten(id)
        }
    }
}
