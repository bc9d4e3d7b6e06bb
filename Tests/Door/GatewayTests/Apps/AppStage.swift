@testable import GatewayAPI
import CurlHTTP
import Delivery
import Foundation
import HTTPServing
import HubAuth
import HubEmulator
import HubREST
import Kafka
import Observability
import Outcomes
import Synchronization
import TestSupport
import Testing
import WorkerRuntime

@testable import Gateway
import HubServer

/// What stands behind the tutorials' apps: a broker, an emulated hub, a worker and two gateways, one of which follows outcomes.
///
/// One for all tests, because a worker needs some seconds to join its group; it lives as long as the process. So every test has users,
/// devices and categories of its own, and scripts nothing that could meet those of another one.
final class AppStage: Sendable {
    /// The one stage, or why there is none.
    static let shared: Result<AppStage, any Error> = Result { try AppStage() }
    /// One with a hub, a broker and gateways of its own, as production is beside Apple's sandbox. Its hub may refuse a worker's calls.
    static let other: Result<AppStage, any Error> = Result { try AppStage() }

    let hub: EmulatedHub
    /// Where `/api` is served; a send is answered as soon as the hub has taken it.
    let port: Int
    /// Where `/api` is served, and a send is answered when its outcome is known.
    let trackingPort: Int
    /// Where the hub is.
    let hubPort: Int

    /// What apps may have: registering devices.
    static let listenPolicy = HubPolicy(
        name: "DefaultListenSharedAccessSignature", key: "bGlzdGVuLWtleS1vZi10aGUtdHV0b3JpYWxzLWFwcHM=", rights: .listen)
    /// What somebody has who sends news to the hub directly.
    static let sendPolicy = HubPolicy(name: "sender", key: "c2VuZC1rZXktb2YtdGhlLW5ld3MtZGVzay1hbG9uZSE=", rights: .send)
    private static let gatewayPolicy = HubPolicy(
        name: "gateway", key: "Z2F0ZXdheS1rZXktd2l0aC1saXN0ZW4tYW5kLXNlbmQ=", rights: [.listen, .send])

    let topics: Topics

    private let kafka: KafkaConfiguration
    private let cluster: Mutex<MockCluster>
    private let worker: Worker
    private let services: [GatewayService]
    private let producer: Producer
    private let requests: Producer.Topic
    private let numbers = Atomic<Int>(0)

    private init() throws {
        let topics = Topics(requests: "apps.requests")
        let cluster = Mutex(try MockCluster())
        for topic in topics.all {
            let count = topics.partitionCount(of: topic, requests: 2)
            try cluster.withLock { try $0.createTopic(topic, partitions: count) }
        }
        let kafka = cluster.withLock { $0.configuration }
        var emulator = HubEmulatorConfiguration()
        emulator.listen = "127.0.0.1:0"
        emulator.policies = [Self.gatewayPolicy, Self.listenPolicy, Self.sendPolicy]
        let hub = try EmulatedHub(emulator)
        let hubPort = try hub.start().port
        worker = try Self.worker(kafka, topics, hub: hubPort)
        var configuration = try Self.gateway(kafka, topics, hub: hub)
        let plain = try Self.service(configuration)
        configuration.tracksOutcome = true
        let tracking = try Self.service(configuration)
        port = try plain.start().port
        trackingPort = try tracking.start().port
        producer = try Producer(kafka, transactionalID: nil)
        requests = try #require(try producer.warmUp(topics: [topics.requests], timeout: farDeadline).first)
        services = [plain, tracking]
        self.topics = topics
        self.kafka = kafka
        self.cluster = cluster
        self.hub = hub
        self.hubPort = hubPort
        Thread.detachNewThread { [worker] in
            // One that cannot go on shows as sends without an answer.
            _ = try? worker.run()
        }
        try waitUntilReady()
    }

    /// Waits until a send to nobody's devices is answered 200 at both gateways: worker and results are there then.
    private func waitUntilReady() throws {
        for port in [port, trackingPort] {
            let session = AppSession(port: port)
            let field = basic("nobody", "nobody")
            let isReady = try eventually { try session.call("POST", "/api/notifications", [field]).status == 200 }
            try #require(isReady)
        }
    }

    // MARK: The parts

    /// A worker whose hub, which has `sendPolicy`, is at a port of this machine.
    private static func worker(
        _ kafka: KafkaConfiguration, _ topics: Topics, hub port: Int
    ) throws -> Worker {
        let key = "SharedAccessKeyName=\(sendPolicy.name);SharedAccessKey=\(sendPolicy.key)"
        let connection = try ConnectionString(parsing: "Endpoint=http://127.0.0.1:\(port)/;\(key)")
        let hub = HubConfiguration(endpoint: connection.endpoint, hub: try HubName("demo"), credential: connection.credential)
        var connections = ConnectionPoolConfiguration(scheme: .http, host: "127.0.0.1", port: UInt16(clamping: port))
        connections.proxy = ""
        var configuration = WorkerConfiguration(
            workerID: "apps", version: "test", kafka: kafka, hub: hub, connections: connections)
        configuration.groupID = "apps"
        configuration.topics = topics
        configuration.guarantee = .atLeastOnce
        configuration.start = .beginning
        configuration.sessionTimeout = .seconds(8)
        configuration.retry.base = 30
        // Soon: the emulator tells at once what became of a notification.
        configuration.outcomes.firstWait = 100
        configuration.outcomes.interval = 1000
        configuration.outcomes.deadline = 1000
        configuration.outcomes.visibilityLimit = 1000
        let metrics = PushfanMetrics(build: BuildFacts(version: "test", swift: "")) { ProcessReadings() }
        return try Worker(configuration, services: WorkerServices(metrics: metrics, log: .silent, health: Health()))
    }

    private static func gateway(
        _ kafka: KafkaConfiguration, _ topics: Topics, hub: EmulatedHub
    ) throws -> GatewayConfiguration {
        var configuration = try TestGateway.configuration(nil, demo: true, hub: hub.connectionString)
        configuration.kafka = kafka
        configuration.topics = topics
        configuration.sendWait = farDeadline
        return configuration
    }

    private static func service(_ configuration: GatewayConfiguration) throws -> GatewayService {
        let metrics = GatewayMetrics(build: BuildFacts(version: "test", swift: "")) { ProcessReadings() }
        return try GatewayService(configuration, services: GatewayServices(metrics: metrics, log: .silent, health: Health()))
    }

    /// Starts one more gateway, and waits until it is ready; whoever starts it stops it.
    func startGateway(_ change: (inout GatewayConfiguration) -> Void) throws -> FurtherGateway {
        var configuration = try Self.gateway(kafka, topics, hub: hub)
        change(&configuration)
        let gateway = try FurtherGateway(configuration)
        let isReady = eventually { gateway.services.readiness.isEmpty }
        try #require(isReady, "\(gateway.services.readiness)")
        return gateway
    }

    // MARK: What tests have of their own

    /// A word that no other test has: the name of a user, or a category.
    func word(_ stem: String) -> String { "\(stem)-\(numbers.wrappingAdd(1, ordering: .relaxed).newValue)" }

    /// A token that no other device has; Apple promises no length.
    func token(byteCount: Int = 32) -> [UInt8] {
        let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue
        return (0..<byteCount).map { place in UInt8(truncatingIfNeeded: (place + 1) &* 37 ^ (number >> (place % 4 * 8))) }
    }

    /// A channel that no other device has, as Windows gives it to an app.
    func channel() -> String { "https://db5.notify.windows.com/?token=\(word("channel"))" }

    /// A new phone of a user, signed in.
    func phone(of user: String) throws -> IOSApp {
        let app = IOSApp(port, token: token())
        try app.logIn(user, user)
        return app
    }

    /// A new Android device of a user, signed in; its app calls its platform by the word.
    func android(of user: String, word: String = "gcm") throws -> AndroidApp {
        let app = AndroidApp(port, handle: "\(self.word("f")):APA91b_-", word: word)
        try app.logIn(user, user)
        return app
    }

    /// A new Windows device of a user, signed in.
    func windows(of user: String) throws -> WindowsApp {
        let app = WindowsApp(port, channel: channel())
        try app.logIn(user, user)
        return app
    }

    // MARK: What is published and what rang

    /// Publishes a request, as `pushfan enqueue` or any Kafka client does.
    func publish(_ json: String) throws {
        let value = Array(json.utf8)
        try producer.produce(to: requests, key: nil, value: value.span)
        try producer.flush(timeout: farDeadline)
    }

    /// The device with a handle, if the hub has met it.
    func device(_ handle: String) -> DeviceReport? { hub.devices(handle: handle).first }

    /// What rang on the device with a handle, in order.
    func rung(_ handle: String) -> [RingReport] { device(handle)?.rung ?? [] }

    /// How often something rang on the device with a handle.
    func rungCount(_ handle: String) -> Int { rung(handle).count }

    /// The keys and values of all records that a topic has now.
    func text(of topic: String) throws -> String {
        let reader = try TopicReader(kafka, topic: topic, start: .beginning, stop: .end, timeout: farDeadline)
        defer { reader.close() }
        var text = ""
        let isRead = eventually {
            _ = reader.read(timeout: .milliseconds(100)) { record in
                if let key = record.key { text += key.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }
                if let value = record.value { text += value.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }
                text += "\n"
            }
            return reader.hasReachedEnd
        }
        try #require(isRead)
        return text
    }

    /// The sends to a tag expression that the hub has accepted; what they reach has rung.
    func sends(to tags: String) -> [RecordedCall] {
        hub.calls().filter { $0.tags == tags && $0.method == "POST" && $0.isAccepted }
    }
}

/// A gateway that a test has for itself, with what it logs and counts.
final class FurtherGateway {
    let services = TestServices()
    let port: Int
    private let service: GatewayService

    /// Starts it.
    init(_ configuration: GatewayConfiguration) throws {
        service = try GatewayService(configuration, services: services.services)
        port = try service.start().port
    }

    /// Ends it.
    func stop() { service.stop(within: .zero) }
}

extension RingReport {
    /// The text that an iPhone shows.
    var alert: String? { (member("aps") as? [String: Any])?["alert"] as? String }

    /// A member of the data that an Android app gets.
    func data(_ name: String) -> String? {
        ((member("message") as? [String: Any])?["data"] as? [String: Any])?[name] as? String
    }

    private func member(_ name: String) -> Any? {
        (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])?[name]
    }
}
