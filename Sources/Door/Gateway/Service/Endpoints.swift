import DeviceHubs
import AppAPI
import Delivery
import DeviceAPI
import FanOut
import FeedAPI
import GatewayAPI
import Kafka
import OperatorAPI
import PublishAPI
import Publishing
import ResultFeed
import Users

/// The handlers behind the routes.
protocol Endpoints: Sendable {
    /// Answers a call, before it returns or later, and waits for nothing. Called on any thread.
    func answer(_ call: APICall)
    /// Answers a call that brings requests, before it returns or later, and waits for nothing. Called on any thread.
    func publish(_ call: PublishCall)
    /// Answers a call about one request of a back end, before it returns or later, and waits for nothing. Called on any thread.
    func answerLookup(_ call: LookupCall)
    /// Answers a call that finds, repairs or shows how workers are, before it returns or later, and waits for nothing. Called on any
    /// thread.
    func operate(_ call: OperatorCall)
    /// Answers a call for the results of many requests, before it returns or later, and waits for nothing. Called on any thread.
    func answerFeed(_ call: FeedCall)
    /// Answers a call about devices, before it returns or later, and waits for nothing. Called on any thread.
    func answerDevices(_ call: DeviceCall)
    /// Has work of milliseconds done for a key, on another thread, or returns the problem with which it is refused. Waits for nothing.
    func work(for key: String, job: @escaping @Sendable () -> Void) -> APIProblem?
    /// Begins what they need beside the hub's lanes. Called once, when calls may come already.
    func start()
    /// Answers those who wait for states of requests with what is known, and those who come later at once. Called once, before
    /// the server stops.
    func endWaits()
    /// Writes nothing more, and answers those whose requests may be written with what is known. Called once, when the server's
    /// time for answers is over and it still takes them.
    func settle()
    /// Ends the rest. Called when no more calls come and answers reach no client, before the lanes end.
    func stop()
}

extension Endpoints {
    func publish(_ call: PublishCall) { call.reply.answer(APIProblem.notFound) }
    func answerLookup(_ call: LookupCall) { call.refuse(.notFound) }
    func operate(_ call: OperatorCall) { call.refuse(.notFound) }
    func answerFeed(_ call: FeedCall) { call.refuse(.notFound) }
    func answerDevices(_ call: DeviceCall) { call.reply.answer(APIProblem.notFound) }
    func work(for key: String, job: @escaping @Sendable () -> Void) -> APIProblem? {
        job()
        return nil
    }
    func start() {}
    func endWaits() {}
    func settle() {}
    func stop() {}
}

/// The endpoints of a gateway: pure values decide, the hub's lanes and Kafka's client carry out.
struct APIEndpoints: Endpoints {
    private let register: RegisterRoute
    private let devices: DeviceEndpoints
    private let people: UserEndpoints
    private let notify: NotifyRoute
    private let publishing: PublishRoute
    private let idempotency: Idempotency
    private let sending: Sending
    private let records: RecordReader
    private let lookups: LookupEndpoints
    private let reach: RetryReachMonitor
    private let operators: OperatorEndpoints
    private let feeds: FeedEndpoints
    private let results: ResultFeed.Configuration
    /// Work on calls that are long to read. One publisher uses two processors, and two leave a thread to others.
    private let reading = JobThreads(
        "pushfan-read", limits: JobThreads.Limits(threads: (all: 5, key: 2, tenant: 3), places: (all: 512, key: 128, tenant: 256))
    )
    private let services: GatewayServices

    /// Makes endpoints that send nothing yet. It fails for settings with which no device can be registered, or that Kafka's
    /// client refuses. Answers that are held open share the places of `held`.
    init(
        _ configuration: GatewayConfiguration, hubs: DeviceHubs, users: UsersSource?, held: HeldAnswers,
        services: GatewayServices
    ) throws(GatewayFailure) {
        self.services = services
        feeds = FeedEndpoints(held: held, now: services.now)
        results = ResultFeed.Configuration(configuration.kafka, topic: configuration.topics.results)
        let pattern: UserTag.Pattern
        do throws(UserTag.Pattern.Problem) {
            pattern = try UserTag.Pattern(configuration.userTag)
        } catch {
            throw GatewayFailure.configuration("hub.user_tag: \(error)")
        }
        do throws(KafkaError) {
            sending = try Sending(configuration, hubs: hubs, services: services)
        } catch {
            throw GatewayFailure.configuration("the Kafka client cannot work with these settings: \(error)")
        }
        let tags = UserTags(pattern, of: users, allowsDemo: configuration.allowsDemoSignIn, now: services.now)
        let rules = TagRules(users: pattern, reserved: configuration.reservedTags)
        register = RegisterRoute(users: tags, rules: rules, hubs: hubs)
        devices = DeviceEndpoints(users: tags, rules: rules, hubs: hubs)
        people = UserEndpoints(hubs: hubs, users: tags, held: held, services: services)
        records = RecordReader(services.log, from: configuration.kafka)
        let messages = SecureMessages(configuration.topics.secure, producer: sending.producer, reader: records)
        let cancelling = RequestCancelling(topic: configuration.topics.control) {
            [producer = sending.producer, topic = configuration.topics.control] (record, moment, report) throws(KafkaError) in
            try producer.write(record, to: topic, at: moment, report: report)
        }
        operators = try OperatorEndpoints(
            configuration, services: services, held: held,
            give: { [producer = sending.producer, topic = configuration.topics.control] (order, report) throws(KafkaError) in
                try producer.write(order, to: topic, report: report)
            }
        ) { [producer = sending.producer, topic = configuration.topics.history] record in
            // A minute that is lost is a gap, which the next start of a gateway shows.
            try? producer.write(record, to: topic) { _ in }
        }
        var lookups = LookupEndpoints(
            RequestLookup(held: held) { [operators] (request, search, then) in
                operators.trace(request, search: search, then: then)
            },
            cancelling: cancelling, topics: Set(configuration.requestTopics.all),
            read: { [records] (place, asker, then) in records.read(place, for: asker, then: then) },
            search: { [operators] (id, asker, then) in operators.searchLife(of: id, for: asker, then: then) },
            isSearchCheap: { [operators] in operators.isIndexCurrent })
        lookups.completion.heldRequests = HeldRequests(configuration) { [operators] in operators.knownOrders }
        lookups.completion.hubs = HubObstacles(configuration) { [operators] in operators.hubs }
        lookups.isIndexBehind = { [operators] in operators.isIndexBehind }
        lookups.completion.findTwins = { [operators] in operators.findTwins(of: $0, publishedAt: $1, for: $2, then: $3) }
        self.lookups = lookups
        notify = NotifyRoute(configuration, users: tags, sending: sending, messages: messages)
        idempotency = Idempotency(configuration.idempotencyFile.map { AnswerFile($0, services: services) }, services: services)
        publishing = try PublishRoute(
            configuration, producer: sending.producer, threads: reading, idempotency: idempotency, lookups: lookups,
            services: services)
        reach = RetryReachMonitor(configuration, log: services.log, asking: sending.producer)
    }

    func answer(_ call: APICall) {
        switch call.operation {
        case .newRegistration, .putRegistration, .deleteRegistration: register.answer(call)
        case .notify: notify.answer(call)
        case .secureText: notify.answer(call, textOf: call.id)
        }
    }

    func publish(_ call: PublishCall) { publishing.answer(call) }

    func work(for key: String, job: @escaping @Sendable () -> Void) -> APIProblem? { reading.put(for: key, job) }

    func operate(_ call: OperatorCall) { operators.answer(call) }

    func answerLookup(_ call: LookupCall) { lookups.answer(call) }

    func answerFeed(_ call: FeedCall) { feeds.answer(call) }

    func answerDevices(_ call: DeviceCall) {
        switch call.operation {
        case .listUserInstallations, .eraseUser, .showErasure: people.answer(call)
        case .putInstallation, .changeInstallation, .showInstallation, .removeInstallation, .addInstallationTag,
            .removeInstallationTag:
            devices.answer(call)
        }
    }

    func start() {
        operators.start()
        sending.start(for: lookups.lookup, begin: lookups.lookup.follow) {
            [events = lookups.events, operators, people, services] in
            services.rights.tick(at: services.now())
            events.tick()
            operators.tick()
            people.tick()
        }
        feeds.start { [results] in ResultFeed(results, onNews: $0) }
        records.start()
        reading.start()
        idempotency.start()
        reach.start()
    }

    func endWaits() {
        operators.cancel()
        feeds.endWaits()
        people.endWaits()
        lookups.lookup.endWatches()
    }

    func settle() {
        operators.settle()
        sending.stop()
    }

    func stop() {
        reach.stop()
        reading.stop()
        operators.stop()
        feeds.stop()
        records.stop()
        lookups.lookup.unfollow()
        // After the last answers of the producer.
        idempotency.stop()
    }
}
