public import Console

extension Command {
    /// `pushfan size`: a fleet for a load, with the arithmetic.
    public static let size = Command(
        "size", .operators, "Say how many workers, partitions and bytes a load needs, with the arithmetic",
        examples: [
            "pushfan size --requests 2000/s --peak 20000/s --hub-latency 60ms --users 1e6",
            "pushfan size --requests 50000/h --platforms 3 --retention 3d -o json",
            "pushfan size --requests 20000/s --cores 4 --measure",
        ],
        groups: [
            FlagGroup(
                "Load",
                [
                    Flag("requests", "RATE", "Requests on average, such as 2000/s, 50000/h or 1e6/d"),
                    Flag("peak", "RATE", "Requests at the peak", default: "three times --requests"),
                    Flag("hub-latency", "TIME", "Mean time of a hub call", default: "100ms"),
                    Flag("platforms", "N", "Platforms of a request, each of which is a call", default: "1"),
                    Flag("retries", "PERCENT", "Calls that are made again", default: "5%"),
                    Flag("users", "N", "Users whom a large request names, as one of --audience-file does", default: "0"),
                    Flag("large-requests", "RATE", "Large requests to these users", default: "1/d"),
                ]),
            FlagGroup(
                "Kafka",
                [
                    Flag("payload", "BYTES", "Size of a request's record", default: "1KiB"),
                    Flag("retention", "TIME", "How long requests and results are kept", default: "7d and 14d"),
                    Flag("replication", "N", "Brokers that keep each partition", default: "3"),
                ]),
            FlagGroup(
                "Workers",
                [
                    Flag("cores", "N", "Processors of a worker, each with a loop", default: "1"),
                    Flag("utilisation", "PERCENT", "Share of processors and calls in use at the peak", default: "60%"),
                    Flag("measure", nil, "Measure on this machine what a call costs, as bench does; some 20 s"),
                    Flag("report", "FILE", "Take what a call costs from a run of bench with -o json"),
                ]),
            .output([.table, .json]),
        ],
        readOn: "pushfan help operations; pushfan help measuring has how calls are measured", acceptsSettings: false,
        run: SizeCommand.run)
}

private enum SizeCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let demand = try SizeArguments(invocation.arguments).demand()
        return try BenchCommand.attempt(invocation) {
            let report = SizeReport(Sizing(demand, cost: try cost(invocation)))
            let lines =
                invocation.arguments.format() == .json
                ? [try ReportFile.text(report)] : report.lines(invocation.streams.traits)
            for line in lines { try invocation.streams.out(line) }
            return .done
        }
    }

    /// The cost of a call: measured here, taken from a report, or the recorded one.
    private static func cost(_ invocation: Invocation) throws -> CallCost {
        let file = invocation.arguments.value("report")
        if invocation.arguments.has("measure") {
            guard file == nil else { throw CommandFailure.usage("--measure and --report exclude each other") }
            let plan = WholeBench.Plan(requests: 100_000, partitions: 8, rate: 2000)
            let outcome = try BenchCommand.withBench(plan, for: invocation) { try $0.measure() }
            return CallCost(
                microseconds: outcome.backlog.processorMicroseconds,
                origin: "measured now on this machine, \(outcome.setting.conditions). TLS adds about half")
        }
        guard let file else { return .recorded }
        let report = try ReportFile.read(file, flag: "report")
        guard let backlog = report.backlog, let setting = report.setting else {
            throw CommandFailure.usage(
                "--report: the file '\(file)' has only stages; a whole run of bench has a worker's figures")
        }
        return CallCost(
            microseconds: backlog.processorMicroseconds,
            origin: "from '\(file)', \(setting.conditions). TLS adds about half")
    }
}

extension BenchReport.Setting {
    /// The conditions of a measurement of which its cost depends most.
    fileprivate var conditions: String {
        "\(processorCount) processors, \(broker == "embedded" ? "embedded broker" : "broker \(broker)"), \(guarantee)"
    }
}

extension SizeReport {
    /// The report as a person reads it.
    fileprivate func lines(_ traits: Streams.Traits) -> [String] {
        var fleet = Table("FIGURE", "VALUE", "BECAUSE")
        fleet.wrapsCells = true
        for figure in figures { fleet.add(figure.name, figure.text, figure.because) }
        var kafka = Table("TOPIC", "PARTITIONS", "DISK", "BECAUSE")
        kafka.wrapsCells = true
        for topic in topics {
            kafka.add(topic.topic, SizeText.grouped(topic.partitions), topic.bytes.map(SizeText.bytes) ?? "-", topic.because)
        }
        return [
            "A call takes \(SizeText.number(cost.microseconds)) µs of processor time with its request: \(cost.origin).", "",
        ] + fleet.lines(traits) + [""] + kafka.lines(traits)
    }
}
