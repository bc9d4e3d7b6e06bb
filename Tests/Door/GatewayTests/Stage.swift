@testable import PublishAPI
@testable import GatewayAPI
@testable import AppAPI
import Basics
import Crypto
import CurlHTTP
import EventLoop
import Foundation
import HTTPServing
import HubAuth
import HubREST
import Kafka
import Observability
import Synchronization
import TestSupport
import Testing
import Users

@testable import Gateway

/// A clock that moves when it is told to.
final class TestClock: Sendable {
    private let time = Mutex(MonotonicTime(nanoseconds: 1_000_000_000))

    var now: MonotonicTime { time.withLock { $0 } }

    func advance(seconds: Int64) {
        time.withLock { $0 = $0.advanced(byNanoseconds: seconds * 1_000_000_000) }
    }
}

/// What a log has written.
final class LogLines: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    func add(_ line: [UInt8]) { bytes.withLock { $0 += line } }

    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
}

/// Services whose log is remembered.
struct TestServices {
    let services: GatewayServices
    let clock: TestClock
    let log: LogLines

    /// By a clock that is moved by hand, or the one that runs.
    init(runsByItself: Bool = false) {
        let (clock, log) = (TestClock(), LogLines())
        let metrics = GatewayMetrics(build: BuildFacts(version: "1", swift: "6")) { ProcessReadings() }
        var services = GatewayServices(
            metrics: metrics, log: Log(format: .json, level: .debug, now: { 0 }, sink: { log.add($0) }), health: Health())
        if !runsByItself { services.now = { clock.now } }
        self.services = services
        self.clock = clock
        self.log = log
    }

    /// All metrics, as they are scraped.
    var metrics: String {
        var bytes: [UInt8] = []
        services.metrics.registry.write(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Why the gateway is not ready, a line for each reason.
    var readiness: String {
        let report = services.health.report(.ready, now: 0)
        return report.passes ? "" : String(decoding: report.body(verbose: false), as: UTF8.self)
    }
}

/// A users file that is gone when nobody holds it any more. Its hashes cost next to nothing.
final class UsersOnDisk: Sendable {
    let path = NSTemporaryDirectory() + "pushfan-gateway-users-\(UUID().uuidString)"

    init(_ users: [(name: String, password: String)]) throws { try put(users) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Puts another file in its place.
    func put(_ users: [(name: String, password: String)]) throws {
        let cheap = try #require(PasswordHash.Parameters(ln: 4, r: 1, p: 1))
        var file = UsersFile()
        for user in users { try file.set(user.name, hash: PasswordHash(of: Array(user.password.utf8), parameters: cheap)) }
        try Data(file.bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}

/// A gateway on a free port; ends with whoever holds it.
final class TestGateway {
    /// Nothing listens there.
    static let hubThatIsAway = "Endpoint=http://127.0.0.1:1/;SharedAccessKeyName=n;SharedAccessKey=key"

    let services: TestServices
    let service: GatewayService
    let port: Int

    /// Starts it.
    init(
        users: UsersOnDisk? = nil, demo: Bool = false, hub: String = TestGateway.hubThatIsAway, proxies: [String] = [],
        checkKey: @escaping KeyCheck = { _, _ in .refused }, checkToken: TokenCheck? = nil,
        endpoints: any Endpoints = NamingEndpoints(), change: (inout GatewayConfiguration) -> Void = { _ in }
    ) throws {
        let services = TestServices()
        var configuration = try TestGateway.configuration(users, demo: demo, hub: hub)
        configuration.trustedProxies = proxies
        change(&configuration)
        let service = try GatewayService(
            configuration, services: services.services, checkKey: checkKey, checkToken: checkToken
        ) { _, _ in endpoints }
        port = try service.start().port
        self.services = services
        self.service = service
    }

    deinit { service.stop(within: .zero) }

    /// What a gateway is told.
    static func configuration(_ users: UsersOnDisk?, demo: Bool, hub: String) throws -> GatewayConfiguration {
        let connection = try ConnectionString(parsing: hub)
        let settings = HubConfiguration(
            endpoint: connection.endpoint, hub: try HubName("demo"), credential: connection.credential)
        var connections = ConnectionPoolConfiguration(
            scheme: .http, host: "127.0.0.1", port: UInt16(clamping: connection.endpoint.effectivePort))
        connections.proxy = ""
        var configuration = GatewayConfiguration(
            version: "test", hubName: "demo", hub: settings, connections: connections,
            kafka: KafkaConfiguration(bootstrapServers: "127.0.0.1:1"))
        configuration.listen = "127.0.0.1:0"
        configuration.usersFile = users?.path
        configuration.allowsDemoSignIn = demo
        configuration.hubTimeout = farDeadline
        return configuration
    }

    /// Sends one request on a connection of its own and waits for its answer.
    func ask(_ request: String) throws -> (status: Int, head: String, body: [UInt8]) {
        let client = try RawClient(port: port)
        client.send(request)
        return client.answer()
    }
}

/// Answers who has called.
struct NamingEndpoints: Endpoints {
    func answer(_ call: APICall) { call.reply.answer(.text(call.caller.name)) }
}

/// Keeps calls until a test answers.
final class HeldCalls: Endpoints {
    private let calls = Mutex<[APICall]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    func answer(_ call: APICall) {
        calls.withLock { $0.append(call) }
        arrivals.signal()
    }

    /// The one that came first, once there is one; it is kept no longer.
    func next() throws -> APICall {
        let limit = DispatchTime.now() + .seconds(Int(farDeadline.components.seconds))
        let hasArrived = arrivals.wait(timeout: limit) == .success
        try #require(hasArrived)
        return calls.withLock { $0.removeFirst() }
    }
}

/// A request as it goes over the wire.
func request(_ method: String, _ path: String, _ fields: [String] = [], body: String = "") -> String {
    let all = ["Host: h"] + fields + (body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"])
    return "\(method) \(path) HTTP/1.1\r\n" + all.map { $0 + "\r\n" }.joined() + "\r\n" + body
}

/// The header of somebody who signs in.
func basic(_ name: String, _ password: String) -> String {
    "Authorization: Basic " + Data("\(name):\(password)".utf8).base64EncodedString()
}

/// Answers, and says nothing.
struct SilentEndpoints: Endpoints {
    func answer(_ call: APICall) { call.reply.answer(HTTPServerResponse(status: 200)) }
}

/// What came of looks at credentials.
final class Outcomes: Sendable {
    private let outcomes = Mutex<[SignIn.Outcome]>([])

    func add(_ outcome: SignIn.Outcome) { outcomes.withLock { $0.append(outcome) } }

    var all: [SignIn.Outcome] { outcomes.withLock { $0 } }
}
