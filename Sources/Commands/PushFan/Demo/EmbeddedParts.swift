import CurlHTTP
import Delivery
import HTTPServing
import HubAuth
import HubEmulator
import HubREST
import HubServer
import HubStore
import Kafka
import Outcomes
import WorkerRuntime

/// A broker, an emulated hub, a worker and a gateway in this process.
final class EmbeddedParts {
    /// The terms in which the demo and the sandbox differ.
    struct Terms {
        var name: String
        /// The hub's policies beside the one with all rights.
        var policies: [HubPolicy] = []
        var devices: [EmulatedDevice] = []
        /// The file in which the hub keeps devices, or nil for a hub that forgets them.
        var state: String?
        /// Devices that register in the course of things, and are not there before.
        var newcomers: [EmulatedDevice] = []
        /// True if no other worker comes, so that the one here need not wait for a group.
        var isAlone = false
        var gateway: DemoGateway.Terms
    }

    /// Partitions of the topic of requests.
    static let partitionCount = 4

    let cluster: MockCluster
    let hub: EmulatedHub
    /// The file of the hub's devices, if there is one, and how many devices it had.
    let kept: (file: HubFile, count: Int)?
    let worker: DemoWorker
    let gateway: DemoGateway
    let topics = Topics()

    /// Starts them, the hub on a free port. `change` is for the worker's configuration.
    init(_ terms: Terms, change: (inout WorkerConfiguration) -> Void = { _ in }) throws {
        cluster = try MockCluster()
        for topic in topics.all { try cluster.createTopic(topic, partitions: Self.count(of: topic, in: topics)) }
        var emulator = HubEmulatorConfiguration()
        emulator.listen = "127.0.0.1:0"
        emulator.policies += terms.policies
        let file = try terms.state.map { path in try HubFile(HubFileTerms(path: path)) }
        hub = try EmulatedHub(emulator, devices: file.map { FileDevices($0) } ?? MemoryDevices())
        kept = file.map { [hub] file in (file, hub.devices().count) }
        _ = try hub.start()
        try hub.forget(terms.newcomers)
        for device in terms.devices { try hub.register(device) }
        let connection = try ConnectionString(parsing: hub.connectionString)
        var configuration = WorkerConfiguration(
            workerID: "\(terms.name)-1", version: terms.name, kafka: cluster.configuration,
            hub: HubConfiguration(
                endpoint: connection.endpoint, hub: try HubName("demo"), credential: connection.credential),
            connections: ConnectionPoolConfiguration(
                scheme: .http, host: connection.endpoint.host, port: UInt16(clamping: connection.endpoint.effectivePort)))
        configuration.topics = topics
        configuration.guarantee = .atLeastOnce
        configuration.start = .beginning
        // The emulator reports the outcome of a notification at once.
        configuration.outcomes.firstWait = 100
        if terms.isAlone { configuration.fixedPartitions = Self.partitions(of: topics) }
        change(&configuration)
        // The one that may not start, as its port may be taken, while no threads of the other run.
        gateway = try DemoGateway(terms.gateway, beside: configuration)
        worker = try DemoWorker(configuration)
    }

    /// The emulator's own pages.
    var hubURL: String { "http://\(hub.address.map(\.description) ?? "")" }

    /// Waits until worker and gateway are ready, so that no request waits for them.
    func waitUntilReady() throws {
        try worker.waitUntilReady()
        try gateway.waitUntilReady()
    }

    func close() {
        gateway.stop()
        worker.stop()
        hub.stop()
        kept?.file.close()
        cluster.close()
    }

    private static func count(of topic: String, in topics: Topics) -> Int {
        topics.partitionCount(of: topic, requests: partitionCount)
    }

    /// All that the workers of a group share.
    private static func partitions(of topics: Topics) -> [TopicPartition] {
        topics.shared.flatMap { topic in
            (0..<Int32(count(of: topic, in: topics))).map { TopicPartition(topic: topic, partition: $0) }
        }
    }
}
