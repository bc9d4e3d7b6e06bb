import EventLoop
import Foundation
import Gateway
import GatewayAPI
import HTTPServing
import Keys
import Observability
import WorkerRuntime

/// A gateway: anyone signs in whose password is the name, and sends are answered when their outcome is known.
final class DemoGateway {
    /// The terms in which gateways of the demo and of the sandbox differ.
    struct Terms {
        var listen = "127.0.0.1:0"
        /// The rights of the key.
        var scopes: Set<Scope>
        /// Gives the faults of calls.
        var intercept: (@Sendable (HTTPServerRequest) -> Interception?)?
    }

    private let service: GatewayService
    private let health = Health()
    private let address: HTTPServer.Address
    /// The key of a back end.
    let key: String
    private let folder: DemoFolder

    /// Starts it, with the broker and the hub of a worker.
    init(_ terms: Terms, beside worker: WorkerConfiguration) throws {
        folder = try DemoFolder()
        var configuration = GatewayConfiguration(
            version: worker.version, hubName: "demo", hub: worker.hubs[0].hub,
            connections: worker.hubs[0].connections, kafka: worker.kafka)
        configuration.listen = terms.listen
        configuration.allowsDemoSignIn = true
        configuration.tracksOutcome = true
        configuration.sendWait = .seconds(30)
        configuration.topics = worker.topics
        configuration.stateFolder = folder.path
        configuration.groupID = worker.groupID
        configuration.servesPage = true
        let keysFile = folder.path + "/keys"
        let new = try NewKey(KeyTerms(terms.scopes), at: WallClock.millisecondsSince1970() / 1000)
        key = new.text
        try KeysStore(keysFile).change { (file: inout KeysFile) throws(KeysFileError) -> Void in try file.add(new.key) }
        configuration.keysFile = keysFile
        let metrics = GatewayMetrics(
            build: BuildFacts(version: worker.version, swift: ""), process: { [health] in ProcessFigures.read(health) })
        var services = GatewayServices(metrics: metrics, log: .silent, health: health)
        services.intercept = terms.intercept
        service = try GatewayService(configuration, services: services)
        address = try service.start()
    }

    /// The address in front of `/api`.
    var url: String { "http://\(address)" }

    /// The address of its page.
    var page: String { url + "/ui" }

    /// Waits until hub and Kafka have answered it, or throws `temporary` when that takes too long.
    func waitUntilReady() throws { try DemoPatience.wait(for: "the gateway") { health.missing } }

    func stop() {
        service.stop(within: .seconds(1))
        folder.remove()
    }
}

/// The folder of a gateway's files. It is gone with its owner, also with one that did not start.
private final class DemoFolder {
    let path = NSTemporaryDirectory() + "/pushfan-demo-\(UUID().uuidString)"

    init() throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { remove() }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}
