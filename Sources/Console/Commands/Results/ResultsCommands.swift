import Kafka
import PushModel
import Settings

extension Command {
    private static let since = Flag("since", "TIME", "Only results since then: 1h, 7d, or 2026-11-21T17:00:00Z")
    private static let timeout = Flag("timeout", "DURATION", "How long to wait for the brokers", default: "10s")

    /// `pushfan results list`: the newest results.
    static let resultsList = Command(
        "results list", .results, "List the newest results",
        examples: [
            "pushfan results list", "pushfan results list --state failed,rejected --since 1h",
            "pushfan results list --error hub_throttled -n 500 -o ndjson",
        ],
        groups: [
            FlagGroup("Selection", [Flag("limit", "N", "How many", letter: "n", default: "20"), since] + ResultFilter.flags),
            .output(), .kafka(topics: ["results"], and: [timeout]),
        ],
        readOn: "pushfan help results show", run: ResultsCommands.list)

    /// `pushfan results show`: one request's life.
    static let resultsShow = Command(
        "results show", .results, "Show what became of one request", operands: "ID", maximumOperands: 1,
        examples: [
            "pushfan results show push.requests.v1:0:0", "pushfan results show 01J8Z6Q7X1J3N5V7B9D1F3H5K7 --wait",
            "pushfan results show 01J8Z6Q7X1J3N5V7B9D1F3H5K7 -o json",
        ],
        groups: [
            FlagGroup(
                "Selection", [since, Flag("wait", nil, "Wait for the result if there is none yet; 75 if time runs out")]),
            .output(),
            .kafka(
                topics: ["results"],
                and: [Flag("timeout", "DURATION", "How long to wait for the brokers, or for the result", default: "30s")]),
        ],
        readOn: "pushfan help explain", run: ResultsCommands.show)

    /// `pushfan results tail`: results as they come.
    static let resultsTail = Command(
        "results tail", .results, "Follow the results as they come",
        examples: [
            "pushfan results tail", "pushfan results tail --state failed --state rejected",
            "pushfan results tail --since 10m -o ndjson",
        ],
        groups: [
            FlagGroup("Selection", [Flag("limit", "N", "Stop after so many", letter: "n"), since] + ResultFilter.flags),
            .output([.table, .ndjson]), .kafka(topics: ["results"], and: [timeout]),
        ],
        readOn: "pushfan help results list", run: ResultsCommands.tail)
}

enum ResultsCommands {
    static func list(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let settings = try invocation.settings()
        let search = ResultSearch(
            settings: settings, filter: ResultFilter(invocation.arguments),
            limit: try invocation.arguments.integer("limit", in: 1...1_000_000) ?? 20, since: try since(invocation),
            now: invocation.surroundings.now(), timeout: try invocation.arguments.duration("timeout") ?? .seconds(10))
        let records: [ResultRecord]
        do { records = try search.run() } catch { throw failure(error, settings, invocation) }
        guard !records.isEmpty else { throw CommandFailure(.nothingMatched, "no result matches") }
        var table = Table("AT", "REQUEST", "STATE", "OUTCOME", "ERROR", "HUB")
        for record in records {
            table.add(
                record.at, record.requestID, record.state, record.outcome, record.errorCode ?? "-", record.hub)
        }
        try invocation.streams.out(invocation.arguments.format(), table, records.map(\.line))
        return .done
    }

    static func show(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        guard let id = invocation.arguments.operands.first else {
            throw .usage("which request? give its id", hint: "`pushfan results list` lists the newest")
        }
        let settings = try invocation.settings()
        let timeout = try invocation.arguments.duration("timeout") ?? .seconds(30)
        let since = try since(invocation)
        let records: [ResultRecord]
        do throws(KafkaError) {
            records = try find(id, settings, since: since, timeout, invocation)
        } catch {
            throw failure(error, settings, invocation)
        }
        guard let last = records.last else {
            if invocation.arguments.has("wait") {
                throw CommandFailure(.temporary, "no result for \(Sanitised.quoted(id)) has come in time")
            }
            throw CommandFailure(
                .nothingMatched, "there is no result for \(Sanitised.quoted(id))", hint: "--wait waits for one")
        }
        switch invocation.arguments.format() {
        case .table: for record in records { try invocation.streams.out(ResultStory(record, invocation.streams.traits).text) }
        case .json: try invocation.streams.out(last.line + [UInt8(ascii: "\n")])
        case .ndjson: for record in records { try invocation.streams.out(record.line + [UInt8(ascii: "\n")]) }
        }
        return .done
    }

    /// The results of one request; with `--wait`, those that come while waiting, too.
    private static func find(
        _ id: String, _ settings: Settings, since: Int64?, _ timeout: Duration, _ invocation: Invocation
    ) throws(KafkaError) -> [ResultRecord] {
        let isWaiting = invocation.arguments.has("wait")
        if isWaiting { Interruption.catchSignals() }
        let waiter = isWaiting ? try ResultWaiter(settings, timeout: timeout) : nil
        let search = ResultSearch(
            settings: settings, filter: ResultFilter(id: id), limit: 100, since: since,
            now: invocation.surroundings.now(), timeout: timeout)
        let found = try search.run()
        guard found.isEmpty, let waiter else { return found }
        var request = [PublishedRequest(id: id)]
        waiter.wait(for: &request, until: Deadline(after: timeout))
        return request.compactMap(\.result)
    }

    static func tail(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let settings = try invocation.settings()
        let filter = ResultFilter(invocation.arguments)
        let limit = try invocation.arguments.integer("limit", in: 1...Int.max) ?? .max
        let timeout = try invocation.arguments.duration("timeout") ?? .seconds(10)
        let start = try since(invocation).map { TopicReader.Start.time($0) } ?? .end
        Interruption.catchSignals()
        let reader: TopicReader
        do throws(KafkaError) {
            reader = try TopicReader(
                settings.kafkaConfiguration(), topic: settings.kafka.topics.results, start: start, timeout: timeout)
        } catch {
            throw failure(error, settings, invocation)
        }
        defer { reader.close() }
        invocation.streams.note("following \(settings.kafka.topics.results); Ctrl-C ends it")
        return try follow(reader, filter, limit, settings, invocation)
    }

    private static func follow(
        _ reader: TopicReader, _ filter: ResultFilter, _ limit: Int, _ settings: Settings, _ invocation: Invocation
    ) throws(CommandFailure) -> ExitCode {
        let isTable = invocation.arguments.format() == .table
        var count = 0
        while count < limit {
            if Interruption.isRequested { return Interruption.exitCode }
            var found: ResultRecord?
            let result = reader.read(timeout: .milliseconds(100)) { found = ResultRecord($0) }
            if case .error(let error) = result, error.isAuthorization || error.isFatal {
                throw failure(error, settings, invocation)
            }
            guard let record = found, filter.matches(record) else {
                if result == .empty { try invocation.streams.flush() }
                continue
            }
            count += 1
            if isTable {
                try invocation.streams.out(line(record, invocation.streams.traits))
            } else {
                try invocation.streams.out(record.line + [UInt8(ascii: "\n")])
            }
            if reader.hasReachedEnd { try invocation.streams.flush() }
        }
        return .done
    }

    private static func line(_ record: ResultRecord, _ traits: Streams.Traits) -> String {
        let state = Sanitised.line(record.state).padding(to: 10)
        let painted = Colour.of(state: record.state)?.paint(state, traits) ?? state
        let error = record.errorCode.map { "  " + Sanitised.line($0) } ?? ""
        let message = record.errorMessage.map { "  " + Sanitised.line($0) } ?? ""
        return "\(Sanitised.line(record.at))  \(painted)\(Sanitised.line(record.requestID))\(error)\(message)"
    }

    private static func failure(_ error: KafkaError, _ settings: Settings, _ invocation: Invocation) -> CommandFailure {
        invocation.failure(error, settings.kafka, to: "read \(settings.kafka.topics.results)")
    }

    private static func since(_ invocation: Invocation) throws(CommandFailure) -> Int64? {
        guard let text = invocation.arguments.value("since") else { return nil }
        guard let moment = TimeText.moment(text, now: invocation.surroundings.now(), isPast: true) else {
            throw .usage("--since: \(Sanitised.quoted(text)) is no time; expected 1h, 7d or 2026-11-21T17:00:00Z")
        }
        return moment.milliseconds
    }
}
