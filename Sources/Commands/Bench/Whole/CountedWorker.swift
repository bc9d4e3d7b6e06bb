import Console
import Dispatch
import EventLoop
import Observability
import Settings
import WorkerRuntime

/// A whole worker on a thread of this process, where what it does can be counted.
struct CountedWorker {
    /// The worker's metrics, clock and status.
    let services: WorkerServices

    private static let patience = DispatchTimeInterval.seconds(20)
    private let worker: Worker
    private let thread = ServiceThread()

    /// Starts a worker with these settings, whose log of `level` goes nowhere. It does not call its hubs to check them: that is none of what
    /// is counted.
    init(_ settings: Settings, level: LogLevel) throws {
        var configuration = try settings.workerConfiguration(version: Program.version)
        configuration.checksHubs = false
        let metrics = PushfanMetrics(
            build: BuildFacts(version: configuration.version, swift: ""), process: { ProcessReadings() })
        let log = Log(format: .json, level: level, now: WallClock.millisecondsSince1970, sink: { _ in })
        services = WorkerServices(metrics: metrics, log: log, health: Health())
        let worker = try Worker(configuration, services: services)
        self.worker = worker
        // A worker that cannot go on shows as results that do not come, for which there is a deadline.
        thread.start(named: "worker") { try? worker.run() }
    }

    /// Has its loop turn.
    func wake() { worker.wake() }

    /// Ends it at once, and waits for that 20 s at most.
    func stop() {
        worker.stop()
        worker.stop()
        thread.waitForEnd(until: .now() + Self.patience)
    }
}
