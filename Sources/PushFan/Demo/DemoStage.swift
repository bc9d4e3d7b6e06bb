import CurlHTTP
import Delivery
import Foundation
import HTTPServing
import HubAuth
import HubEmulator
import HubREST
import Kafka
import Observability
import WorkerRuntime

/// The demo's parts: the embedded broker, the emulated hub with devices, a worker on a thread of its own, and a gateway.
final class DemoStage {
    /// What an app may have of the hub's keys: it registers devices, and opens this demo's hub alone.
    static let listenPolicy = HubEmulatorPolicy(
        name: "DefaultListenSharedAccessSignature", key: "ZGVtby1saXN0ZW4ta2V5LW5vLXNlY3JldC1hdC1hbGw=", rights: .listen)
    /// The policy of one who sends through the hub itself.
    static let sendPolicy = HubEmulatorConfiguration.defaultPolicy

    let cluster: MockCluster
    let hub: EmulatedHub
    let producer: Producer
    let requests: Producer.Topic
    let results: TopicReader
    let topics = WorkerConfiguration.Topics()
    let gateway: DemoGateway
    private let worker: Worker
    private let workerEnded = DispatchSemaphore(value: 0)
    private let health: Health
    private let status: @Sendable () -> [UInt8]
    private let metrics: PushfanMetrics
    private var probes: ProbeServer?

    init() throws {
        cluster = try MockCluster()
        for topic in topics.all {
            try cluster.createTopic(topic, partitions: topics.partitionCount(of: topic, requests: 4))
        }
        var emulator = HubEmulatorConfiguration()
        emulator.listen = "127.0.0.1:0"
        emulator.policies.append(Self.listenPolicy)
        emulator.faults = [try Fault(parsing: "status=429,retry-after=1,count=1,tags=username:carol")]
        hub = try EmulatedHub(emulator)
        _ = try hub.start()
        for device in DemoDevice.all { try hub.register(device.emulated) }
        let kafka = cluster.configuration
        let connection = try ConnectionString(parsing: hub.connectionString)
        let hubConfiguration = HubConfiguration(
            endpoint: connection.endpoint, hub: try HubName("demo"), credential: connection.credential)
        let connections = ConnectionPoolConfiguration(
            scheme: .http, host: connection.endpoint.host, port: UInt16(clamping: connection.endpoint.effectivePort))
        let configuration = Self.workerConfiguration(kafka, hubConfiguration, connections, topics)
        metrics = PushfanMetrics(
            build: BuildFacts(version: configuration.version, commit: "", swift: ""), process: ProcessFigures.read)
        health = Health()
        let services = WorkerServices(metrics: metrics, log: .silent, health: health)
        let (version, hubName) = (configuration.version, configuration.hubName)
        status = { [board = services.status] in board.json(version: version, hub: hubName) }
        worker = try Worker(configuration, services: services)
        let thread = Thread { [worker, workerEnded] in
            // A worker that cannot go on shows as a result that never comes; the play has a deadline.
            try? worker.run()
            workerEnded.signal()
        }
        thread.start()
        gateway = try DemoGateway(kafka, hubConfiguration, connections, topics)
        producer = try Producer(kafka, transactionalID: nil)
        requests = try producer.warmUp(topics: [topics.requests], timeout: .seconds(10))[0]
        results = try TopicReader(kafka, topic: topics.results, start: .beginning, timeout: .seconds(10))
    }

    /// The emulator's own pages.
    var emulatorURL: String { "http://\(hub.address.map(\.description) ?? "")" }

    func serveProbes() throws -> HTTPServer.Address {
        let server = ProbeServer(listen: "127.0.0.1:0", health: health, metrics: metrics.registry, status: status)
        probes = server
        return try server.start()
    }

    func close() {
        gateway.stop()
        probes?.stop()
        worker.stop()
        _ = workerEnded.wait(timeout: .now() + .seconds(5))
        results.close()
        producer.close(timeout: .seconds(1))
        hub.stop()
        cluster.close()
    }

    private static func workerConfiguration(
        _ kafka: KafkaConfiguration, _ hub: HubConfiguration, _ connections: ConnectionPoolConfiguration,
        _ topics: WorkerConfiguration.Topics
    ) -> WorkerConfiguration {
        var configuration = WorkerConfiguration(
            workerID: "demo", version: "demo", kafka: kafka, hub: hub, connections: connections)
        configuration.topics = topics
        configuration.guarantee = .atLeastOnce
        configuration.start = .beginning
        configuration.sessionTimeout = .seconds(6)
        // The emulator tells at once what became of a notification.
        configuration.outcomes.firstWait = 500
        return configuration
    }
}

/// A device of the demo, with the name that a person would give it.
struct DemoDevice {
    let name: String
    let emulated: EmulatedDevice

    init(
        _ name: String, _ platform: String, _ handle: String, tags: [String], templates: [String: String] = [:]
    ) {
        self.name = name
        emulated = EmulatedDevice(id: name, platform: platform, handle: handle, tags: tags, templates: templates)
    }

    static let all: [DemoDevice] = [
        DemoDevice("alice-phone", "apns", String(repeating: "A1", count: 32), tags: ["username:alice"]),
        DemoDevice("alice-laptop", "wns", "https://wns2.notify.windows.com/?token=alice", tags: ["username:alice"]),
        DemoDevice("bob-phone", "fcmV1", "bob-registration-token", tags: ["username:bob", "World"]),
        DemoDevice("carol-phone", "apns", String(repeating: "C3", count: 32), tags: ["username:carol"]),
        DemoDevice(
            "dora-phone", "apns", String(repeating: "D4", count: 32), tags: ["World"],
            templates: ["news": #"{"aps":{"alert":"$(headline)"}}"#]),
        DemoDevice(
            "eve-tablet", "fcmV1", "eve-registration-token", tags: ["Sports"],
            templates: ["news": #"{"message":{"notification":{"title":"News","body":"$(headline)"}}}"#]),
    ]

    /// Devices whose apps register them through the gateway.
    static let apps: [DemoDevice] = [
        DemoDevice("fay-phone", "apns", String(repeating: "F4", count: 32), tags: []),
        DemoDevice("fay-laptop", "wns", "https://wns2.notify.windows.com/?token=fay", tags: []),
        DemoDevice("gus-phone", "fcm", "gus-registration-token", tags: []),
    ]

    /// Devices whose apps register templates at the hub, with their categories.
    static let subscribers: [DemoDevice] = [
        DemoDevice("hal-phone", "apns", String(repeating: "8A", count: 32), tags: ["Politics", "Science"]),
        DemoDevice("ivy-phone", "apns", String(repeating: "1F", count: 32), tags: ["Science"]),
    ]

    /// Whose it is.
    var user: String { String(name.prefix { $0 != "-" }) }

    /// The name of the device with `handle`.
    static func name(of handle: String) -> String {
        (all + apps + subscribers).first { $0.emulated.handle == handle }?.name ?? "a device"
    }
}
