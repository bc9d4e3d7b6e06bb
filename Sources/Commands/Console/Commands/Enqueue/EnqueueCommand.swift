import Audiences
import Intake
import Publishing
import PushModel
import Settings

extension Command {
    /// `pushfan enqueue`: requests from flags, files or standard input, checked before the first is written.
    static let enqueue = Command(
        "enqueue", .publishers, "Check push requests and write them to Kafka", operands: "[FILE...|-]",
        maximumOperands: .max,
        examples: [
            "pushfan enqueue --user alice --title 'Order shipped' --body 'It is on its way' --wait",
            "pushfan enqueue requests.ndjson --keep-going -o ndjson",
            "pushfan enqueue --category World --template title=News --dry-run",
            "pushfan enqueue --user bob --title Load --repeat 10000 --rate 100 --quiet",
            "pushfan enqueue --audience-file users.csv --title News --ttl 6h -o json",
        ],
        groups: [
            RequestFlags.audience, RequestFlags.content, RequestFlags.delivery,
            FlagGroup(
                "Sending",
                Flag("dry-run", nil, "Print the records and send nothing"),
                Flag("keep-going", nil, "Send what is valid, and end with 3"),
                Flag("repeat", "N", "Write every request N times, each with an id of its own", default: "1"),
                Flag("rate", "N", "Write at most N requests a second"),
                Flag("wait", nil, "Wait for the final results; 3 if some failed, 75 if time runs out"),
                .timeout("30s", "How long to wait for Kafka and the results")),
            .output(and: [Flag("quiet", nil, "Say only how many were sent", letter: "q")]),
            .kafka(topics: ["requests", "results"]),
        ],
        readOn: "pushfan help requests, explain, results tail", run: EnqueueCommand.run)
}

enum EnqueueCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let arguments = invocation.arguments
        if arguments.has("audience-file") { return try AudienceCommand.run(invocation) }
        let checker = try read(invocation)
        for fault in checker.faults { invocation.streams.note("pushfan enqueue: \(fault.text)") }
        for warning in checker.warnings {
            invocation.streams.note(
                "pushfan enqueue: warning: \(warning.text) (by the settings here; those of the workers decide)")
        }
        guard checker.faults.isEmpty || (arguments.has("keep-going") && !checker.valid.isEmpty) else {
            throw CommandFailure(
                .usage, "nothing was sent", hint: checker.valid.isEmpty ? nil : "--keep-going sends what is valid")
        }
        var plan = RequestSender.Plan()
        plan.copies = try arguments.integer("repeat", in: 1...100_000_000) ?? 1
        if let rate = arguments.value("rate") {
            guard let number = Double(rate), number > 0, number <= 1e7 else {
                throw .usage("--rate: \(Sanitised.quoted(rate)) is no number that is allowed; expected requests a second")
            }
            plan.rate = number
        }
        if plan.copies > 1 && checker.valid.contains(where: { $0.id != nil }) {
            throw .usage("--repeat: a request with an id of its own can be written only once")
        }
        let code =
            arguments.has("dry-run")
            ? try dryRun(checker.valid, plan, invocation) : try send(checker.valid, plan, invocation)
        return code == .done && !checker.faults.isEmpty ? .partlyFailed : code
    }

    /// The requests of flags or files, checked.
    private static func read(_ invocation: Invocation) throws(CommandFailure) -> RequestChecker {
        let arguments = invocation.arguments
        let now = invocation.surroundings.now()
        var checker = RequestChecker(now: now, trial: RequestTrial(try invocation.settings()))
        let flag = arguments.firstGiven(of: RequestFlags.names)
        if arguments.operands.isEmpty {
            guard flag != nil else {
                throw .usage(
                    "there is no request: give flags such as --user, a file, or - for standard input",
                    hint: "`pushfan help enqueue` shows examples")
            }
            checker.check(try RequestFlags.json(arguments, now: now), at: "the flags")
            return checker
        }
        if let flag { throw .usage("--\(flag) describes a request, and so does a file; give one of the two") }
        for path in arguments.operands {
            let name = path == "-" ? "standard input" : Sanitised.line(path)
            RequestInput.read(try invocation.requestFile(path), named: name, into: &checker)
        }
        return checker
    }

    private static func dryRun(
        _ requests: [OutgoingRequest], _ plan: RequestSender.Plan, _ invocation: Invocation
    ) throws(CommandFailure) -> ExitCode {
        let topics = try invocation.settings().kafka.topics.ofRequests
        var sender = RequestSender(plan, topics: topics, now: invocation.surroundings.now)
        let format = invocation.arguments.format()
        var objects: [[UInt8]] = []
        for request in requests {
            let record = sender.record(of: request)
            var object = JSONObject(["topic": record.topic, "key": record.key])
            object.add("headers", pairs: record.headers)
            object.add("value", raw: record.value.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
            objects.append(object.bytes)
            guard format == .table else { continue }
            try invocation.streams.out("topic: \(record.topic)\nkey: \(record.key.map { Sanitised.line($0) } ?? "none")")
            for header in record.headers { try invocation.streams.out("\(header.name): \(Sanitised.line(header.value))") }
            try invocation.streams.out("\n\(String(decoding: record.value, as: UTF8.self))\n")
        }
        if format != .table { try invocation.streams.out(format, Table(), objects) }
        invocation.streams.note("dry run: \(requests.count * plan.copies) requests, nothing was sent")
        return .done
    }
}
