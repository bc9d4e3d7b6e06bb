import Kafka
import Publishing
import PushModel
import ResultQuery
import SQLite

/// `pushfan results show`.
enum ShowCommand {
    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        guard let id = invocation.arguments.operands.first else {
            throw .usage("which request? give its id", hint: "`pushfan results list` lists the newest")
        }
        let filter = try invocation.filter([])
        let timeout = try invocation.arguments.duration("timeout") ?? .seconds(30)
        let settings = try invocation.settings()
        let scan = ResultScan(invocation, settings, timeout: timeout)
        let isWaiting = invocation.arguments.has("wait")
        if isWaiting { Interruption.catchSignals() }
        // Open before the search, so that nothing comes unseen between the two.
        let later = isWaiting ? try scan.openAtEnd() : nil
        defer { later?.close() }
        let known = try IndexedResults(invocation, scan).answer { index throws(SQLiteError) in try index.life(of: id, filter) }
        var life: RequestLife
        if let known { life = known } else { life = try look(for: id, filter, scan, now: invocation.surroundings.now()) }
        if let later { try follow(later, &life, until: Deadline(after: timeout), scan, invocation) }
        guard let latest = life.latest else {
            if isWaiting {
                throw CommandFailure(
                    .temporary, "no result for \(Sanitised.quoted(id)) has come in time",
                    hint: "without --wait it says where it is")
            }
            let now = Timestamp(milliseconds: invocation.surroundings.now())
            var search = WhereaboutsSearch(for: id, scan, settings, timeout: timeout, now: now)
            try write(search.run(invocation), invocation)
            throw CommandFailure(
                .nothingMatched, "there is no result for \(Sanitised.quoted(id)) yet", hint: "--wait waits for one")
        }
        try write(life, latest, invocation)
        guard isWaiting, life.final == nil else { return .done }
        throw CommandFailure(.temporary, "the final result has not come in time")
    }

    /// Reads backwards from now to where the request was published.
    private static func look(
        for id: String, _ filter: ResultFilter, _ scan: ResultScan, now: Int64
    ) throws(CommandFailure) -> RequestLife {
        var life = RequestLife(id: id)
        var backward = BackwardScan(scan, filter, now: now)
        while backward.reached > life.beginning {
            guard try backward.readNext({ if filter.covers($0.timestamp ?? 0) { life.take($0) } }) else { break }
        }
        return life
    }

    /// Reads what comes until the final result is there, and says what came before it.
    private static func follow(
        _ later: TopicReader, _ life: inout RequestLife, until deadline: Deadline, _ scan: ResultScan, _ invocation: Invocation
    ) throws(CommandFailure) {
        while life.final == nil && !deadline.hasPassed {
            if Interruption.isRequested { throw CommandFailure(Interruption.exitCode, "interrupted") }
            let known = life.own.count
            let result = later.read(timeout: deadline.step) { life.take($0) }
            if case .error(let error) = result, error.isAuthorization || error.isFatal { throw scan.failure(error) }
            if life.own.count > known, life.final == nil, let latest = life.own.last {
                invocation.streams.note(ResultTable.line(latest, isWide: true, Streams.Traits()))
            }
        }
    }

    private static func write(_ telling: WhereaboutsTelling, _ invocation: Invocation) throws(CommandFailure) {
        let format = invocation.arguments.format()
        switch format {
        case .table, .wide: try invocation.streams.out(telling.text)
        case .json: try invocation.streams.out(telling.json + [UInt8(ascii: "\n")])
        case .ndjson, .csv: try invocation.streams.out(format, telling.table, [telling.json])
        }
    }

    private static func write(
        _ life: RequestLife, _ latest: ResultRecord, _ invocation: Invocation
    ) throws(CommandFailure) {
        let format = invocation.arguments.format()
        switch format {
        case .table, .wide:
            let story = ResultStory(life, invocation.streams.traits, isWide: format == .wide)
            try invocation.streams.out(story.text)
        case .json: try invocation.streams.out(latest.line + [UInt8(ascii: "\n")])
        case .ndjson, .csv:
            let records = life.own + life.replays
            try invocation.streams.out(format, ResultTable.of(records), records.map(\.line))
        }
    }
}
