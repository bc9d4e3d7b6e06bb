import Dispatch
import Foundation
import HTTPServing
import HubEmulator
import Kafka
import Synchronization
import TestSupport
import Testing
import WorkerRuntime

@testable import Gateway

/// Topics of their own on a real broker, an emulated hub, and the gateways and the worker that a test starts there.
final class RealStage {
    /// The broker's address, if there is one.
    static let brokers = ProcessInfo.processInfo.environment["PUSHFAN_TEST_KAFKA"]

    let hub: EmulatedHub
    private let hubPort: Int
    private let name: String
    private let kafka: KafkaConfiguration
    private let topics: WorkerConfiguration.Topics
    private var gateways: [RealGateway] = []
    private var worker: RealWorker?

    /// Makes the topics and starts the hub.
    init() throws {
        let name = "gateway-tests-\(UUID().uuidString)"
        let topics = WorkerConfiguration.Topics(requests: "\(name).requests")
        let kafka = KafkaConfiguration(bootstrapServers: RealStage.brokers ?? "")
        try RealStage.create(topics, on: kafka)
        var emulator = HubEmulatorConfiguration()
        emulator.listen = "127.0.0.1:0"
        emulator.policies = [HubEmulatorConfiguration.defaultPolicy, AppStage.sendPolicy]
        let hub = try EmulatedHub(emulator)
        hubPort = try hub.start().port
        self.hub = hub
        self.name = name
        self.kafka = kafka
        self.topics = topics
    }

    /// Makes topics, and waits until the broker knows them: a controller confirms them before.
    private static func create(_ topics: WorkerConfiguration.Topics, on kafka: KafkaConfiguration) throws {
        let admin = try TopicAdmin(kafka)
        let wanted = topics.all.map { topic in
            NewTopic(name: topic, partitionCount: topics.partitionCount(of: topic, requests: 4), replicationFactor: 1)
        }
        _ = try admin.createTopics(wanted, timeout: farDeadline)
        let areKnown = try eventually {
            try admin.describe(topics: topics.all, timeout: farDeadline).topics.allSatisfy { $0 != .missing }
        }
        try #require(areKnown)
    }

    /// Ends all that was started.
    func stop() {
        for gateway in gateways { gateway.stop() }
        #expect(throws: Never.self) { try self.stopWorker() }
        hub.stop(within: .zero)
    }

    /// Starts one more gateway, and waits until it is ready. Its sends wait for ever.
    func startGateway() throws -> RealGateway {
        var configuration = try TestGateway.configuration(nil, demo: true, hub: hub.connectionString)
        configuration.kafka = kafka
        configuration.requestsTopic = topics.requests
        configuration.resultsTopic = topics.results
        configuration.sendWait = farDeadline
        let gateway = try RealGateway(configuration)
        gateways.append(gateway)
        let isReady = eventually { gateway.services.readiness.isEmpty }
        try #require(isReady, "\(gateway.services.readiness)")
        return gateway
    }

    /// Starts a worker, always under the same name, so that it takes over at once what the one before had.
    func startWorker() throws {
        worker = RealWorker(
            try AppStage.worker(kafka, topics, hub: hubPort) { configuration in
                configuration.groupID = name
                configuration.guarantee = .exactlyOnce
                // A machine that stands still for a while must not cost a worker its partitions.
                configuration.sessionTimeout = .seconds(45)
                configuration.drainTimeout = .seconds(1)
            })
    }

    /// Stops the worker, if there is one; calls that the hub does not answer are left to the next one after 1 s.
    ///
    /// - Throws: What it could not do.
    func stopWorker() throws {
        let stopping = worker
        worker = nil
        try stopping?.stop()
    }

    /// Registers a device of a user at the hub.
    func register(_ user: String) throws {
        let handle = user.utf8.map { String($0, radix: 16) }.joined().uppercased()
        try hub.register(EmulatedDevice(id: user, platform: "apns", handle: handle, tags: ["username:\(user)"]))
    }

    /// What the devices of a user have shown, in the order of the alphabet.
    func alerts(of user: String) -> [String] {
        hub.devices(tag: "username:\(user)").flatMap(\.rung).compactMap(\.alert).sorted()
    }
}

/// One of the gateways of a stage.
final class RealGateway {
    let services = TestServices()
    let port: Int
    private let service: GatewayService

    /// Starts it.
    init(_ configuration: GatewayConfiguration) throws {
        service = try GatewayService(configuration, services.services)
        port = try service.start().port
    }

    /// Ends it; those who wait are answered 503. A second time does nothing.
    func stop() { service.stop(within: .zero) }

    /// Sends a text to a user's iPhones, and gives the connection on which the answer comes.
    func begin(_ text: String, to user: String) throws -> RawClient {
        let client = try RawClient(port: port)
        let fields = [basic("sender", "sender"), "Content-Type: application/json"]
        client.send(request("POST", "/api/notifications?pns=apns&to_tag=\(user)", fields, body: "\"\(text)\""))
        return client
    }

    /// How many requests Kafka has confirmed.
    var writtenCount: Int {
        let series = #"pushfan_gateway_ack_seconds_count{outcome="persisted"} "#
        let line = services.metrics.split(separator: "\n").first { $0.hasPrefix(series) }
        return line.flatMap { Int($0.dropFirst(series.count)) } ?? 0
    }
}

/// A worker on a thread of its own.
final class RealWorker: Sendable {
    private let worker: Worker
    private let ended = DispatchSemaphore(value: 0)
    private let failure = Mutex<(any Error)?>(nil)

    init(_ worker: Worker) {
        self.worker = worker
        Thread.detachNewThread { [self] in
            do { try worker.run() } catch { failure.withLock { $0 = error } }
            ended.signal()
        }
    }

    /// Asks it to stop, and waits for its end; once.
    ///
    /// - Throws: What it could not do.
    func stop() throws {
        worker.stop()
        let hasEnded = ended.wait(timeout: .now() + .seconds(Int(farDeadline.components.seconds))) == .success
        try #require(hasEnded)
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
