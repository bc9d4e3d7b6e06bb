import CurlHTTP
import Delivery
import HubAuth
import HubEmulator
import HubREST
import Kafka
import Observability
import PushModel
import TestSupport
import Testing
import WorkerRuntime

/// A broker, a hub with devices and a worker, and what one needs to publish to them and to read what came out.
///
/// Every bench has topics and a group of its own, so that many can share a real broker.
final class Bench {
    /// Which broker is used.
    enum Broker: Sendable {
        /// librdkafka's own, in this process: no transactions.
        case embedded
        /// The one that `PUSHFAN_TEST_KAFKA` names.
        case real

        /// The one whose groups form faster: for tests that are about something else.
        static var quickest: Broker { TestVariables.kafka == nil ? .embedded : .real }
    }

    /// The `max.message.bytes` of topics of a real broker; nil for the broker's own.
    struct Limits {
        var delays: Int?
        var deadLetters: Int?
        var results: Int?

        fileprivate func bytes(of name: String, in topics: Topics) -> Int? {
            if name == topics.results { return results }
            return name == topics.deadLetters ? deadLetters : topics.delays.contains(name) ? delays : nil
        }
    }

    let hub: EmulatedHub
    let metrics: PushfanMetrics
    let logLines = LogLines()
    let status = StatusBoard()
    /// The time of the bench's workers and of its hub.
    let clock = WorkerClock()
    /// Holds the calls to its hub, when it is closed.
    let gate = HubGate()
    let kafka: KafkaConfiguration
    let topics: Topics
    let cluster: MockCluster?
    let name = "t\(UInt32.random(in: 0 ... .max))"
    private let guarantee: DeliveryGuarantee
    private let producer: Producer
    /// The topics of requests, by lane.
    private let requests: [Producer.Topic]

    init(
        _ broker: Broker, partitions: Int = 4, hasShares: Bool = false, hasHeld: Bool = true,
        limits: Limits = Limits(),
        emulator: (inout HubEmulatorConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = HubEmulatorConfiguration()
        configuration.listen = "127.0.0.1:0"
        emulator(&configuration)
        hub = try EmulatedHub(
            configuration,
            clock: { [clock, gate] in
                Disturbance.pass()
                gate.pass()
                return clock.millisecondsSince1970
            })
        _ = try hub.start()
        let topics = Topics(requests: "\(name).requests")
        self.topics = topics
        let all = topics.all.filter { (hasShares || $0 != topics.shares) && (hasHeld || $0 != topics.held) }
        switch broker {
        case .embedded:
            let cluster = try MockCluster()
            for topic in all {
                try cluster.createTopic(topic, partitions: topics.partitionCount(of: topic, requests: partitions))
            }
            if Disturbance.isWanted { cluster.setBroker(1, roundTripTime: Disturbance.delay) }
            self.cluster = cluster
            kafka = cluster.configuration
            guarantee = .atLeastOnce
        case .real:
            cluster = nil
            kafka = KafkaConfiguration(bootstrapServers: TestVariables.kafka ?? "127.0.0.1:9092")
            guarantee = .exactlyOnce
            let admin = try TopicAdmin(kafka)
            _ = try admin.createTopics(
                all.map { name in
                    let limit = limits.bytes(of: name, in: topics)
                    return NewTopic(
                        name: name, partitionCount: topics.partitionCount(of: name, requests: partitions), replicationFactor: 1,
                        configuration: limit.map { [.init(key: "max.message.bytes", value: "\($0)")] } ?? [])
                }, timeout: farDeadline)
        }
        metrics = PushfanMetrics(build: BuildFacts(version: "test", swift: "")) { ProcessReadings() }
        var roomy = kafka
        roomy.properties.append(.init(key: "message.max.bytes", value: "4000000"))
        let producer = try Producer(roomy, transactionalID: nil)
        self.producer = producer
        let lanes = [topics.requestsHigh, topics.requests, topics.requestsBulk, topics.requestsOwn]
        requests = try Self.whenReady { try producer.warmUp(topics: lanes, timeout: farDeadline) }
        // Tests name lanes by their places.
        try #require(requests.count == lanes.count && topics.delays.count == 4)
    }

    deinit {
        producer.close(timeout: .zero)
        gate.open()
        hub.stop()
        cluster?.close()
    }

    /// The configuration of a worker on this bench.
    func workerConfiguration(_ id: String = "w1", change: (inout WorkerConfiguration) throws -> Void = { _ in }) throws
        -> WorkerConfiguration
    {
        let connection = try ConnectionString(parsing: hub.connectionString)
        let hubConfiguration = HubConfiguration(
            endpoint: connection.endpoint, hub: try HubName("demo"), credential: connection.credential)
        let port = try #require(UInt16(exactly: connection.endpoint.effectivePort))
        var connections = ConnectionPoolConfiguration(scheme: .http, host: connection.endpoint.host, port: port)
        connections.maxConnections = 64
        var configuration = WorkerConfiguration(
            workerID: "\(name)-\(id)", version: "test", kafka: kafka, hub: hubConfiguration, connections: connections)
        configuration.groupID = name
        configuration.topics = topics
        configuration.guarantee = guarantee
        // Tests publish what is as old as they like.
        configuration.start = .beginning
        // A machine that stands still for a while must not cost a worker its partitions. Until a session ends nobody with another name takes
        // them over: tests of that choose `takeover`.
        // The embedded broker lets the next worker wait for it even where the one before has left.
        configuration.sessionTimeout = .seconds(cluster == nil ? 45 : 8)
        // No call may run out of time because a test moves the clock on.
        configuration.requestTimeout = .seconds(86_400)
        // Tests count all that a hub gets, and script its answers one by one: those of the question turn it on.
        configuration.checksHubs = false
        // A hub that there is not is refused at once, except in tests of the wait for it.
        configuration.settlingTime = .zero
        try change(&configuration)
        return configuration
    }

    /// The shortest session that brokers allow.
    static func takeover(_ configuration: inout WorkerConfiguration) { configuration.sessionTimeout = .seconds(6) }

    /// Starts a worker on a thread of its own.
    func startWorker(_ id: String = "w1", change: (inout WorkerConfiguration) throws -> Void = { _ in }) throws -> RunningWorker {
        let log = Log(format: .json, level: .debug, now: { 0 }, sink: logLines.sink)
        let health = Health()
        var services = WorkerServices(metrics: metrics, log: log, health: health)
        services.status = status
        services.clock = clock
        return RunningWorker(try Worker(try workerConfiguration(id, change: change), services: services), services)
    }

    /// Publishes one record and waits until the broker has it.
    func publish(
        _ value: [UInt8]?, key: [UInt8]? = nil, headers: [(String, [UInt8]?)] = [], partition: Int32? = nil,
        at moment: Int64? = nil
    ) throws {
        try produce(value, key: key, headers: headers, partition: partition, at: moment)
        try producer.flush(timeout: farDeadline)
    }

    func publish(_ json: String, headers: [(String, String)] = []) throws {
        try publish(Array(json.utf8), headers: headers.map { ($0, Array($1.utf8)) })
    }

    /// Publishes many records, one after the other, and waits until the broker has them all.
    func publish(all records: [String], partition: Int32? = nil, to lane: Lane = .normal) throws {
        for record in records { try produce(Array(record.utf8), key: nil, headers: [], partition: partition, to: lane) }
        try producer.flush(timeout: farDeadline)
    }

    private func produce(
        _ value: [UInt8]?, key: [UInt8]?, headers: [(String, [UInt8]?)], partition: Int32?, to lane: Lane = .normal,
        at moment: Int64? = nil
    ) throws {
        let topic = requests[lane.rawValue]
        var list = HeaderList()
        for (name, value) in headers {
            let name = Array(name.utf8)
            if let value { list.append(name: name.span, value: value.span) } else { list.append(name: name.span, value: nil) }
        }
        switch (key, value) {
        case (let key?, let value?):
            try producer.produce(
                to: topic, partition: partition, key: key.span, value: value.span, headers: list, timestamp: moment)
        case (let key?, nil):
            try producer.produce(to: topic, partition: partition, key: key.span, value: nil, headers: list, timestamp: moment)
        case (nil, let value?):
            try producer.produce(to: topic, partition: partition, key: nil, value: value.span, headers: list, timestamp: moment)
        case (nil, nil):
            try producer.produce(to: topic, partition: partition, key: nil, value: nil, headers: list, timestamp: moment)
        }
    }

    /// Cancels requests, in the name of somebody whose clock shows `moment`.
    func cancel(
        _ ids: [String], of scope: CancelRecord.Scope = .all, reason: String? = nil, at moment: Int64? = nil
    ) throws {
        let now = moment ?? clock.millisecondsSince1970
        try writeControl(
            ids.map { id in
                let record = CancelRecord(requestID: id, scope: scope, reason: reason)
                return (record.key, record.value(at: Timestamp(milliseconds: now)))
            }, at: now)
    }

    /// Writes records to the control topic, in order.
    func writeControl(_ records: [(key: [UInt8], value: [UInt8]?)], at moment: Int64? = nil) throws {
        let found = try Self.whenReady { try producer.warmUp(topics: [topics.control], timeout: farDeadline) }
        let topic = try #require(found.first)
        for record in records {
            if let value = record.value {
                try producer.produce(to: topic, partition: 0, key: record.key.span, value: value.span, timestamp: moment)
            } else {
                try producer.produce(to: topic, partition: 0, key: record.key.span, value: nil, timestamp: moment)
            }
        }
        try producer.flush(timeout: farDeadline)
    }

    /// Makes a topic, also one that was deleted a moment ago, and waits until a broker knows it: a controller confirms it before.
    func create(_ topic: String, partitions: Int = 1) throws {
        let admin = try TopicAdmin(kafka)
        let new = NewTopic(name: topic, partitionCount: partitions, replicationFactor: 1)
        let isThere = try eventually { try admin.createTopics([new], timeout: farDeadline) == [.created] }
        try #require(isThere)
        let isKnown = try eventually {
            try admin.describe(topics: [topic], timeout: farDeadline).topics == [.existing(partitionCount: partitions)]
        }
        try #require(isKnown)
    }

    private func openReader(_ topic: String) throws -> TopicReader {
        try Self.whenReady { try TopicReader(kafka, topic: topic, start: .beginning, timeout: farDeadline) }
    }

    /// Does what fails while a topic that was made just now has no leader yet.
    private static func whenReady<Value>(_ body: () throws -> Value) throws -> Value {
        var value: Value?
        _ = try eventually {
            do {
                value = try body()
            } catch let error as KafkaError where error.name.hasPrefix("NOT_LEADER") || error.isUnknownTopicOrPartition {
                return false
            }
            return true
        }
        guard let value else { throw RunningWorker.Timeout() }
        return value
    }

    /// Reads a topic from its beginning until `count` records are there.
    func read(_ topic: String, count: Int) throws -> [ReadBack] {
        let reader = try openReader(topic)
        defer { reader.close() }
        var records: [ReadBack] = []
        let deadline = ContinuousClock.now + farDeadline
        while records.count < count && ContinuousClock.now < deadline {
            _ = reader.read(timeout: .milliseconds(100)) { record in records.append(ReadBack(record)) }
        }
        return records
    }

    /// Reads all that a topic holds now.
    func readAll(_ topic: String) throws -> [ReadBack] {
        let reader = try openReader(topic)
        defer { reader.close() }
        var records: [ReadBack] = []
        let deadline = ContinuousClock.now + farDeadline
        while !reader.hasReachedEnd && ContinuousClock.now < deadline {
            _ = reader.read(timeout: .milliseconds(100)) { record in records.append(ReadBack(record)) }
        }
        guard reader.hasReachedEnd else { throw RunningWorker.Timeout() }
        return records
    }

    /// Waits for `count` final results.
    ///
    /// - Throws: `Missing` when fewer ever come.
    @discardableResult
    func results(_ count: Int) throws -> [FinalResult] {
        let found = try read(topics.results, count: count).map { try FinalResult($0) }
        guard found.count >= count else { throw Missing(found: found.count, wanted: count) }
        return found
    }

    struct Missing: Error { var found, wanted: Int }

    /// All final results there are, by request; more than one of a request is a test's failure.
    func resultsByRequest() throws -> [String: FinalResult] {
        var found: [String: FinalResult] = [:]
        for record in try readAll(topics.results) {
            let result = try FinalResult(record)
            guard found.updateValue(result, forKey: result.requestID) == nil else {
                throw TwoResults(requestID: result.requestID)
            }
        }
        return found
    }

    struct TwoResults: Error { var requestID: String }

    /// Waits until so many workers, or loops of them, have all partitions of the requests topic among them.
    func waitForGroup(of count: Int, partitions: Int) -> Bool {
        eventually {
            let shares = status.statuses.map { $0.partitions.count { $0.topic == topics.requests } }
            return shares.count { $0 > 0 } == count && shares.reduce(0, +) == partitions
        }
    }

    /// What the worker's group has committed for a partition of the requests topic.
    func committed(_ partition: Int32 = 0) throws -> CommittedOffset? { try committed([partition]).first }

    private func committed(_ partitions: [Int32]) throws -> [CommittedOffset] {
        let consumer = try Consumer(kafka, groupID: name, wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: .seconds(2)) }
        return try consumer.group.committed(
            partitions.map { TopicPartition(topic: topics.requests, partition: $0) }, timeout: farDeadline)
    }

    /// Waits until so many records of the requests topic are committed; none is, on the embedded broker, once a member leaves. While members
    /// join, a question for positions may find no answer in time.
    func waitForCommits(of count: Int64, partitions: Int32) -> Bool {
        eventually {
            let found = try? committed(Array(0..<partitions))
            return found?.reduce(0) { $0 + ($1.offset ?? 0) } == count
        }
    }

    /// The metrics as a scraper sees them.
    func exposition() -> String {
        var bytes: [UInt8] = []
        metrics.registry.write(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The sum of a metric's series whose labels contain every one of `labels`, such as `outcome="success"`.
    func metric(_ name: String, _ labels: String...) -> Double {
        exposition().split(separator: "\n").filter { line in
            line.hasPrefix(name + "{") || line.hasPrefix(name + " ") ? labels.allSatisfy { line.contains($0) } : false
        }.reduce(0) { $0 + (Double($1.split(separator: " ").last ?? "") ?? 0) }
    }
}
