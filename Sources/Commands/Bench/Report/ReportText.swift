import Console

struct ReportText {
    private let traits: Streams.Traits

    init(_ traits: Streams.Traits) { self.traits = traits }

    func lines(_ report: BenchReport) -> [String] {
        var lines = stages(report.stages)
        if let setting = report.setting, let backlog = report.backlog, let latency = report.latency {
            lines += [""] + whole(setting, backlog: backlog, allocations: report.allocations)
            lines += [""] + spread(latency)
        }
        if !report.advice.isEmpty { lines += ["", "What would help most:"] + advice(report.advice) }
        return lines
    }

    func lines(_ comparison: Comparison) -> [String] {
        var table = Table("figure", "       now", "    before", "   ratio")
        for row in comparison.rows {
            table.add(
                row.figure, number(row.now), number(row.before), number(row.ratio, width: 8))
        }
        let different = comparison.differences.map { "  not the same: \($0)" }
        return ["", "Compared with the earlier run:"] + different + table.lines(traits)
    }

    private func stages(_ stages: [StageFigure]) -> [String] {
        var table = Table("stage", "        µs", "    system", "  allocations", "what")
        for stage in stages where stage.part == .request { add(stage, to: &table) }
        let sum = stages.filter { $0.part == .request }
        let allocations = sum.compactMap(\.allocations)
        table.add(
            "sum", number(sum.reduce(0) { $0 + $1.microseconds }), number(sum.reduce(0) { $0 + $1.systemMicroseconds }),
            number(allocations.count == sum.count ? allocations.reduce(0, +) : nil, width: 13), "without Kafka")
        for stage in stages where stage.part != .request { add(stage, to: &table) }
        return [
            "Stages, by the modules' public functions: processor time of one thread and heap allocations of our own, for each request.",
            "Not in here, only in the whole: the loop itself, librdkafka, a result's headers, metrics.",
        ] + table.lines(traits)
    }

    private func add(_ stage: StageFigure, to table: inout Table) {
        table.add(
            stage.part == .request ? stage.name : "(\(stage.name))", number(stage.microseconds), number(stage.systemMicroseconds),
            number(stage.allocations, width: 13), stage.what)
    }

    private func whole(_ setting: BenchReport.Setting, backlog: BacklogFigure, allocations: AllocationFigure?) -> [String] {
        var table = Table("the whole worker", "     value", "unit")
        table.add("throughput", number(backlog.requestsPerSecond), "requests/s")
        table.add("processor time", number(backlog.processorMicroseconds), "µs/request, all threads of the worker")
        table.add("  user", number(backlog.userMicroseconds), "µs/request")
        table.add("  system", number(backlog.systemMicroseconds), "µs/request")
        table.add("cores in use", number(backlog.processorShare), "of \(setting.processorCount)")
        if let allocations {
            table.add("allocations", number(allocations.own), "of our own/request, all threads of a worker")
        }
        table.add("peak memory", number(backlog.peakMemoryMebibytes), "MiB")
        table.add(
            "in flight full", number(backlog.inFlightFullShare.map { $0 * 100 }), "% of the samples, limit \(setting.maxInFlight)"
        )
        table.add("hub call", number(backlog.hubMilliseconds), "ms, mean")
        table.add("logged", number(backlog.loggedBytesPerRequest), "bytes/request, level \(setting.logLevel)")
        if backlog.failedRequests > 0 { table.add("failed", number(Double(backlog.failedRequests)), "requests") }
        let broker = setting.broker == "embedded" ? "embedded broker" : "broker \(setting.broker)"
        return [
            "A backlog of \(backlog.requests) requests, \(setting.partitions) partitions, \(broker), \(setting.guarantee); "
                + "without the first fifth.",
            "The worker is a process of its own; the hub\(setting.broker == "embedded" ? " and the broker share" : " shares") its machine.",
        ] + table.lines(traits)
    }

    private func spread(_ latency: LatencyFigure) -> [String] {
        var table = Table("latency, ms", "       p50", "       p90", "       p99", "       max")
        for (name, spread) in [("publish → hub call", latency.publishToHub), ("publish → result", latency.publishToResult)] {
            table.add(name, number(spread?.p50), number(spread?.p90), number(spread?.p99), number(spread?.max))
        }
        return ["\(Int(latency.requestsPerSecond)) requests/s, evenly; results as a read_committed reader sees them."]
            + table.lines(traits)
    }

    private func advice(_ advice: [Advice]) -> [String] {
        advice.enumerated().flatMap { index, item in
            ["  \(index + 1). \(item.setting): \(item.effect)", "     because \(item.reason)"]
        }
    }

    /// A number, right-aligned, or a hyphen for one that was not measured.
    private func number(_ value: Double?, width: Int = 10) -> String {
        let text = value.map(NumberText.text) ?? "-"
        return String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
