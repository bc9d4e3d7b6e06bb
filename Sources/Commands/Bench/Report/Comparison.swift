/// The figures of two reports beside each other.
struct Comparison: Codable, Equatable {
    /// One figure now, before, and what it is of what it was.
    struct Row: Codable, Equatable {
        var figure: String
        var now: Double
        var before: Double
        /// Nil when there was nothing before.
        var ratio: Double?
    }

    var rows: [Row]
    /// Conditions that differ, so that the figures say less than they seem to.
    var differences: [String]

    init(_ now: BenchReport, to before: BenchReport) {
        let old = Dictionary(Self.figures(before), uniquingKeysWith: { first, _ in first })
        rows = Self.figures(now).compactMap { figure, value in
            old[figure].map { Row(figure: figure, now: value, before: $0, ratio: $0 == 0 ? nil : value / $0) }
        }
        differences = Self.differences(now.setting, since: before.setting)
    }

    private static func figures(_ report: BenchReport) -> [(String, Double)] {
        var figures: [(String, Double)] = []
        for stage in report.stages {
            figures.append(("\(stage.name) µs", stage.microseconds))
            if let allocations = stage.allocations { figures.append(("\(stage.name) allocations", allocations)) }
        }
        if let backlog = report.backlog {
            figures += [
                ("worker requests/s", backlog.requestsPerSecond), ("worker µs/request", backlog.processorMicroseconds),
                ("worker user µs", backlog.userMicroseconds), ("worker system µs", backlog.systemMicroseconds),
                ("worker peak MiB", backlog.peakMemoryMebibytes),
            ]
        }
        if let allocations = report.allocations {
            figures.append(("worker allocations", allocations.own))
        }
        if let latency = report.latency {
            for (name, spread) in [("to hub call", latency.publishToHub), ("to result", latency.publishToResult)] {
                guard let spread else { continue }
                figures += [("\(name) p50 ms", spread.p50), ("\(name) p99 ms", spread.p99)]
            }
        }
        return figures
    }

    private static func differences(_ now: BenchReport.Setting?, since before: BenchReport.Setting?) -> [String] {
        guard let now, let before else { return [] }
        let pairs: [(String, String, String)] = [
            ("broker", now.broker, before.broker), ("guarantee", now.guarantee, before.guarantee),
            ("requests", "\(now.requests)", "\(before.requests)"), ("partitions", "\(now.partitions)", "\(before.partitions)"),
            ("in flight", "\(now.maxInFlight)", "\(before.maxInFlight)"), ("log level", now.logLevel, before.logLevel),
            ("commit interval ms", "\(now.commitIntervalMilliseconds)", "\(before.commitIntervalMilliseconds)"),
            ("processors", "\(now.processorCount)", "\(before.processorCount)"),
        ]
        return pairs.filter { $0.1 != $0.2 }.map { "\($0.0): \($0.1), before \($0.2)" }
    }
}
