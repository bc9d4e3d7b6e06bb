import Basics
import Console
import EventLoop
import Foundation
import Observability
import Settings
import WorkerRuntime

/// A whole worker inside this process, whose heap allocations can be counted; the hub is a process of its own.
struct CountedRun {
    let count: Int

    private static let patience = Duration.seconds(60)

    /// Lets the worker take a backlog of `count` requests. Returns the allocations for each, or nil where they cannot be counted.
    func run(_ environment: WorkerEnvironment) throws -> AllocationFigure? {
        let settings = try environment.settings()
        var configuration = try settings.workerConfiguration(version: Program.version)
        // The call is none of those that are counted.
        configuration.checksHubs = false
        let metrics = PushfanMetrics(
            build: BuildFacts(version: configuration.version, swift: ""), process: { ProcessReadings() })
        let log = Log(format: .json, level: settings.log.level, now: WallClock.millisecondsSince1970, sink: { _ in })
        let worker = try Worker(configuration, services: WorkerServices(metrics: metrics, log: log, health: Health()))
        let ended = DispatchSemaphore(value: 0)
        let thread = Thread {
            // A worker that cannot go on shows as results that do not come; there is a deadline.
            try? worker.run()
            ended.signal()
        }
        thread.start()
        defer {
            worker.stop()
            worker.stop()
            _ = ended.wait(timeout: .now() + .seconds(20))
        }
        let deadline = MonotonicTime.now().advanced(by: Self.patience)
        try wait(for: count / 5, in: metrics, until: deadline)
        let results = metrics.resultsPublished.value
        let made = try AllocationCounter.count { try wait(for: count, in: metrics, until: deadline) }
        let steady = Double(metrics.resultsPublished.value - results)
        guard let made, steady > 0 else { return nil }
        return AllocationFigure(own: Double(made) / steady)
    }

    private func wait(for results: Int, in metrics: PushfanMetrics, until deadline: MonotonicTime) throws {
        while metrics.resultsPublished.value < UInt64(results) {
            try Interruption.check()
            guard MonotonicTime.now() < deadline else {
                throw CommandFailure(.temporary, "the worker whose allocations are counted did not finish in time")
            }
            usleep(2000)
        }
    }
}
