import Basics
import Console
import CurlHTTP
import Dispatch
import EventLoop
import Gateway
import HTTPServing
import HubREST
import Kafka
import Observability
import WorkerRuntime

/// The demo's gateway: anyone signs in whose password is the name, and sends are answered when their outcome is known.
final class DemoGateway {
    private let service: GatewayService
    private let health = Health()
    private let address: HTTPServer.Address

    /// Starts it on a free port.
    init(
        _ kafka: KafkaConfiguration, _ hub: HubConfiguration, _ connections: ConnectionPoolConfiguration,
        _ topics: WorkerConfiguration.Topics
    ) throws {
        var configuration = GatewayConfiguration(
            version: "demo", hubName: "demo", hub: hub, connections: connections, kafka: kafka)
        configuration.listen = "127.0.0.1:0"
        configuration.allowsDemoSignIn = true
        configuration.tracksOutcome = true
        configuration.sendWait = .seconds(30)
        configuration.requestsTopic = topics.requests
        configuration.resultsTopic = topics.results
        let metrics = GatewayMetrics(
            build: BuildFacts(version: "demo", commit: "", swift: ""), process: ProcessFigures.read)
        service = try GatewayService(configuration, GatewayServices(metrics: metrics, log: .silent, health: health))
        address = try service.start()
    }

    /// Where `/api` is.
    var url: String { "http://\(address)" }

    /// Waits until hub and Kafka have answered it.
    ///
    /// - Throws: `temporary` when that takes more than 30 s.
    func waitUntilReady() throws {
        let deadline = ContinuousClock.now + .seconds(30)
        let nothing = DispatchSemaphore(value: 0)
        while true {
            let report = health.report(.ready, now: MonotonicTime.now().nanoseconds)
            if report.passes { return }
            guard ContinuousClock.now < deadline else {
                let reasons = String(decoding: report.body(verbose: true), as: UTF8.self)
                throw CommandFailure(.temporary, "the gateway was not ready within 30 s: \(reasons)")
            }
            _ = nothing.wait(timeout: .now() + .milliseconds(20))
        }
    }

    func stop() { service.stop(within: .seconds(1)) }
}
