import Kafka
import Publishing
import PushModel
import Replay
import ResultQuery
import Settings

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
        let range = try range(arguments, now: now)
        header.source = .deadletter
        header.filter = range.description
        header.reason = try PlanCommand.reason(invocation) ?? ""
        if !arguments.has("dry-run") { try RunCommand.requireReason(header) }
        header.edits = arguments.values("set")
        let edits = try header.manner().edits
        let path = arguments.value("file") ?? "replay-\(header.jobID).ndjson"
        let settings = try invocation.settings()
        let timeout = try arguments.duration("timeout") ?? .seconds(30)
        let log = try invocation.jobLog(settings, timeout: timeout)
        header.jobsOffset = log.end
        var plan = DeadLetterPlan(header, edits, log.history, topic: settings.kafka.topics.deadLetter, path)
        try plan.make(range, codes: arguments.values("code"), ResultScan(invocation, settings, timeout: timeout))
        if arguments.has("dry-run") || plan.header.counts.requests == 0 { return try show(plan, path, invocation) }
        invocation.streams.note(
            "\(plan.header.counts.requests) of \(plan.header.counts.matched) records; the plan is \(Sanitised.line(path))")
        sayWhatIsLeft(plan.header.counts, invocation)
        return try RunCommand.run(plan.header, path, invocation)
    }

    private static func sayWhatIsLeft(_ counts: ReplayCounts, _ invocation: Invocation) {
        for reason in Leftover.allCases {
            if let count = counts.left[reason] { invocation.streams.note("left out: \(count), \(reason.explanation)") }
        }
    }

    /// When the dead letters were written.
    private static func range(_ arguments: Arguments, now: Int64) throws(CommandFailure) -> ResultFilter {
        var words: [String] = []
        if let since = arguments.value("since") { words.append("since:\(since)") }
        if let until = arguments.value("until") { words.append("until:\(until)") }
        do throws(FilterError) {
            return try ResultFilter(words.joined(separator: " "), now: now)
        } catch {
            throw .usage("--since or --until: \(Sanitised.quoted(error.word)) \(error.reason)")
        }
    }

    private static func show(
        _ plan: DeadLetterPlan, _ path: String, _ invocation: Invocation
    ) throws(CommandFailure) -> ExitCode {
        let counts = plan.header.counts
        var table = Table("RECORD", "TOPIC", "REASON", "GOES BACK")
        for sample in plan.samples { table.add(sample.place, sample.topic, sample.reason, sample.outcome) }
        var object = JSONObject()
        object.add("job_id", plan.header.jobID)
        object.add("file", path)
        object.add("counts", raw: counts.json)
        try invocation.streams.out(invocation.arguments.format(), table, [object.bytes])
        sayWhatIsLeft(counts, invocation)
        guard counts.requests > 0 else {
            throw CommandFailure(.nothingMatched, "there is nothing to replay: \(counts.matched) records match")
        }
        invocation.streams.note(
            "\(counts.requests) of \(counts.matched) records would go back; `pushfan replay run \(Sanitised.line(path))` does it")
        return .done
    }
}

/// Finds the dead letters that can be given back, and writes them into a plan's file.
struct DeadLetterPlan {
    /// One of those that are shown.
    struct Sample {
        let place: String
        let topic: String
        let reason: String
        let outcome: String
    }

    /// The file's first line.
    private(set) var header: ReplayPlanHeader
    /// The first of them.
    private(set) var samples: [Sample] = []
    private let edits: [RequestEdit]
    private let history: ReplayHistory
    private let topic: String
    private let path: String

    /// - Parameters:
    ///   - header: What is known before.
    ///   - edits: What is changed.
    ///   - history: What was given back before.
    ///   - topic: The dead-letter topic.
    ///   - path: The plan's file.
    init(_ header: ReplayPlanHeader, _ edits: [RequestEdit], _ history: ReplayHistory, topic: String, _ path: String) {
        self.header = header
        self.edits = edits
        self.history = history
        self.topic = topic
        self.path = path
    }

    /// Reads the topic and writes the file.
    ///
    /// - Parameters:
    ///   - range: When they were written.
    ///   - codes: Why they could not be understood; any reason, when none is named.
    ///   - scan: Reads the topic.
    /// - Throws: The topic cannot be read, or the file not be written.
    mutating func make(_ range: ResultFilter, codes: [String], _ scan: ResultScan) throws(CommandFailure) {
        let file = try LineFile(path)
        let scan = scan.of(topic)
        let reader = try scan.open(range.since.map { .time($0) } ?? .beginning, BackwardScan.stop(range))
        defer { reader.close() }
        var places: [RecordPlace] = []
        try scan.read(reader) { record in
            guard range.covers(record.timestamp ?? 0) else { return }
            let place = RecordPlace(topic: topic, partition: record.partition, offset: record.offset)
            let letter = DeadLetter(FetchedRecord(record))
            guard codes.isEmpty || codes.contains(letter?.reason ?? "") else { return }
            header.counts.matched += 1
            let reason = self.reason(letter, place)
            if let reason {
                header.counts.left[reason, default: 0] += 1
                file.add(ReplayLeft(reason: reason, requestID: place.description, place: place, sends: .all).json)
            } else {
                places.append(place)
            }
            guard samples.count < PlanMaker.sampleCount else { return }
            samples.append(
                Sample(
                    place: place.description, topic: letter?.topic ?? "-", reason: letter?.reason ?? "-",
                    outcome: reason.map { "no: \($0.rawValue)" } ?? "yes"))
        }
        for (number, place) in places.sorted().enumerated() {
            file.add(ReplayItem(number: number, requestID: place.description, place: place, sends: .all).json)
        }
        header.counts.eligible = places.count
        header.counts.requests = places.count
        try file.finish(header: header.json)
    }

    /// Why a dead letter is not given back; nil when it is.
    private func reason(_ letter: DeadLetter?, _ place: RecordPlace) -> Leftover? {
        guard let letter else { return .invalid }
        guard history.replayed(place).isEmpty else { return .replayed }
        guard letter.isWhole else { return .cut }
        return letter.edited(edits) == nil ? .invalid : nil
    }
}
