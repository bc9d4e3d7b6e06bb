import CurlHTTP
import Delivery
import EventLoop
import Foundation
import Gateway
import HTTPServing
import HubREST
import Kafka
import Keys
import Observability
import WorkerRuntime

/// The demo's gateway: anyone signs in whose password is the name, and sends are answered when their outcome is known.
final class DemoGateway {
    private let service: GatewayService
    private let health = Health()
    private let address: HTTPServer.Address
    /// The key of a back end that may publish.
    let key: String
    private let keysFile = NSTemporaryDirectory() + "/pushfan-demo-\(UUID().uuidString).keys"

    /// Starts it on a free port.
    init(
        _ kafka: KafkaConfiguration, hub: HubConfiguration, connections: ConnectionPoolConfiguration,
        topics: Topics
    ) throws {
        var configuration = GatewayConfiguration(
            version: "demo", hubName: "demo", hub: hub, connections: connections, kafka: kafka)
        configuration.listen = "127.0.0.1:0"
        configuration.allowsDemoSignIn = true
        configuration.tracksOutcome = true
        configuration.sendWait = .seconds(30)
        configuration.topics = topics
        let new = try NewKey(KeyTerms([.publish]), at: WallClock.millisecondsSince1970() / 1000)
        key = new.text
        try KeysStore(keysFile).change { (file: inout KeysFile) throws(KeysFileError) -> Void in try file.add(new.key) }
        configuration.keysFile = keysFile
        let metrics = GatewayMetrics(
            build: BuildFacts(version: "demo", swift: ""), process: ProcessFigures.read)
        service = try GatewayService(configuration, services: GatewayServices(metrics: metrics, log: .silent, health: health))
        address = try service.start()
    }

    /// The address in front of `/api`.
    var url: String { "http://\(address)" }

    /// Waits until hub and Kafka have answered it, or throws `temporary` when that takes too long.
    func waitUntilReady() throws { try DemoPatience.wait(for: "the gateway") { health.missing } }

    func stop() {
        service.stop(within: .seconds(1))
        for path in [keysFile, keysFile + ".lock"] { try? FileManager.default.removeItem(atPath: path) }
    }
}
