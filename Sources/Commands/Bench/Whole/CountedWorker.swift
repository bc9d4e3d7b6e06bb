import Console
import Dispatch
import EventLoop
import Observability
import Settings
import Synchronization
import WorkerRuntime

/// A whole worker on a thread of this process, where what it does can be counted.
struct CountedWorker {
    /// The worker's metrics, clock and status.
    let services: WorkerServices

    private static let patience = DispatchTimeInterval.seconds(20)
    private let worker: Worker
    private let thread = ServiceThread()
    private let warnings = LastLines()

    /// Starts a worker with these settings, whose log of `level` goes nowhere, but for its last lines. It does not call its hubs to check them: that is none of what
    /// is counted.
    init(_ settings: Settings, level: LogLevel) throws {
        var configuration = try settings.workerConfiguration(version: Program.version)
        configuration.checksHubs = false
        let metrics = PushfanMetrics(
            build: BuildFacts(version: configuration.version, swift: ""), process: { ProcessReadings() })
        let log = Log(format: .json, level: level, now: WallClock.millisecondsSince1970) { [warnings] in warnings.add($0) }
        services = WorkerServices(metrics: metrics, log: log, health: Health())
        let worker = try Worker(configuration, services: services)
        self.worker = worker
        // A worker that cannot go on shows as results that do not come, for which there is a deadline.
        thread.start(named: "worker") { try? worker.run() }
    }

    /// What it was doing, for whoever waits for it in vain: the last lines of its log, and the beginning of its status.
    var lastWords: String {
        let status = services.status.json(version: Program.version, hub: BenchHub.name)
        return warnings.text + String(decoding: status.prefix(1000), as: UTF8.self)
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

/// The last lines of a log.
private final class LastLines: Sendable {
    private static let count = 5
    private let lines = Mutex<[[UInt8]]>([])

    var text: String { lines.withLock { String(decoding: $0.joined(), as: UTF8.self) } }

    func add(_ line: [UInt8]) { lines.withLock { $0 = $0.suffix(Self.count - 1) + [line] } }
}
