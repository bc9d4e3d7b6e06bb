import CurlHTTP
import Delivery
import EventLoop
import Foundation
import Gateway
import GatewayAPI
import HTTPServing
import HubREST
import Kafka
import Keys
import Observability

/// The demo's gateway: anyone signs in whose password is the name, and sends are answered when their outcome is known.
final class DemoGateway {
    private let service: GatewayService
    private let health = Health()
    private let address: HTTPServer.Address
    /// The key of a back end that may publish, read and repair.
    let key: String
    /// The folder of its files.
    private let folder = NSTemporaryDirectory() + "/pushfan-demo-\(UUID().uuidString)"

    /// Starts it on a free port.
    init(
        _ kafka: KafkaConfiguration, hub: HubConfiguration, connections: ConnectionPoolConfiguration,
        topics: Topics, group: String
    ) throws {
        var configuration = GatewayConfiguration(
            version: "demo", hubName: "demo", hub: hub, connections: connections, kafka: kafka)
        configuration.listen = "127.0.0.1:0"
        configuration.allowsDemoSignIn = true
        configuration.tracksOutcome = true
        configuration.sendWait = .seconds(30)
        configuration.topics = topics
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        configuration.stateFolder = folder
        configuration.groupID = group
        configuration.servesPage = true
        let keysFile = folder + "/keys"
        let new = try NewKey(
            KeyTerms([.publish, .read, .payload, .replay, .operate]), at: WallClock.millisecondsSince1970() / 1000)
        key = new.text
        try KeysStore(keysFile).change { (file: inout KeysFile) throws(KeysFileError) -> Void in try file.add(new.key) }
        configuration.keysFile = keysFile
        let metrics = GatewayMetrics(
            build: BuildFacts(version: "demo", swift: ""), process: { [health] in ProcessFigures.read(health) })
        service = try GatewayService(configuration, services: GatewayServices(metrics: metrics, log: .silent, health: health))
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
        try? FileManager.default.removeItem(atPath: folder)
    }
}
