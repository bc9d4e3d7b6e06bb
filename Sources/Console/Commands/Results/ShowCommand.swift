import Jobs
import Kafka
import Publishing
import PushModel
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
            try write(invocation.perform(settings) { () throws(JobFailure) in try search.run() }, invocation)
            throw CommandFailure(
                .nothingMatched, "there is no result for \(Sanitised.quoted(id)) yet", hint: "--wait waits for one")
        }
        try write(life, latest, invocation)
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

    private static func write(
        _ life: RequestLife, _ latest: ResultRecord, _ invocation: Invocation
    ) throws(CommandFailure) {
        let format = invocation.arguments.format()
        switch format {
        case .table, .wide:
            let story = ResultStory(life: life, traits: invocation.streams.traits, isWide: format == .wide)
            try invocation.streams.out(story.text)
        case .json: try invocation.streams.out(latest.line + [UInt8(ascii: "\n")])
        case .ndjson, .csv:
            let records = life.own + life.replays
            try invocation.streams.out(format, ResultTable.of(records), records.map(\.line))
        }
    }
}
