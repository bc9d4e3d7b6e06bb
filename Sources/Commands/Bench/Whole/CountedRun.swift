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
        let worker = try CountedWorker(settings, level: settings.log.level)
        defer { worker.stop() }
        let metrics = worker.services.metrics
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
