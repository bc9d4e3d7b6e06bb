import Delivery
import EventLoop
import Foundation
import GroupPositions
import Groups
import HubEmulator
import JobSupport
import Kafka
import TestSupport
import Testing
import WorkerRuntime

/// Topics of their own on a real broker, an emulated hub, and the gateways and the worker that a test starts there, each a process.
final class RealStage {
    /// How many hub calls the worker has under way at once.
    static let callsAtOnce = 64

    let hub: EmulatedHub
    private let kafka: KafkaConfiguration
    let topics: Topics
    /// The settings of all processes.
    private let environment: [String: String]
    private var gateways: [RealGateway] = []
    private var worker: PushfanProcess?

    /// Makes the topics and starts the hub.
    init() throws {
        // Hundreds of apps wait at once, and hundreds of hub calls.
        DescriptorLimit.raise()
        let name = "gateway-tests-\(UUID().uuidString)"
        let topics = Topics(requests: "\(name).requests")
        let kafka = KafkaConfiguration(bootstrapServers: TestVariables.kafka ?? "")
        try RealStage.create(topics, on: kafka)
        var emulator = HubEmulatorConfiguration()
        emulator.listen = "127.0.0.1:0"
        let hub = try EmulatedHub(emulator)
        try hub.start()
        self.hub = hub
        self.kafka = kafka
        self.topics = topics
        environment = [
            "PUSHFAN_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrapServers,
            "PUSHFAN_KAFKA_GROUP_ID": name,
            "PUSHFAN_KAFKA_TOPICS_REQUESTS": topics.requests,
            "PUSHFAN_KAFKA_TOPICS_RESULTS": topics.results,
            "PUSHFAN_KAFKA_TOPICS_DEADLETTER": topics.deadLetters,
            "PUSHFAN_KAFKA_TOPICS_REPLAYS": topics.replays,
            // A machine that stands still for a while must not cost a worker its partitions. One of the same name takes them over at once.
            "PUSHFAN_KAFKA_SESSION_TIMEOUT": "45s",
            "PUSHFAN_WORKER_ID": name,
            "PUSHFAN_WORKER_MAX_IN_FLIGHT": String(RealStage.callsAtOnce),
            "PUSHFAN_HUB_NAME": emulator.hubName,
            "PUSHFAN_HUB_CONNECTION_STRING": hub.connectionString,
            "PUSHFAN_HUB_ADAPTIVE_CONCURRENCY": "false",
            // The longest that may be set: what is not answered waits until somebody is killed.
            "PUSHFAN_HUB_REQUEST_TIMEOUT": "300s",
            "PUSHFAN_GATEWAY_SEND_WAIT": "300s",
            "PUSHFAN_GATEWAY_LISTEN": "127.0.0.1:0",
            "PUSHFAN_GATEWAY_DEMO_AUTH": "true",
            "PUSHFAN_LISTEN": "127.0.0.1:0",
        ]
    }

    /// Makes topics, and waits until the broker knows them: a controller confirms them before.
    private static func create(_ topics: Topics, on kafka: KafkaConfiguration) throws {
        let admin = try TopicAdmin(kafka)
        let single = [topics.replays, topics.history, topics.status, topics.control]
        let all = Array(Set(topics.all + [topics.secure] + single))
        let wanted = all.map { topic in
            let count = single.contains(topic) ? 1 : topics.partitionCount(of: topic, requests: 4)
            return NewTopic(name: topic, partitionCount: count, replicationFactor: 1)
        }
        _ = try admin.createTopics(wanted, timeout: farDeadline)
        let areKnown = try eventually {
            try admin.describe(topics: all, timeout: farDeadline).topics.allSatisfy { $0 != .missing }
        }
        try #require(areKnown)
    }

    /// Ends all that was started.
    func stop() {
        for gateway in gateways { gateway.kill() }
        killWorker()
        hub.stop(within: .zero)
    }

    // MARK: Processes

    /// Starts one more gateway, and waits until it is ready.
    func startGateway(with more: [String: String] = [:]) throws -> RealGateway {
        let gateway = try RealGateway(environment.merging(more) { $1 })
        gateways.append(gateway)
        let isReady = try eventually { try gateway.probe("/readyz").status == 200 }
        try #require(isReady)
        return gateway
    }

    /// Starts a worker, always under the same name.
    func startWorker() throws { worker = try PushfanProcess("worker", environment) }

    /// Starts a worker, and waits until it is ready.
    func startProbedWorker() throws -> RealWorker {
        let process = try PushfanProcess("worker", environment)
        worker = process
        let probed = RealWorker(probes: try process.port(where: "probes and metrics are served"))
        let isReady = try eventually { try probed.probe("/readyz") == "ok\n" }
        try #require(isReady)
        return probed
    }

    /// Kills the worker, if there is one.
    func killWorker() {
        worker?.kill()
        worker = nil
    }

    /// Stops the worker; all that it has sent has its result then.
    func stopWorker() throws {
        try worker?.stop()
        worker = nil
    }

    // MARK: Devices

    /// Registers a device of a user at the hub.
    func register(_ user: String) throws {
        let handle = user.utf8.map { String($0, radix: 16) }.joined().uppercased()
        try hub.register(EmulatedDevice(id: user, platform: "apns", handle: handle, tags: ["username:\(user)"]))
    }

    /// What the devices of a user have shown, in the order of the alphabet.
    func alerts(of user: String) -> [String] {
        hub.devices(tag: "username:\(user)").flatMap(\.rung).compactMap(\.alert).sorted()
    }

    // MARK: Records

    /// Writes a record to the topic of requests, whatever it is.
    func write(_ value: String, key: String, partition: Int32? = nil) throws {
        let producer = try Producer(kafka, transactionalID: nil)
        defer { producer.close(timeout: .seconds(5)) }
        let topic = try producer.topic(named: topics.requests)
        try producer.produce(to: topic, partition: partition, key: key.utf8Span.span, value: value.utf8Span.span)
        try producer.flush(timeout: farDeadline)
    }

    /// Writes requests from `shop` to partition 0 in a transaction, which its producer may end.
    func openTransaction(of count: Int) throws -> Producer {
        let producer = try Producer(kafka, transactionalID: topics.requests, transactionTimeout: farDeadline)
        let topic = try #require(try producer.warmUp(topics: [topics.requests], timeout: farDeadline).first)
        try producer.initTransactions(timeout: farDeadline)
        try producer.beginTransaction()
        for number in 0..<count {
            let value = #"{"id":"t-\#(number)","source":"shop","audience":{"users":["bob"]},"message":{"title":"Hi"}}"#
            try producer.produce(to: topic, partition: 0, key: "t-\(number)".utf8Span.span, value: value.utf8Span.span)
        }
        try producer.flush(timeout: farDeadline)
        return producer
    }

    /// What the gateway counts.
    func report() throws -> StatusReport? {
        let terms = GroupTerms(kafka: kafka, group: environment["PUSHFAN_KAFKA_GROUP_ID"] ?? "", topics: topics, start: .safe)
        let context = JobContext(
            kafka: kafka, topics: topics, timeout: farDeadline, now: { Int64(Date().timeIntervalSince1970 * 1000) })
        return try StatusExamination(terms, context: context).report(hearing: { _ in .success([]) })
    }

    /// Runs a command to its end with the settings of the stage. Returns its exit status and what it has said.
    func run(_ arguments: [String]) throws -> (status: Int32, said: String) { try PushfanProcess.run(arguments, environment) }

    /// The ids of all requests that were written.
    func requestIDs() throws -> [String] { try records(of: topics.requests).map { $0.key }.sorted() }

    /// The ids of the requests of all final results.
    func resultIDs() throws -> [String] {
        let finals = try records(of: topics.results).filter { record in
            let json = try? JSONSerialization.jsonObject(with: Data(record.value)) as? [String: Any]
            return json?["kind"] as? String == "final"
        }
        return finals.map { $0.key }.sorted()
    }

    /// What is committed in a topic.
    private func records(of topic: String) throws -> [(key: String, value: [UInt8])] {
        let reader = try TopicReader(kafka, topic: topic, start: .beginning, stop: .end, timeout: farDeadline)
        defer { reader.close() }
        var records: [(key: String, value: [UInt8])] = []
        let areRead = eventually {
            var result = ReadResult.record
            while result == .record {
                result = reader.read(timeout: .milliseconds(100)) { record in
                    guard let key = record.key, let value = record.value else { return }
                    let id = key.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
                    records.append((key: id, value: value.withUnsafeBufferPointer { Array($0) }))
                }
            }
            return reader.hasReachedEnd
        }
        try #require(areRead)
        return records
    }
}

/// The worker of a stage, by its probes.
struct RealWorker {
    let probes: Int

    /// What a probe says.
    func probe(_ path: String) throws -> String {
        let client = try RawClient(port: probes)
        client.send(request("GET", path))
        return String(decoding: client.answer().body, as: UTF8.self)
    }

    /// The value of a series; 0 for one that is not there.
    func metric(_ series: String) throws -> Double {
        let line = try probe("/metrics").split(separator: "\n").first { $0.hasPrefix(series + " ") }
        return line.flatMap { Double($0.dropFirst(series.utf8.count + 1)) } ?? 0
    }
}

/// One of the gateways of a stage.
final class RealGateway {
    /// Where `/api` is served.
    let port: Int
    private let probes: Int
    private let process: PushfanProcess

    /// Starts it, and waits until it serves.
    init(_ environment: [String: String]) throws {
        let process = try PushfanProcess("gateway", environment)
        probes = try process.port(where: "probes and metrics are served")
        port = try process.port(where: "apps are served")
        self.process = process
    }

    /// Kills it; a second time does nothing.
    func kill() { process.kill() }

    /// Sends a text to a user's iPhones, and gives the connection on which the answer comes.
    func begin(_ text: String, to user: String) throws -> RawClient {
        let client = try RawClient(port: port)
        let fields = [basic("sender", "sender"), "Content-Type: application/json"]
        client.send(request("POST", "/api/notifications?pns=apns&to_tag=\(user)", fields, body: "\"\(text)\""))
        return client
    }

    /// Asks what operators ask.
    func probe(_ path: String) throws -> (status: Int, text: String) {
        let client = try RawClient(port: probes)
        client.send(request("GET", path))
        let answer = client.answer()
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    /// The value of a series; 0 for one that is not there.
    func metric(_ series: String) throws -> Int {
        let line = try probe("/metrics").text.split(separator: "\n").first { $0.hasPrefix(series + " ") }
        return line.flatMap { Int($0.dropFirst(series.utf8.count + 1)) } ?? 0
    }

    /// Waits until Kafka has confirmed so many requests.
    func waitUntilWritten(_ count: Int) throws {
        let areWritten = try eventually { try metric(#"pushfan_gateway_ack_seconds_count{outcome="persisted"}"#) == count }
        try #require(areWritten)
    }
}
