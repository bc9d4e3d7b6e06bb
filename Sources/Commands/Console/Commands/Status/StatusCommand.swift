import Basics
import Delivery
import Groups
import JobSupport
import Kafka
import Settings

extension Command {
    static let status = Command(
        "status", .operators, "Show where the workers stand, and why requests wait",
        examples: [
            "pushfan status", "pushfan status -o wide", "pushfan status --incidents",
            "pushfan status --worker http://127.0.0.1:9464",
            "pushfan status --max-age 5m -o json || echo 'requests wait for too long'",
        ],
        groups: [
            .selection([
                Flag(
                    "worker", "URL", "Ask this worker, beside what it reports: http:// and its `listen`", isRepeatable: true),
                Flag("max-age", "DURATION", "End with 1 when a request waits for longer"),
                Flag("incidents", nil, "List what was out in the last 14 days, as gateways saw it, instead"),
            ]),
            .output([.table, .wide, .json]),
            .kafka(
                topics: ["requests", "control"],
                and: FlagGroup.group + [
                    .timeout("5s", "How long each question may take")
                ]),
        ],
        readOn: "pushfan help doctor, failed, exit-codes", run: StatusCommand.run)
}

private enum StatusCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let arguments = invocation.arguments
        let limit = try arguments.duration("max-age")
        var workers: [HealthTarget] = []
        for url in arguments.values("worker") { workers.append(try target(url)) }
        let (settings, context) = try invocation.job()
        if arguments.has("incidents") {
            guard workers.isEmpty, limit == nil else { throw .usage("--incidents stands alone, without --worker and --max-age") }
            return try IncidentsListing.run(invocation, with: settings, in: context)
        }
        let examination = StatusExamination(settings.groupTerms, context: context)
        let asked: StatusReport?
        do throws(KafkaError) {
            asked = try examination.report(
                hearing: { isExpected in hear(context, isExpected: isExpected) },
                calling: { workers.map { call($0, within: context.timeout) } })
        } catch {
            throw invocation.failure(error, settings.kafka, to: "ask how the workers stand")
        }
        guard var report = asked else {
            throw CommandFailure(
                .failed, "there is no topic \(Sanitised.quoted(settings.kafka.topics.requests))",
                hint: CommandFailure.missingTopicHint)
        }
        report.readOrders(context)
        report.publishedPerSecond = examination.publishedPerSecond(before: report)
        try write(report, arguments.format(), invocation.streams)
        let isTooOld = limit.map { report.lagMilliseconds > $0.wholeMilliseconds } ?? false
        if isTooOld || report.reasons.contains(where: \.isStuck) { return .failed }
        return report.workers.contains { (try? $0.page.get()) == nil } ? .partlyFailed : .done
    }

    /// The workers that report themselves, once a second: those that seem silent get a little longer.
    private static func hear(_ context: JobContext, isExpected: Bool) -> Result<[Fleet.Member]?, JobFailure> {
        Result { () throws(JobFailure) in
            try context.fleet(patience: .seconds(2), isExpected: isExpected)?.members(at: Deadline.milliseconds())
        }
    }

    private static func call(_ target: HealthTarget, within timeout: Duration) -> StatusReport.Worker {
        do throws(CommandFailure) {
            let answer = try PlainRequest.get(target, timeout: timeout)
            let body = Array(answer.body.utf8)
            guard answer.status == 200, let page = WorkerPage(body) else {
                throw CommandFailure(.failed, "\(target) answered \(answer.status), and not as a worker of this version does")
            }
            return StatusReport.Worker(name: target.description, page: .success(page), raw: body)
        } catch {
            return StatusReport.Worker(name: target.description, page: .failure(.init(error.message)))
        }
    }

    private static func target(_ url: String) throws(CommandFailure) -> HealthTarget {
        guard let target = HealthTarget(url: url), ["/", "/status"].contains(target.path) else {
            throw .usage(
                "--worker: \(Sanitised.quoted(url)) is no URL such as http://127.0.0.1:9464; only http is spoken, and only /status asked"
            )
        }
        return target.at("/status")
    }

    /// The most characters of a line with an order, or with names: these are longer than other words of strangers.
    private static let lineLength = 1000

    private static func write(_ report: StatusReport, _ format: OutputFormat, _ streams: Streams) throws(CommandFailure) {
        guard format.isForPeople else {
            return try streams.out(report.json { $0.text(brokers: report.brokers) } + [UInt8(ascii: "\n")])
        }
        let telling = StatusFormatter(report: report)
        try streams.out(telling.heading)
        for line in report.orderLines { try streams.out(Sanitised.line(line, atMost: lineLength)) }
        for reason in report.reasons { try streams.out((reason.isStuck ? "stuck: " : "note: ") + Sanitised.line(reason.text)) }
        for cause in report.causes { try streams.out(Sanitised.line(cause, atMost: lineLength)) }
        for case let table? in [telling.topics, telling.partitions(all: format == .wide), telling.loops, telling.hubs] {
            try streams.out("")
            try streams.out(.table, table, [])
        }
        for gap in report.unasked { streams.note("not asked: \(Sanitised.line(gap.text(brokers: report.brokers)))") }
    }
}
