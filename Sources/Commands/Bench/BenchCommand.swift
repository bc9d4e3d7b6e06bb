public import Console
import Foundation
import Kafka
import Settings

extension Command {
    /// `pushfan bench`: what a request costs on this machine.
    public static let bench = Command(
        "bench", .operators, "Measure what requests cost on this machine, and name the settings that would help",
        examples: [
            "pushfan bench", "pushfan bench --kafka 127.0.0.1:9092 --requests 200000 --in-flight 128",
            "pushfan bench --stages -o json", "pushfan bench --compare before.json",
        ],
        groups: [
            FlagGroup(
                "Measurement",
                [
                    Flag("kafka", "LIST", "A broker to use, with topics of the bench's own", default: "one in this process"),
                    Flag("requests", "N", "Requests that the worker finds waiting", default: "100000"),
                    Flag("partitions", "N", "Partitions of the requests and results topics", default: "8"),
                    Flag(
                        "rate", "N", "Requests a second while latency is measured; at most half of what the worker can",
                        default: "2000"),
                ] + FlagGroup.settings([("in-flight", "N", "worker.max_in_flight")]) + [
                    Flag("stages", nil, "Only the stages: no broker, no worker, a few seconds"),
                    Flag("fixed", "N", "Only N requests through the stages, the same way every time, for instruction counters"),
                    Flag("loop", "N", "Only a worker's loop in fixed courses of N requests or turns, for instruction counters"),
                ]),
            .output([.table, .json], and: [Flag("compare", "FILE", "Show ratios to an earlier run with -o json")]),
        ],
        readOn: "pushfan help measuring; all settings count except the worker's connections", run: BenchCommand.run)
}

enum BenchCommand {
    /// What the embedded broker keeps of a partition, 5 MiB, holds this many requests and more.
    private static let embeddedPerPartition = 20_000

    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        try attempt(invocation) {
            let arguments = invocation.arguments
            if let count = try arguments.integer("fixed", in: 1...100_000_000) {
                return try write(FixedRun.run(count), for: invocation)
            }
            if arguments.has("loop") {
                return try write(try withBench(try plan(invocation), for: invocation) { try $0.runLoop() }, for: invocation)
            }
            let earlier = try arguments.value("compare").map { try ReportFile.read($0) }
            let report = try measure(invocation)
            try write(report, comparison: earlier.map { Comparison(report, to: $0) }, for: invocation)
            return (report.backlog?.failedRequests ?? 0) > 0 ? .partlyFailed : .done
        }
    }

    /// Does `body`, and gives each failure its exit code.
    static func attempt<Value>(_ invocation: Invocation, body: () throws -> Value) throws(CommandFailure) -> Value {
        do {
            return try body()
        } catch let failure as CommandFailure {
            throw failure
        } catch let error as KafkaError {
            throw .broker(error, at: invocation.arguments.value("kafka") ?? "the embedded broker", action: "measure")
        } catch {
            throw CommandFailure(.failed, "the bench could not go on: \(error)")
        }
    }

    private static func measure(_ invocation: Invocation) throws -> BenchReport {
        let plan = try plan(invocation)
        if invocation.arguments.has("stages") {
            Interruption.catchSignals()
            return BenchReport(version: Program.version, stages: try StageBench.run())
        }
        return try withBench(plan, for: invocation) { bench in
            bench.say("measuring the stages")
            var report = BenchReport(version: Program.version, stages: try StageBench.run())
            if let transaction = try bench.measureTransaction() { report.stages.append(transaction) }
            let outcome = try bench.measure()
            report.setting = outcome.setting
            report.backlog = outcome.backlog
            report.latency = outcome.latency
            report.allocations = outcome.allocations
            report.advice = Advice.best(
                outcome.setting, stages: report.stages, backlog: outcome.backlog, latency: outcome.latency)
            return report
        }
    }

    private static func plan(_ invocation: Invocation) throws(CommandFailure) -> WholeBench.Plan {
        let many = try invocation.arguments.integer("requests", in: 1000...10_000_000) ?? 100_000
        let plan = WholeBench.Plan(
            requests: try invocation.arguments.integer("loop", in: 10...10_000) ?? many,
            partitions: try invocation.arguments.integer("partitions", in: 1...1000) ?? 8,
            rate: Double(try invocation.arguments.integer("rate", in: 10...100_000) ?? 2000))
        guard invocation.arguments.has("kafka") || plan.requests <= plan.partitions * embeddedPerPartition else {
            throw .usage(
                "--requests: the embedded broker keeps at most \(embeddedPerPartition) for each partition",
                hint: "use more --partitions, or a broker of your own with --kafka")
        }
        return plan
    }

    /// Lets `body` use a broker and a hub, which are there until it returns.
    static func withBench<Value>(
        _ plan: WholeBench.Plan, for invocation: Invocation, body: (WholeBench) throws -> Value
    ) throws -> Value {
        let note: @Sendable (String) -> Void = { [streams = invocation.streams] in streams.note("bench: \($0)") }
        let run = "\(getpid())-\(UInt32.random(in: 0 ... .max))"
        let environment = WorkerEnvironment(invocation)
        Interruption.catchSignals()
        let broker = try broker(invocation.arguments.value("kafka"), environment: environment, run: run)
        defer {
            let left = broker.close()
            if !left.isEmpty { note("these topics are left, with a retention of 1 h: \(left.joined(separator: " "))") }
        }
        let hub = try BenchHub()
        defer { hub.stop() }
        let bench = WholeBench(plan: plan, broker: broker, hub: hub, run: run, environment: environment, say: note)
        try bench.check()
        return try body(bench)
    }

    private static func broker(_ servers: String?, environment: WorkerEnvironment, run: String) throws -> BenchBroker {
        guard let servers else { return try BenchBroker.embedded(run: run) }
        var environment = environment
        environment.set("kafka.bootstrap_servers", to: servers)
        return BenchBroker.existing(try environment.settings().kafkaConfiguration(), run: run)
    }

    private static func write(_ value: some Encodable, for invocation: Invocation) throws -> ExitCode {
        try invocation.streams.out(try ReportFile.text(value))
        return .done
    }

    private static func write(_ report: BenchReport, comparison: Comparison?, for invocation: Invocation) throws {
        if invocation.arguments.format() == .json {
            return try invocation.streams.out(try ReportFile.text(ReportFile(report: report, comparison: comparison)))
        }
        let text = ReportText(invocation.streams.traits)
        for line in text.lines(report) { try invocation.streams.out(line) }
        if let comparison {
            for line in text.lines(comparison) { try invocation.streams.out(line) }
        }
    }
}
