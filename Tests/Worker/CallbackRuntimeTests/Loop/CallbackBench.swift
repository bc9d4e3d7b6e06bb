import CallbackRecords
import EventLoop
import HTTPServing
import Kafka
import Observability
import ResultFeed
import TestSupport
import Testing
import Webhooks

@testable import CallbackRuntime

/// A service of callbacks in a world of stand-ins: a topic of two partitions, positions, decisions and dead letters in memory.
final class CallbackBench: Sendable {
    /// A topic in memory.
    final class Feed: FeedSource {
        private let state = Box<(records: [Int32: [FeedRecord]], first: [Int32: Int64], news: [@Sendable () -> Void])>(
            ([0: [], 1: []], [:], []))
        /// The marks of transactions behind the records of each partition.
        private let marks = Box<[Int32: Int64]>([:])

        /// The number of readings so far.
        let readCount = Box(0)

        var end: FeedPlaces? {
            let marks = marks.withLock { $0 }
            return state.withLock { state in
                FeedPlaces(
                    Dictionary(
                        uniqueKeysWithValues: state.records.map { ($0.key, Int64($0.value.count) + marks[$0.key, default: 0]) }))
            }
        }

        var problem: KafkaError? { nil }

        func append(_ record: FeedRecord) {
            let news = state.withLock { state in
                state.records[record.partition, default: []].append(record)
                return state.news
            }
            for tell in news { tell() }
        }

        /// Puts the mark of a transaction behind the last record of a partition. No news come of it.
        func mark(_ partition: Int32) { marks.withLock { $0[partition, default: 0] += 1 } }

        func follow(_ news: @escaping @Sendable () -> Void) { state.withLock { $0.news.append(news) } }

        /// Takes the first offsets of a partition away, as retention does.
        func remove(before offset: Int64, of partition: Int32) { state.withLock { $0.first[partition] = offset } }

        func read(
            from places: FeedPlaces, onlyNamed: Bool, room: FeedRoom, where isWanted: @escaping @Sendable (FeedRecord) -> Bool,
            then: @escaping @Sendable (Result<FeedReading, FeedFailure>) -> Void
        ) {
            readCount.withLock { $0 += 1 }
            let end = end?.offsets ?? [:]
            let result = state.withLock { state -> Result<FeedReading, FeedFailure> in
                if places.offsets.contains(where: { $0.value < state.first[$0.key, default: 0] }) {
                    return .failure(.gone(first: FeedPlaces(state.first)))
                }
                var (found, next, isAtEnd): ([FeedRecord], FeedPlaces, Bool) = ([], places, true)
                for (partition, start) in places.offsets {
                    var offset = start
                    for record in state.records[partition, default: []].dropFirst(Int(start)) {
                        guard found.count < room.records else {
                            isAtEnd = false
                            break
                        }
                        if isWanted(record) { found.append(record) }
                        offset += 1
                    }
                    next.offsets[partition] = isAtEnd ? max(offset, end[partition] ?? 0) : offset
                }
                return .success(FeedReading(records: found, places: next, isAtEnd: isAtEnd))
            }
            then(result)
        }

        func close() {}
    }

    /// A group with one member, or none.
    final class Sharing: PartitionSharing {
        private let onChange: @Sendable (Set<TopicPartition>) -> Void

        init(_ onChange: @escaping @Sendable (Set<TopicPartition>) -> Void) { self.onChange = onChange }

        var problem: KafkaError? { nil }

        func give(_ partitions: Set<TopicPartition>) { onChange(partitions) }

        func close() { onChange([]) }
    }

    /// Decisions in memory.
    final class States: StateSource {
        private let known = Box<[String: ReceiverState]>([:])
        private let listeners = Box<[@Sendable () -> Void]>([])

        var states: [String: ReceiverState] { known.withLock { $0 } }
        var isKnown: Bool { true }

        func follow(_ listener: @escaping @Sendable () -> Void) { listeners.withLock { $0.append(listener) } }

        func decide(_ state: ReceiverState, of receiver: String) {
            known.withLock { $0[receiver] = state }
            for tell in listeners.withLock({ $0 }) { tell() }
        }

        func close() {}
    }

    /// Positions in memory.
    final class Positions: CallbackPositions {
        let saved = Box<[String: [TopicPartition: Int64]]>([:])

        func load(_ receiver: String, in partitions: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64] {
            saved.withLock { saved in
                var starts: [TopicPartition: Int64] = [:]
                for partition in partitions { starts[partition] = saved[receiver]?[partition] ?? 0 }
                return starts
            }
        }

        func save(_ receiver: String, at offsets: [TopicPartition: Int64]) throws(KafkaError) {
            saved.withLock { $0[receiver, default: [:]].merge(offsets) { $1 } }
        }
    }

    /// Dead letters in memory.
    final class Letters: DeadLetterSink {
        let all = Box<[CallbackDeadLetter]>([])
        /// The reason for which none can be written, or nil.
        let problem = Box<String?>(nil)

        func write(_ letter: CallbackDeadLetter, then: @escaping @Sendable (String?) -> Void) {
            let problem = problem.withLock { $0 }
            if problem == nil { all.withLock { $0.append(letter) } }
            then(problem)
        }
    }

    static let topics = CallbackTopics(results: "results", states: "states", deadLetters: "letters", replays: "replays")
    static let partitions = Set(
        [topics.results, topics.replays].flatMap { topic in
            (Int32(0)..<2).map { TopicPartition(topic: topic, partition: $0) }
        })

    let results = Feed()
    let replays = Feed()
    let states = States()
    let positions: Positions
    let letters = Letters()
    let receivers: Box<ReceiverSet>
    let metrics = CallbackMetrics(build: BuildFacts(version: "1", swift: "6")) { ProcessReadings() }
    let health = Health()
    private let sharing = Box<Sharing?>(nil)
    private let service: CallbackService
    private let thread = ServiceThread()
    private let failure = Box<String?>(nil)

    /// Starts a service for receivers, on loopback unless that is not allowed.
    init(
        _ list: [Receiver], positions: Positions = Positions(), allowing networks: [String] = ["127.0.0.0/8"],
        caFile: String? = nil
    )
        throws
    {
        self.positions = positions
        var set = ReceiverSet()
        (set.receivers, set.allowsPlain, set.caFile) = (list, true, caFile)
        set.allowedNetworks = networks.compactMap { NetworkRange($0) }
        let receivers = Box(set)
        self.receivers = receivers
        let configuration = CallbackServiceConfiguration(
            kafka: KafkaConfiguration(bootstrapServers: "localhost:1"), topics: Self.topics, groupID: "g", receiversFile: "",
            version: "1", instance: "i")
        let parts = CallbackParts(
            receivers: { _ in receivers.withLock { $0 } }, positions: positions,
            feed: { [results, replays] topic, news in
                let feed = topic == Self.topics.results ? results : replays
                feed.follow(news)
                return feed
            },
            sharing: { [sharing] onChange in
                let member = Sharing(onChange)
                sharing.withLock { $0 = member }
                ServiceThread().start(named: "assignment") { member.give(Self.partitions) }
                return member
            },
            states: { [states] listener in
                states.follow(listener)
                return states
            },
            decide: { [states] state, receiver throws(KafkaError) in states.decide(state, of: receiver) },
            deadLetters: letters, close: {}, now: { .now() }, wallClock: { WallClock.millisecondsSince1970() })
        let services = CallbackServices(metrics: metrics, log: .silent, health: health)
        service = try CallbackService(configuration, services: services, parts: parts)
        thread.start(named: "callbacks") { [service, failure] in
            do { try service.run() } catch { failure.withLock { $0 = "\(error)" } }
        }
    }

    /// The status of the service.
    var status: String { String(decoding: service.status, as: UTF8.self) }

    /// Puts results with these offsets into the first partition.
    func publish(_ offsets: Range<Int64>, source: String = "shop") throws {
        for offset in offsets { results.append(try sample(offset, source: source)) }
    }

    /// Tells the service which partitions it has. Returns when it has let the others go.
    func give(_ partitions: Set<TopicPartition>) { sharing.withLock { $0 }?.give(partitions) }

    /// The position of a receiver in the first partition of results.
    func position(of receiver: String) -> Int64? {
        positions.saved.withLock { $0[receiver]?[TopicPartition(topic: Self.topics.results, partition: 0)] }
    }

    /// Asks the service to end, and waits until it does not begin any call.
    func askToStop() {
        service.stop()
        #expect(eventually { health.report(.ready, now: 0).checks.first?.reason != nil })
    }

    /// Ends the service, and waits for that.
    func stop() {
        service.stop()
        thread.waitForEnd()
        #expect(failure.withLock { $0 } == nil)
    }
}

/// A receiver's own server, which notes what comes.
final class ReceivingServer: Sendable {
    /// The ids and bodies of the calls, in the order of arrival.
    let calls = Box<[HTTPServerRequest]>([])
    private let server: HTTPServer
    private let held: Box<[Responder]>
    let port: Int

    /// Starts a server that answers as it is told. Nil for no answer at all.
    init(
        identity: HTTPServerConfiguration.Identity? = nil,
        _ answer: @escaping @Sendable (HTTPServerRequest) -> HTTPServerResponse?
    )
        throws
    {
        let held = Box<[Responder]>([])
        self.held = held
        server = HTTPServer(HTTPServerConfiguration(identity: identity)) { [calls] request, responder in
            let response = answer(request)
            if response == nil { held.withLock { $0.append(responder) } }
            calls.withLock { $0.append(request) }
            if let response { responder.answer(response) }
        }
        port = try server.start().port
    }

    deinit { server.stop(within: .zero) }

    /// Answers the calls that have no answer yet.
    func answerHeld() {
        for responder in held.withLock({ $0 }) { responder.answer(HTTPServerResponse(status: 204)) }
    }

    /// The number of calls so far.
    var count: Int { calls.withLock { $0.count } }

    /// The ids of the calls so far.
    var ids: [String] { calls.withLock { $0.compactMap { $0.headers["webhook-id"] } } }

    /// The receiver that is called here.
    func receiver(_ name: String, scheme: String = "http") throws -> Receiver {
        try sampleReceiver(name, url: "\(scheme)://127.0.0.1:\(port)/hooks")
    }
}
