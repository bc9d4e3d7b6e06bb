import Dispatch
import EventLoop
import HTTPServing
import Observability
import WorkerRuntime

/// The first worker, on a thread of this process.
final class DemoWorker {
    private let worker: Worker
    private var configuration: WorkerConfiguration
    private let thread = ServiceThread()
    private let health = Health()
    private let metrics: PushfanMetrics
    private let status: @Sendable () -> [UInt8]
    private let reporter: StatusReporter
    private var probes: ProbeServer?

    init(_ configuration: WorkerConfiguration) throws {
        self.configuration = configuration
        metrics = PushfanMetrics(
            build: BuildFacts(version: configuration.version, swift: ""), process: { [health] in ProcessFigures.read(health) })
        let services = WorkerServices(metrics: metrics, log: .silent, health: health)
        let (version, hubName) = (configuration.version, configuration.hubName)
        status = { [board = services.status] in board.json(version: version, hub: hubName) }
        worker = try Worker(configuration, services: services)
        reporter = StatusReporter(configuration, board: services.status, log: .silent)
        reporter.start()
        // A worker that cannot go on shows as a result that never comes, and the wait for that ends.
        thread.start(named: "pushfan-demo") { [worker] in try? worker.run() }
    }

    /// Waits until it is in its group, and its hub has answered.
    func waitUntilReady() throws {
        try DemoPatience.wait(for: "the first worker") { health.missing }
    }

    /// Has it send through one more hub.
    func add(_ hub: WorkerConfiguration.Hub) throws {
        configuration.hubs.append(hub)
        try worker.reload(configuration)
    }

    func serveProbes() throws -> HTTPServer.Address {
        let server = ProbeServer(listen: "127.0.0.1:0", health: health, metrics: metrics.registry, status: status)
        probes = server
        return try server.start()
    }

    func stop() {
        probes?.stop()
        worker.stop()
        thread.waitForEnd(until: .now() + .seconds(5))
        reporter.stop()
    }
}
