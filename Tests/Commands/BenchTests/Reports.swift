@testable import Bench

/// A report with figures that a test can change.
struct Figures {
    var setting = BenchReport.Setting(
        broker: "embedded", guarantee: "at_least_once", requests: 50_000, partitions: 8, maxInFlight: 64, maxConnections: 0,
        commitIntervalMilliseconds: 30, logLevel: "warning", processorCount: 4)
    var stages = [
        StageFigure(name: "parse", part: .request, what: "", microseconds: 2, systemMicroseconds: 0, allocations: 0),
        StageFigure(name: "result", part: .request, what: "", microseconds: 3, systemMicroseconds: 0, allocations: 1),
        StageFigure(name: "brief", part: .rare, what: "", microseconds: 2, systemMicroseconds: 0, allocations: 1),
        StageFigure(name: "log", part: .rare, what: "", microseconds: 5, systemMicroseconds: 0, allocations: 4),
    ]
    var backlog = BacklogFigure(
        requests: 50_000, steadyRequests: 40_000, requestsPerSecond: 20_000, userMicroseconds: 15, systemMicroseconds: 10,
        processorShare: 0.5, peakMemoryMebibytes: 70, inFlightFullShare: 0, hubMilliseconds: 2, loggedBytesPerRequest: 0,
        failedRequests: 0, secondsToStart: 3)
    var latency = LatencyFigure(
        requestsPerSecond: 2000, requests: 9000, publishToHub: Spread([2, 2, 2]), publishToResult: Spread([5, 5, 5]))

    var advice: [Advice] { Advice.best(setting, stages: stages, backlog: backlog, latency: latency) }

    var report: BenchReport {
        BenchReport(
            version: "1", stages: stages, setting: setting, backlog: backlog, latency: latency,
            allocations: AllocationFigure(own: 4), advice: advice)
    }
}
