import CurlHTTP
import Foundation
import HubAuth
import HubEmulator
import HubREST
import Kafka
import Observability
import PushModel
import Synchronization
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

        /// The real broker's address, if there is one.
        static var realAddress: String? { ProcessInfo.processInfo.environment["PUSHFAN_TEST_KAFKA"] }
    }

    let hub: EmulatedHub
    let metrics: PushfanMetrics
    let health = Health()
    let logLines = LogLines()
    let kafka: KafkaConfiguration
    let topics: WorkerConfiguration.Topics
    private let cluster: MockCluster?
    private let name = "t\(UInt32.random(in: 0 ... .max))"
    private let guarantee: DeliveryGuarantee
    private let producer: Producer
    private let requests: Producer.Topic

    init(_ broker: Broker, partitions: Int = 4, emulator: (inout HubEmulatorConfiguration) -> Void = { _ in }) throws {
        var configuration = HubEmulatorConfiguration()
        configuration.listen = "127.0.0.1:0"
        emulator(&configuration)
        hub = try EmulatedHub(configuration)
        _ = try hub.start()
        var topics = WorkerConfiguration.Topics()
        topics.requests = "\(name).requests"
        topics.results = "\(name).results"
        topics.deadLetters = "\(name).deadletter"
        self.topics = topics
        let all = [topics.requests, topics.results, topics.deadLetters]
        switch broker {
        case .embedded:
            let cluster = try MockCluster()
            for topic in all { try cluster.createTopic(topic, partitions: partitions) }
            self.cluster = cluster
            kafka = KafkaConfiguration(
                bootstrapServers: cluster.bootstrapServers, properties: [.init(key: "fetch.wait.max.ms", value: "5")])
            guarantee = .atLeastOnce
        case .real:
            cluster = nil
            kafka = KafkaConfiguration(bootstrapServers: Broker.realAddress ?? "127.0.0.1:9092")
            guarantee = .exactlyOnce
            let admin = try TopicAdmin(kafka)
            _ = try admin.createTopics(
                all.map { NewTopic(name: $0, partitionCount: partitions, replicationFactor: 1) }, timeout: .seconds(20))
        }
        metrics = PushfanMetrics(build: BuildFacts(version: "test", commit: "", swift: "")) { ProcessReadings() }
        producer = try Producer(kafka, transactionalID: nil)
        requests = try producer.warmUp(topics: [topics.requests], timeout: .seconds(10))[0]
    }

    deinit {
        producer.close(timeout: .zero)
        hub.stop()
        cluster?.close()
    }

    /// The configuration of a worker on this bench.
    func workerConfiguration(_ id: String = "w1", change: (inout WorkerConfiguration) -> Void = { _ in }) throws -> WorkerConfiguration {
        let connection = try ConnectionString(parsing: hub.connectionString)
        let hubConfiguration = HubConfiguration(
            endpoint: connection.endpoint, hub: try HubName("demo"), credential: connection.credential)
        var connections = ConnectionPoolConfiguration(
            scheme: .http, host: connection.endpoint.host, port: UInt16(connection.endpoint.effectivePort))
        connections.maxConnections = 64
        var configuration = WorkerConfiguration(
            workerID: "\(name)-\(id)", version: "test", kafka: kafka, hub: hubConfiguration, connections: connections)
        configuration.groupID = name
        configuration.topics = topics
        configuration.guarantee = guarantee
        configuration.sessionTimeout = .seconds(6)
        change(&configuration)
        return configuration
    }

    /// Starts a worker on a thread of its own.
    func startWorker(_ id: String = "w1", change: (inout WorkerConfiguration) -> Void = { _ in }) throws -> RunningWorker {
        let log = Log(format: .json, level: .debug, now: { 0 }, sink: logLines.sink)
        let services = WorkerServices(metrics: metrics, log: log, health: Health())
        return RunningWorker(try Worker(try workerConfiguration(id, change: change), services: services))
    }

    /// Publishes one record and waits until the broker has it.
    func publish(_ value: [UInt8]?, key: String? = nil, headers: [(String, String)] = [], partition: Int32? = nil) throws {
        var list = Kafka.RecordHeaders()
        for (name, value) in headers { list.append(name: Array(name.utf8).span, value: Array(value.utf8).span) }
        let keyBytes = Array((key ?? "").utf8)
        if let value {
            let keySpan = key == nil ? nil : keyBytes.span
            try producer.produce(to: requests, partition: partition, key: keySpan, value: value.span, headers: list)
        } else {
            try producer.produce(to: requests, partition: partition, key: keyBytes.span, value: nil, headers: list)
        }
        try producer.flush(timeout: .seconds(10))
    }

    func publish(_ json: String, headers: [(String, String)] = []) throws {
        try publish(Array(json.utf8), headers: headers)
    }

    /// Reads a topic from its beginning until `count` records are there or the deadline passes.
    func read(_ topic: String, count: Int, within limit: Duration = .seconds(30)) throws -> [ReadBack] {
        let reader = try TopicReader(kafka, topic: topic, start: .beginning, timeout: .seconds(10))
        defer { reader.close() }
        var records: [ReadBack] = []
        let deadline = ContinuousClock.now + limit
        while records.count < count && ContinuousClock.now < deadline {
            _ = reader.read(timeout: .milliseconds(100)) { record in records.append(ReadBack(record)) }
        }
        return records
    }

    /// The final results, one dictionary each.
    func results(_ count: Int, within limit: Duration = .seconds(30)) throws -> [[String: Any]] {
        try read(topics.results, count: count, within: limit).map { record in
            try JSONSerialization.jsonObject(with: Data(record.value ?? [])) as? [String: Any] ?? [:]
        }
    }
}

/// A record as it was read.
struct ReadBack {
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [(name: String, value: [UInt8]?)] = []
    var partition: Int32
    var offset: Int64

    init(_ record: borrowing ConsumedRecord) {
        partition = record.partition
        offset = record.offset
        if let span = record.key { key = Self.bytes(span) }
        if let span = record.value { value = Self.bytes(span) }
        var list: [(name: String, value: [UInt8]?)] = []
        record.forEachHeader { name, value in
            var copy: [UInt8]?
            if let value { copy = Self.bytes(value) }
            list.append((String(decoding: Self.bytes(name), as: UTF8.self), copy))
        }
        headers = list
    }

    private static func bytes(_ span: Span<UInt8>) -> [UInt8] { span.withUnsafeBufferPointer { Array($0) } }

    func header(_ name: String) -> String? {
        headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// What a worker logs.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    var sink: @Sendable ([UInt8]) -> Void {
        { [self] bytes in lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) } }
    }

    var all: [String] { lines.withLock { $0 } }
}

/// A worker on a thread of its own.
final class RunningWorker: Sendable {
    private let worker: Worker
    private let ended = DispatchSemaphore(value: 0)
    private let outcome = Mutex<Result<Void, any Error>?>(nil)

    init(_ worker: Worker) {
        self.worker = worker
        let thread = Thread { [self] in
            let result = Result { try worker.run() }
            outcome.withLock { $0 = result }
            ended.signal()
        }
        thread.start()
    }

    func askToStop() { worker.stop() }

    /// Stops the worker and throws what it could not do.
    func stop(within limit: Duration = .seconds(40)) throws {
        worker.stop()
        try wait(within: limit)
    }

    /// Waits for the worker's own end.
    func wait(within limit: Duration = .seconds(40)) throws {
        guard ended.wait(timeout: .now() + .milliseconds(Int(limit.components.seconds * 1000))) == .success else {
            throw Timeout()
        }
        try outcome.withLock { $0 }?.get()
    }

    struct Timeout: Error {}
}
