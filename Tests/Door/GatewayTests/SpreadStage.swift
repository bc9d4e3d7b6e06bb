import DeviceHubs
import FanOut
import GatewayAPI
import HTTPServing
import HubEmulator
import HubREST
import Kafka
import Keys
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// A gateway whose users share two hubs, and brokers that are away.
final class SpreadStage {
    static let names = ["one", "two"]

    let hubs: [EmulatedHub]
    let services = TestServices()
    private let configuration: GatewayConfiguration
    private let service: GatewayService
    private let port: Int

    /// Starts it, and waits until it has heard of both. The spread of all users has the hubs of these numbers.
    init(sharing numbers: [Int] = [0, 1], hubs: [EmulatedHub]? = nil) throws {
        let hubs = try hubs ?? Self.names.map { _ in try Self.hub() }
        self.hubs = hubs
        var configuration = try TestGateway.configuration(nil, demo: true, hub: hubs[0].connectionString)
        configuration.otherHubs = [try TestGateway.configuration(nil, demo: true, hub: hubs[1].connectionString).first]
        (configuration.first.name, configuration.otherHubs[0].name) = (Self.names[0], Self.names[1])
        configuration.routes = HubRoutes(
            hubs: [("one", 0), ("two", 1)], spreads: [("all", numbers.map { Self.names[$0] })], defaultName: "all")
        configuration.kafka.properties.append(.init(key: "message.timeout.ms", value: "1000"))
        self.configuration = configuration
        service = try GatewayService(configuration, services: services.services)
        port = try service.start().port
        #expect(eventually { !services.readiness.contains("hub") })
    }

    private static func hub() throws -> EmulatedHub {
        var emulator = HubEmulatorConfiguration()
        emulator.listen = "127.0.0.1:0"
        let hub = try EmulatedHub(emulator)
        _ = try hub.start()
        return hub
    }

    /// A user whose devices are at the hub of a number, and another one for another `turn`.
    static func user(of hub: Int, turn: Int = 0) -> String {
        let spread = HubSpread(names)
        var found = (0..<100).map { "u\($0)" }.filter { spread.hub(of: Array($0.utf8).span) == hub }[...]
        found.removeFirst(turn)
        return found[found.startIndex]
    }

    /// Ends the gateway alone, and lets another one have its hubs.
    func stopGateway() { service.stop(within: .zero) }

    func stop() {
        stopGateway()
        for hub in hubs { hub.stop(within: .zero) }
    }

    /// Does work as a back end that knows an id alone, and gives what comes of it.
    func work<Made: Sendable>(on id: String, _ body: @escaping @Sendable (HubCaller) throws -> Made) throws -> Made {
        let hubs = try DeviceHubs(configuration, services: TestServices().services)
        hubs.start()
        defer { hubs.stop() }
        let made = Mutex<Result<Made, any Error>?>(nil)
        let party = DeviceParty.backEnd(Publisher(keyID: "k", tenant: nil, source: "/s", scopes: [.register]))
        let isPut = try hubs.home(of: nil, id: id, for: party).lanes.put(for: id) { caller in
            let result = Result { try body(caller) }
            made.withLock { $0 = result }
        }
        #expect(isPut && eventually { made.withLock { $0 != nil } })
        return try #require(made.withLock { $0 }).get()
    }

    /// Makes a call of `/api/register`, and gives its status.
    func register(_ method: String, _ id: String, as user: String, handle: String? = nil) throws -> Int {
        let client = try RawClient(port: port)
        let body = handle.map { #"{"Platform":"fcm","Handle":"\#($0)"}"# } ?? ""
        let fields = [basic(user, user)] + (body.isEmpty ? [] : ["Content-Type: application/json"])
        client.send(request(method, "/api/register/\(id)", fields, body: body))
        return client.answer().status
    }

    /// Makes a call of `/v1/installations`.
    func ask(_ method: String, _ path: String, as user: String, body: String = "") throws -> (status: Int, text: String) {
        let client = try RawClient(port: port)
        let type = body.hasPrefix("[") ? "application/json-patch+json" : "application/json"
        let fields = [basic(user, user)] + (body.isEmpty ? [] : ["Content-Type: \(type)"])
        client.send(request(method, "/v1/installations/\(path)", fields, body: body))
        let answer = client.answer()
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    /// The ids and handles of a user's devices at each hub.
    func devices(of user: String) -> [[String]] {
        hubs.map { hub in hub.devices(tag: "username:\(user)").map { "\($0.installations.joined()) \($0.handle)" }.sorted() }
    }
}
