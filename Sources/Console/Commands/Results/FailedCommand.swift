import Kafka
import PushModel
import ResultQuery
import SQLite

extension Command {
    /// `pushfan failed`: what failed, grouped by cause.
    static let failed = Command(
        "failed", .results, "Group what failed by its cause, and say what to do", operands: "[FILTER...]",
        maximumOperands: .max, acceptsFilter: true,
        examples: [
            "pushfan failed", "pushfan failed hub:shop since:1h", "pushfan failed --index",
            "pushfan failed safety:safe -error:hub_throttled label.campaign:mlb since:2026-11-21 -o json",
        ],
        groups: [
            FlagGroup("Selection", ResultFilter.flags + [IndexedResults.flag]), .output(OutputFormat.allCases),
            .kafka(
                topics: ["results"],
                and: [Flag("timeout", "DURATION", "How long to wait for the brokers", default: "10s")]),
        ],
        readOn: "pushfan help filters", run: FailedCommand.run)
}

enum FailedCommand {
    /// The states of what did not reach all although it should have.
    private static let states: [ResultState] = [.failed, .partial, .rejected, .expired, .unknown]

    static func run(_ invocation: Invocation) throws(CommandFailure) -> ExitCode {
        var filter = try invocation.filter(invocation.arguments.operands)
        if !filter.mentions(.state) { filter.require(.state, states.map(\.rawValue)) }
        if !filter.mentions(.kind) { filter.require(.kind, ["final", "outcome"]) }
        let timeout = try invocation.arguments.duration("timeout") ?? .seconds(10)
        let scan = ResultScan(invocation, try invocation.settings(), timeout: timeout)
        let (tally, count) = try count(filter, scan, invocation)
        guard tally.count > 0 else { throw CommandFailure(.nothingMatched, "nothing failed that matches, of \(count) results") }
        let groups = tally.groups
        try invocation.streams.out(invocation.arguments.format(), table(groups), groups.map(json))
        if invocation.arguments.format().isForPeople { try writeRemedies(groups, invocation.streams) }
        invocation.streams.note(
            "\(tally.count) of \(count) results; `pushfan results list state:failed error:CODE` lists them one by one")
        return .done
    }

    private static func count(
        _ filter: ResultFilter, _ scan: ResultScan, _ invocation: Invocation
    ) throws(CommandFailure) -> (tally: FailureTally, count: Int) {
        let known = try IndexedResults(invocation, scan).answer { index throws(SQLiteError) in try index.failures(filter) }
        if let known { return known }
        let reader = try scan.open(filter.since.map { .time($0) } ?? .beginning, BackwardScan.stop(filter))
        defer { reader.close() }
        var matcher = ResultMatcher(filter)
        var tally = FailureTally()
        var count = 0
        try scan.read(reader) { record in
            let time = record.timestamp ?? 0
            if filter.covers(time) { count += 1 }
            guard let value = record.value, matcher.matches(value, writtenAt: time) else { return }
            tally.add(matcher.document, writtenAt: time)
        }
        return (tally, count)
    }

    private static func table(_ groups: [FailureTally.Group]) -> Table {
        var table = Table([
            Table.Column(title: "COUNT", isNumber: true), Table.Column(title: "ERROR"), Table.Column(title: "HUB"),
            Table.Column(title: "PLATFORMS", spare: 2), Table.Column(title: "FIRST SEEN", spare: 1),
            Table.Column(title: "LAST SEEN", spare: 3), Table.Column(title: "REPLAY"),
            Table.Column(title: "LATEST REQUEST", isWide: true),
            Table.Column(title: "REMEDY", isWide: true),
        ])
        for group in groups {
            table.add(
                String(group.count), text(group.cause.code), text(group.cause.hub),
                text(group.cause.platforms.joined(separator: ",")), Timestamp(milliseconds: group.first).text,
                Timestamp(milliseconds: group.last).text,
                text(safety(group).map { "\($0.name) \($0.count)" }.joined(separator: ", ")), text(group.latestRequest),
                text(explanation(group)?.remedy ?? ""))
        }
        return table
    }

    private static func text(_ cell: String) -> String { cell.isEmpty ? "-" : cell }

    /// How many of a group may be replayed how.
    private static func safety(_ group: FailureTally.Group) -> [(name: String, count: Int)] {
        ReplaySafety.allCases.compactMap { word in group.safety[word].map { (word.rawValue, $0) } }
    }

    private static func explanation(_ group: FailureTally.Group) -> ErrorCode.Explanation? {
        ErrorCode(rawValue: group.cause.code)?.explanation
    }

    private static func json(_ group: FailureTally.Group) -> [UInt8] {
        var object = JSONObject()
        object.add("count", group.count)
        object.add("code", group.cause.code)
        object.add("hub", group.cause.hub)
        object.add("platforms", array: group.cause.platforms.map(JSONObject.text))
        object.add("first_seen", Timestamp(milliseconds: group.first).text)
        object.add("last_seen", Timestamp(milliseconds: group.last).text)
        var counts = JSONObject()
        for (name, count) in safety(group) { counts.add(name, count) }
        object.add("replay_safety", raw: counts.bytes)
        object.add("latest_request", group.latestRequest)
        object.add("cause", explanation(group)?.cause)
        object.add("remedy", explanation(group)?.remedy)
        return object.bytes
    }

    /// What to do about each code, once.
    private static func writeRemedies(_ groups: [FailureTally.Group], _ streams: Streams) throws(CommandFailure) {
        var codes: [ErrorCode] = []
        for case let code? in groups.map({ ErrorCode(rawValue: $0.cause.code) }) where !codes.contains(code) {
            codes.append(code)
        }
        let width = codes.map(\.rawValue.count).max() ?? 0
        if !codes.isEmpty { try streams.out("") }
        for code in codes {
            let room = streams.traits.width.map { max($0 - width - 2, 20) } ?? .max
            for (index, line) in DisplayWidth.wrap(code.explanation.remedy, to: room).enumerated() {
                try streams.out((index == 0 ? code.rawValue : "").padding(to: width + 2) + line)
            }
        }
    }
}
