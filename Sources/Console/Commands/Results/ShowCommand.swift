import Jobs
import Kafka
import Publishing
import PushModel
import Replay
import ResultQuery

/// `pushfan results show`.
enum ShowCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        guard let id = invocation.arguments.operands.first else {
            throw .usage("which request? give its id", hint: "`pushfan results list` lists the newest")
        }
        let filter = try invocation.filter([])
        let timeout = try invocation.arguments.duration("timeout") ?? .seconds(30)
        let settings = try invocation.settings()
        let answers = try invocation.results(settings, timeout: timeout)
        let isWaiting = invocation.arguments.has("wait")
        if isWaiting { Interruption.catchSignals() }
        let life = try invocation.perform(settings) { () throws(JobFailure) in
            try find(id, filter, answers, waiting: isWaiting ? timeout : nil, invocation.streams)
        }
        guard let latest = life.latest else {
            if isWaiting {
                throw CommandFailure(
                    .temporary, "no result for \(Sanitised.quoted(id)) has come in time",
                    hint: "without --wait it says where it is")
            }
            let context = invocation.jobContext(settings, timeout: timeout)
            var search = WhereaboutsSearch(for: id, in: settings.groupTerms, context: context)
            let report = try invocation.perform(settings) { () throws(JobFailure) in try search.run() }
            try write(report, invocation)
            if invocation.arguments.format().isForPeople, let origin = report.whereabouts.origin {
                let place = RecordPlace(topic: origin.topic, partition: origin.partition, offset: origin.offset)
                for span in held(id, at: place, hub: nil, final: nil, context, invocation) {
                    try invocation.streams.out("held " + Sanitised.line(span.text(at: Timestamp(milliseconds: context.now()))))
                }
            }
            throw CommandFailure(
                .nothingMatched, "there is no result for \(Sanitised.quoted(id)) yet", hint: "--wait waits for one")
        }
        try write(life, latest, invocation, invocation.jobContext(settings, timeout: timeout))
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

    private static func write(_ report: WhereaboutsReport, _ invocation: Invocation) throws(CommandFailure) {
        let format = invocation.arguments.format()
        switch format {
        case .table, .wide: try invocation.streams.out(report.text)
        case .json: try invocation.streams.out(report.json + [UInt8(ascii: "\n")])
        case .ndjson, .csv: try invocation.streams.out(format, report.table, [report.json])
        }
    }

    /// The times for which holds concerned a request. None where they cannot be read, which few users may.
    private static func held(
        _ id: String, at place: RecordPlace?, hub: String?, final: Timestamp?, _ context: JobContext, _ invocation: Invocation
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
        _ life: RequestLife, _ latest: ResultRecord, _ invocation: Invocation, _ context: JobContext
    ) throws(CommandFailure) {
        let format = invocation.arguments.format()
        switch format {
        case .table, .wide:
            var story = ResultStory(life: life, traits: invocation.streams.traits, isWide: format == .wide)
            story.now = Timestamp(milliseconds: context.now())
            story.held = held(
                life.id, at: life.place, hub: latest.hub.isEmpty ? nil : latest.hub,
                final: life.final.map { Timestamp(milliseconds: $0.timestamp) }, context, invocation)
            try invocation.streams.out(story.text)
        case .json: try invocation.streams.out(latest.line + [UInt8(ascii: "\n")])
        case .ndjson, .csv:
            let records = life.own + life.replays
            try invocation.streams.out(format, ResultTable.of(records), records.map(\.line))
        }
    }
}
