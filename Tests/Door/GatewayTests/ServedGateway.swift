@testable import DeviceHubs
@testable import PublishAPI
@testable import GatewayAPI
@testable import AppAPI
import Delivery
import EventLoop
import Foundation
import HTTPServing
import HubEmulator
import HubREST
import Kafka
import Keys
import Publishing
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// A gateway with all its routes, its hub, and brokers inside the process. Sends wait for ever unless a test says something else.
final class ServedGateway {
    let hub: EmulatedHub
    /// Nil for brokers that are away.
    let cluster: MockCluster?
    let services: TestServices
    let service: GatewayService
    let configuration: GatewayConfiguration
    let port: Int

    /// Starts it, and waits until it is ready for what it has. `connections` is the number for the shares of held answers.
    init(
        hasKafka: Bool = true, runsByItself: Bool = false, connections: Int? = nil,
        _ change: (inout GatewayConfiguration) -> Void = { _ in },
        checkBatch: @escaping BatchCheck = { _, _ in .allowed }, checkKey: @escaping KeyCheck = ServedGateway.checkKey
    ) throws {
        services = TestServices(runsByItself: runsByItself)
        var emulator = HubEmulatorConfiguration()
        emulator.listen = "127.0.0.1:0"
        let hub = try EmulatedHub(emulator)
        _ = try hub.start()
        var configuration = try TestGateway.configuration(nil, demo: true, hub: hub.connectionString)
        let cluster = try hasKafka ? MockCluster() : nil
        if let cluster {
            // One partition, so that a test meets requests in their order.
            for topic in configuration.requestTopics.all { try cluster.createTopic(topic, partitions: 1) }
            try cluster.createTopic(configuration.topics.results, partitions: 2)
            try cluster.createTopic(configuration.topics.secure, partitions: 2)
            try cluster.createTopic(configuration.topics.control, partitions: 1)
            configuration.kafka = cluster.configuration
        } else {
            // Brokers that are away take no record, however long it is tried.
            configuration.kafka.properties.append(.init(key: "message.timeout.ms", value: "1000"))
        }
        configuration.sendWait = farDeadline
        change(&configuration)
        self.hub = hub
        self.cluster = cluster
        self.configuration = configuration
        if let connections {
            service = try GatewayService(
                configuration, services: services.services, checkKey: checkKey, checkBatch: checkBatch
            ) { [configuration, services] (hubs, users) throws(GatewayFailure) in
                try APIEndpoints(
                    configuration, hubs: hubs, users: users, held: HeldAnswers(connections: connections),
                    services: services.services)
            }
        } else {
            service = try GatewayService(configuration, services: services.services, checkKey: checkKey, checkBatch: checkBatch)
        }
        port = try service.start().port
        #expect(eventually { !services.readiness.contains("failing hub") })
        if hasKafka { #expect(eventually { services.readiness.isEmpty }) }
    }

    /// A key that may publish everything of the tenant `shop`.
    static let key = "pf_canary00_CANARYkey0123456789abcdefghijklmnopqrstuvwx"

    /// A new key for the old one's place, which may publish to users.
    static let newKey = "pf_canary01_CANARYkey0123456789abcdefghijklmnopqrstuvwx"

    static let checkKey: KeyCheck = { authorization, _ in
        func publisher(_ id: String, _ scopes: Set<Scope>) -> Publisher {
            Publisher(keyID: id, tenant: "shop", source: "/shop", scopes: scopes)
        }
        return switch authorization {
        case "Bearer \(key)": .signedIn(publisher("canary00", Set(Scope.allCases)))
        case "Bearer \(newKey)": .signedIn(publisher("canary01", [.publish]))
        default: .refused
        }
    }

    /// Ends all of it; what a gateway is asked after that is refused.
    func stop() {
        service.stop(within: .zero)
        hub.stop(within: .zero)
        cluster?.close()
    }

    /// Sends a request of somebody, and gives the connection on which its answer comes.
    func begin(_ method: String, _ path: String, as user: String, body: String = "") throws -> RawClient {
        let client = try RawClient(port: port)
        let fields = [basic(user, user)] + (body.isEmpty ? [] : ["Content-Type: application/json"])
        client.send(request(method, path, fields, body: body))
        return client
    }

    /// Sends a request of somebody, and waits for its answer.
    func ask(
        _ method: String, _ path: String, as user: String, body: String = ""
    ) throws -> (status: Int, head: String, text: String) {
        let answer = try begin(method, path, as: user, body: body).answer()
        return (answer.status, answer.head, String(decoding: answer.body, as: UTF8.self))
    }

    /// The number of the hub's last call.
    var lastCall: Int { hub.calls().last?.id ?? 0 }

    /// The names of the hub's calls since one of them, in order.
    func calls(after id: Int) -> [String] { hub.calls(after: id).map { "\($0.operation)" } }

    /// The handles of the devices that have a user's tag.
    func handles(of user: String) -> [String] { hub.devices(tag: "username:\(user)").map(\.handle).sorted() }
}

/// What producers have reported.
final class Reports: Sendable {
    private let reports = Mutex<[Producer.Delivery]>([])

    func add(_ delivery: Producer.Delivery) { reports.withLock { $0.append(delivery) } }

    /// How many records are written.
    var persistedCount: Int {
        reports.withLock { reports -> Int in
            reports.count { if case .persisted = $0 { true } else { false } }
        }
    }
}

/// Reads requests as a worker does, and writes the results that a test tells it.
final class ScriptedWorker {
    private let reader: TopicReader
    private let producer: Producer
    private let results: Producer.Topic

    init(_ gateway: ServedGateway) throws {
        let cluster = try #require(gateway.cluster)
        reader = try TopicReader(
            cluster.configuration, topic: gateway.configuration.topics.requests, start: .beginning, timeout: farDeadline)
        producer = try Producer(KafkaConfiguration(bootstrapServers: cluster.bootstrapServers), transactionalID: nil)
        results = try #require(
            try producer.warmUp(topics: [gateway.configuration.topics.results], timeout: farDeadline).first)
    }

    deinit {
        reader.close()
        producer.close(timeout: .zero)
    }

    /// The next request: its record's key, which is its id, and its JSON.
    func next() throws -> (id: String, json: String) {
        var found: (id: String, json: String)?
        let hasCome = eventually {
            _ = reader.read(timeout: .milliseconds(100)) { record in
                guard let key = record.key, let value = record.value else { return }
                let id = key.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
                found = (id, value.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) })
            }
            return found != nil
        }
        try #require(hasCome)
        return try #require(found)
    }

    /// Writes a result, of a send unless it names a source.
    ///
    /// - Parameters:
    ///   - members: The members behind `request_id`.
    ///   - id: The request's id.
    ///   - headers: The headers of its record.
    /// - Throws: `KafkaError`.
    func write(_ members: String, of id: String, headers: HeadersOfResult = .absent) throws {
        let source = members.contains(#""source":"#) ? "" : #","source":"/pushfan/gateway""#
        let json = #"{"schema_version":1,"request_id":"\#(id)",\#(members)\#(source)}"#
        var list = HeaderList()
        for header in headers.list(of: id) { list.append(header.name, value: header.value) }
        try producer.produce(to: results, key: Array(id.utf8).span, value: Array(json.utf8).span, headers: list)
        try producer.flush(timeout: farDeadline)
    }
}
