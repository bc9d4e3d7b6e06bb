import JobSupport
import Kafka
import Publishing
import PushModel
import Replay
import ResultQuery
import Results
import Settings

/// `pushfan results show`.
enum ShowCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        guard let id = invocation.arguments.operands.first else {
            throw .usage("which request? give its id", hint: "`pushfan results list` lists the newest")
        }
        let filter = try invocation.filter([])
        let (settings, context) = try invocation.job()
        let answers = try invocation.results(context)
        let isWaiting = invocation.arguments.has("wait")
        if isWaiting { Interruption.catchSignals() }
        let life = try invocation.perform(
            find(id, filter, answers, waiting: isWaiting ? context.timeout : nil, invocation.streams), with: settings)
        guard let latest = life.latest else {
            if isWaiting {
                throw CommandFailure(
                    .temporary, "no result for \(Sanitised.quoted(id)) has come in time",
                    hint: "without --wait it says where it is")
            }
            var search = WhereaboutsSearch(for: id, in: settings.groupTerms, context: context)
            let report = try invocation.perform(search.run(), with: settings)
            var story = RequestStory(report)
            let place = report.place
            if let place { story.take(from: context, at: place, by: settings) }
            try write(report, verdict: story.verdict(for: invocation), for: invocation)
            if invocation.arguments.format().isForPeople {
                for span in held(id, at: place, hub: nil, final: nil, by: context, for: invocation) {
                    try invocation.streams.out("held " + Sanitised.line(span.text(at: Timestamp(milliseconds: context.now()))))
                }
            }
            throw CommandFailure(
                .nothingMatched, "there is no result for \(Sanitised.quoted(id)) yet", hint: "--wait waits for one")
        }
        var story = RequestStory(life)
        var place = life.place
        // The request that had the id first may be on its way, as the gateway says of it, too.
        if life.final?.repeatsItsID == true {
            var search = WhereaboutsSearch(for: id, in: settings.groupTerms, context: context)
            let report = try invocation.perform(search.run(), with: settings)
            if ![.done, .unknown].contains(report.whereabouts.state) {
                story = RequestStory(report)
                place = report.place
            }
        }
        if let place { story.take(from: context, at: place, by: settings) }
        story.findOriginal(by: answers, context)
        let outcome = story.outcomeState(at: Timestamp(milliseconds: context.now()))
        try write(life, latest, outcome: outcome, verdict: story.verdict(for: invocation), for: invocation, by: context)
        guard isWaiting, life.final == nil else { return .done }
        throw CommandFailure(.temporary, "the final result has not come in time")
    }

    /// Gathers a request's results, and those that come until the final one is there.
    private static func find(
        _ id: String, _ filter: ResultFilter, _ answers: ResultAnswers, waiting timeout: Duration?, _ streams: Streams
    ) throws(JobFailure) -> RequestLife {
        // Opened before the search, so that no result comes unseen between the two.
        let later = timeout != nil ? try answers.scan.openAtEnd() : nil
        defer { later?.close() }
        var life = try answers.life(of: id, filter)
        guard let later else { return life }
        try answers.follow(later, &life, until: Deadline(after: timeout)) { latest in
            streams.note(ResultTable.line(latest, isWide: true, Streams.Traits()))
        }
        return life
    }

    private static func write(
        _ report: WhereaboutsReport, verdict: Verdict, for invocation: Invocation
    ) throws(CommandFailure) {
        let format = invocation.arguments.format()
        switch format {
        case .table, .wide: try invocation.streams.out(verdict.lines + "\n\n" + report.text)
        case .json: try invocation.streams.out(verdict.added(to: report.json) + [UInt8(ascii: "\n")])
        case .ndjson, .csv: try invocation.streams.out(format, report.table, [report.json])
        }
    }

    /// The times for which holds concerned a request. None where they cannot be read, which few users may.
    private static func held(
        _ id: String, at place: RecordPlace?, hub: String?, final: Timestamp?, by context: JobContext, for invocation: Invocation
    ) -> [HeldSpan] {
        guard let place else { return [] }
        do throws(JobFailure) {
            return try context.heldSpans(ofRequest: id, at: place, hub: hub, final: final)
        } catch {
            let failure = CommandFailure(error, brokers: context.kafka.bootstrapServers)
            invocation.streams.note("not asked: which holds concerned it: \(failure.message)")
            return []
        }
    }

    private static func write(
        _ life: RequestLife, _ latest: ResultRecord, outcome: OutcomeState?, verdict: Verdict, for invocation: Invocation,
        by context: JobContext
    ) throws(CommandFailure) {
        let format = invocation.arguments.format()
        switch format {
        case .table, .wide:
            var story = ResultStory(life: life, traits: invocation.streams.traits, isWide: format == .wide)
            story.outcome = outcome
            story.now = Timestamp(milliseconds: context.now())
            story.held = held(
                life.id, at: life.place, hub: latest.hub.isEmpty ? nil : latest.hub,
                final: life.final.map { Timestamp(milliseconds: $0.timestamp) }, by: context, for: invocation)
            try invocation.streams.out(verdict.lines + "\n\n" + story.text)
        case .json: try invocation.streams.out(verdict.added(to: latest.line, outcome: outcome) + [UInt8(ascii: "\n")])
        case .ndjson, .csv:
            let records = life.own + life.replays
            try invocation.streams.out(format, ResultTable.of(records), records.map(\.line))
        }
    }
}

extension WhereaboutsReport {
    /// The place at which the request was published, or nil where that is not known.
    fileprivate var place: RecordPlace? {
        whereabouts.origin.map { RecordPlace(topic: $0.topic, partition: $0.partition, offset: $0.offset) }
    }
}

extension RequestStory {
    /// The longest wait for a record that makes a verdict better, and is no condition of it.
    private static let patience = Duration.seconds(3)

    /// Takes what the record says that it was published with, as far as that can be read.
    fileprivate mutating func take(from context: JobContext, at place: RecordPlace, by settings: Settings) {
        var context = context
        context.timeout = min(context.timeout, Self.patience)
        let now = Timestamp(milliseconds: context.now())
        guard let (request, _) = (try? context.request(id, at: place)) ?? nil else { return }
        audience = RequestFacts(request).audience
        let hub = context.hubNames?.name(of: request)
        let choices = Set(settings.allHubs.filter { hub == nil || $0.routeName == hub }.map(\.tracksOutcomes))
        take(request, tracksByDefault: choices.count == 1 ? choices.first : nil, now: now)
        guard ending == nil else { return }
        let spans = (try? context.heldSpans(ofRequest: id, at: place, hub: hub, final: nil)) ?? []
        take(spans, now: now, namesAuthors: true)
    }

    /// Looks for the request that it repeats, and what became of that.
    fileprivate mutating func findOriginal(by answers: ResultAnswers, _ context: JobContext) {
        guard let place = (original?.id).flatMap({ RecordPlace($0) }),
            let (request, _) = (try? context.request(at: place)) ?? nil
        else { return }
        let other = request.document.string(request.id)
        guard other != id else { return }
        let life = try? answers.life(of: other, ResultFilter())
        original = Original(id: other, state: life.map { $0.final?.state ?? "" })
    }

    /// The verdict in the terminal's zone.
    fileprivate func verdict(for invocation: Invocation) -> Verdict {
        Verdict.of(self, now: Timestamp(milliseconds: invocation.surroundings.now()), zone: invocation.zone)
    }
}

extension Verdict {
    /// The verdict, and its reason on a line of its own.
    fileprivate var lines: String { [text, reason].compactMap(\.self).map { Sanitised.line($0) }.joined(separator: "\n") }

    /// A JSON object with the outcome of all calls, where there is one, and the verdict behind its members.
    fileprivate func added(to object: [UInt8], outcome: OutcomeState? = nil) -> [UInt8] {
        let end = object.lastIndex(of: UInt8(ascii: "}")).map { $0 + 1 } ?? object.count
        var object = JSONObject(continuing: Array(object[..<end]))
        object.add("outcome_state", value: outcome?.rawValue)
        object.add("verdict", raw: json)
        return object.bytes
    }
}
