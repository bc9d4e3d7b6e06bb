import Glibc
import JobSupport
import Publishing
import PushModel
import Replay
import Replays
import ResultQuery

/// `pushfan replay deadletter`: gives records that could not be understood back to the topic they came from.
enum DeadLetterCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        Interruption.catchSignals()
        let arguments = invocation.arguments
        let now = invocation.surroundings.now()
        var generator = SystemRandomNumberGenerator()
        var identifiers = RequestIdentifier()
        var header = ReplayPlanHeader(
            jobID: identifiers.next(now: now, using: &generator), createdAt: Timestamp(milliseconds: now), filter: "",
            actor: try PlanCommand.actor(invocation))
        let range = try range(invocation, now: now)
        header.source = .deadletter
        header.filter = range.description
        header.reason = try PlanCommand.reason(invocation) ?? ""
        let isDry = arguments.has("dry-run")
        if isDry, arguments.has("file") { throw .usage("--dry-run writes no file; leave out --file") }
        if !isDry { try RunCommand.requireReason(header) }
        header.edits = arguments.values("set")
        let edits = try invocation.perform(header.manner(), with: nil).edits
        let (named, replacement) = try letters(invocation)
        let path = isDry ? nil : arguments.value("file") ?? "replay-\(header.jobID).ndjson"
        let (settings, context) = try invocation.job()
        let pace = try PlanCommand.pace(invocation, settings)
        let plan = try invocation.perform(settings) { () throws(JobFailure) in
            let log = try context.jobLog()
            header.jobsOffset = log.end
            var plan = DeadLetterPlan(header, edits, log.history, context, path: path)
            try plan.make(range, codes: arguments.values("code"), named: named, replacement: replacement)
            return plan
        }
        guard let path, plan.header.counts.requests > 0 else {
            // A plan of nothing is of no use to anybody who did not ask for its file.
            if let path, !arguments.has("file") { unlink(path) }
            return try show(plan, at: pace, arguments.value("file"), invocation)
        }
        invocation.streams.note(
            "\(plan.header.counts.requests) of \(plan.header.counts.matched) records; the plan is \(Sanitised.line(path))")
        invocation.note(left: plan.header.counts.left)
        return try RunCommand.run(plan.header, path, invocation)
    }

    /// The letters that are named, and the request in place of the only one.
    private static func letters(
        _ invocation: Invocation
    ) throws(CommandFailure) -> (named: Set<Original>, replacement: [UInt8]?) {
        var named: Set<Original> = []
        for text in invocation.arguments.values("at") {
            guard let letter = Original(text) else {
                throw .usage(
                    "--at: \(Sanitised.quoted(text)) is no place; expected topic:partition:offset@time, as --dry-run shows it")
            }
            named.insert(letter)
        }
        guard let path = invocation.arguments.value("value") else { return (named, nil) }
        guard named.count == 1 else { throw CommandFailure(ReplayFailure.replacement(.notOnePlace)) }
        return (named, try InputFile.read(path, or: invocation.streams))
    }

    /// The times between which the dead letters were written.
    private static func range(_ invocation: Invocation, now: Int64) throws(CommandFailure) -> ResultFilter {
        let words = ["since", "until"].compactMap { name in invocation.arguments.value(name).map { "\(name):\($0)" } }
        let zone = invocation.zone
        do throws(FilterError) {
            let range = try ResultFilter(words.joined(separator: " "), now: now, zone: zone)
            invocation.noteZone(zone, of: range)
            return range
        } catch {
            throw .usage("--since or --until: \(Sanitised.quoted(error.word)) \(error.reason)")
        }
    }

    private static func show(
        _ plan: DeadLetterPlan, at pace: ReplayPace, _ path: String?, _ invocation: Invocation
    ) throws(CommandFailure) -> ExitCode {
        let counts = plan.header.counts
        var table = Table("RECORD", "FROM", "SOURCE", "REASON", "GOES BACK", "TEXT")
        for sample in plan.samples {
            table.add(
                sample.record.description, sample.source.map { Sanitised.line($0) } ?? "-",
                sample.publisher.map { Sanitised.line($0) } ?? "-",
                sample.code.map { Sanitised.line($0) } ?? "-", sample.leftover.map { "no: \($0.rawValue)" } ?? "yes",
                Sanitised.line(sample.text))
        }
        var json = ReplayReport(plan.header, job: nil, now: 0).line(at: pace, path: path)
        json.add("letters", array: plan.samples.map(\.json))
        try invocation.streams.out(invocation.arguments.format(), table, [json.bytes])
        invocation.note(left: counts.left)
        guard counts.requests > 0 else {
            throw CommandFailure(
                .nothingMatched, "there is nothing to replay: \(Counted.text(counts.matched, "record matches", "records match"))")
        }
        invocation.streams.note("\(counts.requests) of \(counts.matched) records would go back; without --dry-run they do")
        return .done
    }
}

extension DeadLetterPlan.Sample {
    /// The letter without its text, which may have handles of devices.
    fileprivate var json: [UInt8] {
        JSONObject([
            "id": record.description, "from": source, "source": publisher, "code": code, "can_go_back": leftover == nil,
            "left": leftover?.rawValue,
        ]).bytes
    }
}
