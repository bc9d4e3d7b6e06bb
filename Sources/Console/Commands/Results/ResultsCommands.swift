import Kafka
import Publishing
import PushModel
import ResultQuery
import SQLite
import Settings

extension Command {
    private static let timeout = Flag("timeout", "DURATION", "How long to wait for the brokers", default: "10s")

    /// `pushfan results list`: the newest results.
    static let resultsList = Command(
        "results list", .results, "List the newest results", operands: "[FILTER...]", maximumOperands: .max,
        acceptsFilter: true,
        examples: [
            "pushfan results list", "pushfan results list state:failed,rejected -hub:test since:1h",
            "pushfan results list error:hub_throttled label.campaign:mlb -n 500 -o csv",
            "pushfan results list 'took:>30s' 'attempts:>2' since:2026-11-21 until:2026-11-22T10:00Z -o wide",
        ],
        groups: [
            FlagGroup(
                "Selection",
                [
                    Flag("limit", "N", "How many", letter: "n", default: "20"),
                    Flag("newest", "first|last", "Where the newest stand", default: "last", choices: ["first", "last"]),
                ] + ResultFilter.flags + [IndexedResults.flag]),
            .output(OutputFormat.allCases), .kafka(topics: ["results"], and: [timeout]),
        ],
        readOn: "pushfan help filters, pushfan help --page results", run: ResultsCommands.list)

    /// `pushfan results show`: one request's life.
    static let resultsShow = Command(
        "results show", .results, "Show what became of one request, or where it is", operands: "ID", maximumOperands: 1,
        examples: [
            "pushfan results show push.requests.v1:0:0", "pushfan results show 01997c5e-8c00-7a31-9d42-6b1f0e8d5c37 --wait",
            "pushfan results show 01997c5e-8c00-7a31-9d42-6b1f0e8d5c37 -o wide",
        ],
        groups: [
            FlagGroup(
                "Selection",
                [
                    Flag("since", "TIME", "Look at results since then only: 1h, 7d or 2026-11-21T17:00Z"),
                    Flag("wait", nil, "Wait for the final result; 75 if time runs out"), IndexedResults.flag,
                ]),
            .output(OutputFormat.allCases),
            .kafka(
                topics: ["requests", "results", "control"],
                and: FlagGroup.settings([("group", "NAME", "kafka.group_id")]) + [
                    Flag("timeout", "DURATION", "How long to wait for the brokers, or for the result", default: "30s")
                ]),
        ],
        readOn: "pushfan help explain", run: ShowCommand.run)

    /// `pushfan results tail`: results as they come.
    static let resultsTail = Command(
        "results tail", .results, "Follow the results as they come", operands: "[FILTER...]", maximumOperands: .max,
        acceptsFilter: true,
        examples: [
            "pushfan results tail", "pushfan results tail -state:sent hub:shop",
            "pushfan results tail since:10m platform:apple -o ndjson",
        ],
        groups: [
            FlagGroup("Selection", [Flag("limit", "N", "Stop after so many", letter: "n")] + ResultFilter.flags),
            .output([.table, .wide, .ndjson, .csv]), .kafka(topics: ["results"], and: [timeout]),
        ],
        readOn: "pushfan help filters", run: TailCommand.run)
}

enum ResultsCommands {
    /// Lists what is found, or says that nothing is.
    static func list(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        let filter = try invocation.filter(invocation.arguments.operands)
        let limit = try invocation.arguments.integer("limit", in: 1...1_000_000) ?? 20
        let timeout = try invocation.arguments.duration("timeout") ?? .seconds(10)
        let scan = ResultScan(invocation, try invocation.settings(), timeout: timeout)
        let known = try IndexedResults(invocation, scan).answer { index throws(SQLiteError) in try index.newest(limit, filter) }
        var records: [ResultRecord]
        if let known { records = known } else { records = try newest(limit, filter, scan, now: invocation.surroundings.now()) }
        guard !records.isEmpty else { throw CommandFailure(.nothingMatched, "no result matches") }
        if invocation.arguments.value("newest") == "first" { records.reverse() }
        try invocation.streams.out(invocation.arguments.format(), ResultTable.of(records), records.map(\.line))
        return .done
    }

    /// The newest results that match, oldest first.
    private static func newest(
        _ limit: Int, _ filter: ResultFilter, _ scan: ResultScan, now: Int64
    ) throws(CommandFailure) -> [ResultRecord] {
        var backward = BackwardScan(scan, filter, now: now)
        var matcher = ResultMatcher(filter)
        var found: [ResultRecord] = []
        func keepNewest() {
            found.sort(by: ResultRecord.isOlder)
            found.removeFirst(max(0, found.count - limit))
        }
        repeat {
            let isRead = try backward.readNext { record in
                guard let value = record.value, matcher.matches(value, writtenAt: record.timestamp ?? 0),
                    let result = ResultRecord(record)
                else { return }
                found.append(result)
                if found.count >= limit * 4 && found.count >= 4096 { keepNewest() }
            }
            guard isRead else { break }
            // Records out of the order of their times may be older than what was reached, and newer ones still to come.
        } while found.count(where: { $0.timestamp >= backward.reached }) < limit
        keepNewest()
        return found
    }
}
