import Delivery
import HubAuth
import HubEmulator
import HubServer
import JobSupport
import Kafka
import Keys
import WorkerRuntime

/// The demo's parts: the embedded broker, the emulated hub with devices, two workers, and a gateway.
final class DemoStage {
    /// The rights that an app may have of the hub's keys: it registers devices, and opens this demo's hub alone.
    static let listenPolicy = HubPolicy(
        name: "DefaultListenSharedAccessSignature", key: "ZGVtby1saXN0ZW4ta2V5LW5vLXNlY3JldC1hdC1hbGw=", rights: .listen)
    /// The policy of one who sends through the hub itself.
    static let sendPolicy = HubEmulatorConfiguration.defaultPolicy
    /// Calls a second that no worker here reaches. With a rate, workers hear of a rebalance within 250 ms instead of 3 s.
    private static let hubRate = 1_000_000

    private let parts: EmbeddedParts
    /// Is there once `addWorker` was called.
    private(set) var secondWorker: DemoProcess?
    /// The environment of pushfan's commands on this stage, also of those that are processes of their own.
    let environment: [String: String]
    private let producer: Producer
    private let requests: Producer.Topic
    private let results: TopicReader

    /// - Parameters:
    ///   - path: Where programs are.
    ///   - state: The file in which the hub keeps devices, or nil for a hub that forgets them.
    /// - Throws: What a part says that cannot start, or an error of the file.
    init(path: String?, state: String?) throws {
        parts = try EmbeddedParts(
            EmbeddedParts.Terms(
                name: "demo", policies: [Self.listenPolicy], devices: DemoDevice.all.map(\.emulated), state: state,
                newcomers: (DemoDevice.apps + DemoDevice.subscribers).map(\.emulated),
                gateway: DemoGateway.Terms(scopes: [.publish, .read, .payload, .replay, .operate]))
        ) {
            // Shorter than brokers allow, so that nobody waits long for the killed worker's partitions. A rebalance of this broker takes 3 s.
            $0.sessionTimeout = .milliseconds(4500)
            $0.hubs[0].rateLimit = Self.hubRate
        }
        let kafka = parts.cluster.configuration
        environment = Self.environment(kafka, connectionString: parts.hub.connectionString, path: path)
        producer = try Producer(kafka, transactionalID: nil)
        requests = try producer.warmUp(topics: [parts.topics.requests], timeout: .seconds(10))[0]
        results = try TopicReader(kafka, topic: parts.topics.results, start: .beginning, timeout: .seconds(10))
    }

    var cluster: MockCluster { parts.cluster }
    var hub: EmulatedHub { parts.hub }
    /// The devices with a registration.
    var deviceCount: Int { hub.devices().count { $0.registrationCount > 0 } }
    /// The devices that the hub's file had at the start. Nil without a file.
    var keptCount: Int? { parts.kept?.count }
    var worker: DemoWorker { parts.worker }
    var gateway: DemoGateway { parts.gateway }
    /// The emulator's own pages.
    var emulatorURL: String { parts.hubURL }

    /// Waits until worker and gateway are ready, so that no request waits for them.
    func waitUntilReady() throws { try parts.waitUntilReady() }

    /// Adds a worker that is a process of its own, and waits until it has partitions. It comes after the first one: the embedded
    /// broker takes the session's length from who joins last, which then is the first worker, as it joins again. Where two join
    /// an empty group at once, this broker now and then takes 13 s.
    func addWorker() throws -> DemoProcess {
        let added = try DemoProcess("worker", environment: environment)
        secondWorker = added
        try added.wait(until: #""event":"rebalanced""#)
        try worker.waitUntilReady()
        return added
    }

    /// Publishes requests, spread over the partitions. `number` chooses that of the first one.
    func publish(_ values: [String], from number: Int = 0) throws {
        for (index, value) in values.enumerated() {
            let bytes = Array(value.utf8)
            try producer.produce(
                to: requests, partition: Int32((number + index) % EmbeddedParts.partitionCount), key: nil, value: bytes.span)
        }
        try producer.flush(timeout: .seconds(30))
    }

    /// The next result, with the id of its request, or nil when none comes in time.
    func nextResult(within timeout: Duration = .milliseconds(20)) -> (id: String, value: [UInt8])? {
        var found: (id: String, value: [UInt8])?
        _ = results.read(timeout: timeout) { record in
            guard let key = record.key, let value = record.value else { return }
            found = (
                key.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }, value.withUnsafeBufferPointer { Array($0) }
            )
        }
        return found
    }

    /// Forgets the rings, so that later scenes do not search all of them.
    func forgetRings() throws {
        _ = try PlainRequest.call("DELETE", url: "\(emulatorURL)/devices/rung", timeout: .seconds(10))
    }

    func close() {
        secondWorker?.kill()
        results.close()
        producer.close(timeout: .seconds(1))
        parts.close()
    }

    /// Nothing of the user's gets in but where programs are: no proxy, and no settings.
    private static func environment(_ kafka: KafkaConfiguration, connectionString: String, path: String?) -> [String: String] {
        [
            "PATH": path ?? "/usr/bin:/bin", "USER": "demo",
            "PUSHFAN_KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrapServers,
            "PUSHFAN_KAFKA_PROPERTIES": kafka.properties.map { "\($0.key)=\($0.value)" }.joined(separator: ","),
            "PUSHFAN_KAFKA_DELIVERY_GUARANTEE": "at_least_once", "PUSHFAN_KAFKA_START": "beginning",
            "PUSHFAN_KAFKA_SESSION_TIMEOUT": "6s", "PUSHFAN_WORKER_ID": "demo-2", "PUSHFAN_LISTEN": "127.0.0.1:0",
            "PUSHFAN_LOG_FORMAT": "json", "PUSHFAN_HUB_NAME": "demo", "PUSHFAN_HUB_CONNECTION_STRING": connectionString,
            "PUSHFAN_HUB_RATE_LIMIT": "\(hubRate)",
        ]
    }
}
