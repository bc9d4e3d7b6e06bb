import Publishing
import PushModel
import Replay
import ResultQuery
import TestSupport
import Testing

@testable import Console
@testable import Results

/// Requests in a terminal's list.
@Suite struct RequestListTests {
    /// 2026-11-21T12:00:00Z.
    private static let now: Int64 = 1_795_262_400_000
    private static let berlin = LocalZone(name: "Europe/Berlin", secondsEast: 3600)

    private static func row(_ id: String, _ audience: AudienceSummary, title: String = "Lunch", at moment: Int64 = now)
        -> SearchRow
    {
        var row = SearchRow(id: id, publishedAt: moment)
        var facts = RequestFacts(id: id, audience: audience)
        (facts.title, facts.labels) = (title, ["campaign": "mlb"])
        row.facts = facts
        return row
    }

    private static func lines(_ rows: [SearchRow], width: Int? = nil) -> [String] {
        var traits = Streams.Traits()
        traits.width = width
        let table = RowTable.of(rows, times: RowTimes(zone: berlin, now: now), isCut: true)
        return table.narrow.fitting(traits).lines(traits)
    }

    @Test func aRowSaysToWhomAndWhereItIsInTheZoneOfTheTerminal() {
        var sent = Self.row("r-1", AudienceSummary(.users, names: ["alice"]))
        let result = #"{"request_id":"r-1","kind":"final","state":"sent","hub":"shop","at":"2026-11-21T12:00:01.500Z"}"#
        sent.result = ResultRecord(json: Array(result.utf8), partition: 0, offset: 0, timestamp: Self.now + 1500)
        var delayed = Self.row("r-2", AudienceSummary(.all), at: Self.now - 86_400_000)
        delayed.standing = .init(state: .delayed, due: Self.now + 60_000)
        var large = Self.row("r-3", AudienceSummary(.users, count: 3000, names: ["a", "b", "c"]))
        large.standing = .init(state: .inParts, parts: (300, 214))
        let lines = Self.lines([sent, delayed, large])
        #expect(
            lines[0].split(separator: " ") == ["PUBLISHED", "FINISHED", "REQUEST", "TO", "TITLE", "LABELS", "STATE", "ERROR"])
        #expect(lines[1].split(separator: " ") == ["13:00:00", "13:00:01", "r-1", "alice", "Lunch", "campaign=mlb", "sent", "-"])
        #expect(lines[2].hasPrefix("2026-11-20 13:00:00  ") && lines[2].contains("  delayed to 13:01:00"))
        #expect(lines[3].contains("  3000 users  ") && lines[3].contains("  in_parts 214 of 300"))
    }

    /// An id of 36 characters, a title in wide characters, and control characters from a publisher.
    @Test(arguments: ["Lunch", String(repeating: "午", count: 200), "a\u{1B}[2J\n", ""], [100, 80])
    func aTableFitsATerminal(title: String, width: Int) {
        let row = Self.row("01997c5e-8c00-7a31-9d42-6b1f0e8d5c37", AudienceSummary(.users, count: 3, names: ["a"]), title: title)
        let lines = Self.lines([row], width: width)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= width && !$0.unicodeScalars.contains("\u{1B}") }, "\(lines)")
        #expect(lines.contains { $0.contains("01997c5e-8c00-7a31-9d42-6b1f0e8d5c37") }, "an id is not cut: \(lines)")
        #expect(lines[0].contains("TO") && lines[0].contains("STATE"))
    }

    private static func ending(
        _ line: String, rows: Int, possible: Int = 0, hasMore: Bool = false, since: Int64? = nil, next: Bool = false,
        zone: LocalZone = berlin
    ) throws -> String {
        var page = SearchPage(
            rows: (0..<rows).map { row("r-\($0)", AudienceSummary(.all)) },
            next: next ? .requests(SearchCursor(time: 0, place: nil)) : nil, order: .published,
            searched: SearchExtent(
                source: .scan, since: since.map { Timestamp(milliseconds: $0) }, records: 0, of: 0, isComplete: !next))
        page.possible = (0..<possible).map { row("p-\($0)", AudienceSummary(.all)) }
        page.hasMorePossible = hasMore
        return SearchEnding(page: page, filter: try ResultFilter(line, now: now), zone: zone, now: now).text
    }

    @Test func theLastLineSaysHowFarWasSearchedAndWhatMayHaveReachedWhom() throws {
        #expect(
            try Self.ending("alice", rows: 12, possible: 3, since: Self.now - 1_200_000)
                == "Searched back to 12:40:00 (UTC+1, Europe/Berlin); 12 shown; 3 sends by tag or to all may have reached alice: "
                + "pushfan results list to:all,tags,expression")
        #expect(
            try Self.ending("user:bob state:sent", rows: 1, possible: 20, hasMore: true, zone: .utc)
                == "Searched all that is kept (UTC); 1 shown; 20 or more sends by tag or to all may have reached bob: "
                + "pushfan results list 'state:sent to:all,tags,expression'")
        #expect(
            try Self.ending("state:sent", rows: 1, next: true, zone: .init(name: "-05:30", secondsEast: -19_800))
                == "Searched all that is kept (UTC-5:30); 1 shown, and there are older ones: -n shows more")
        #expect(try Self.ending("alice", rows: 0, possible: 1).contains("; 1 send by tag"))
    }

    /// The commands that results alone answer, and the words that would be passed over.
    @Test(
        arguments: ["results tail", "failed"],
        ["user:alice", "\"alice\"", "title:lunch", "device:a1", "to:all", "state:waiting", "state:held"])
    func whatResultsDoNotSayIsRefused(command: String, word: String) {
        let outcome = Harness().run("\(command) \(word) --bootstrap 127.0.0.1:1 --timeout 300ms")
        #expect(outcome.code == .usage && outcome.messages.contains("results list"), "\(outcome.messages)")
    }

    @Test(arguments: ["state:waiting", "state:failed,held", "state:dead_letter user:alice"])
    func aPlanOfWhatHasNotEndedIsRefused(line: String) {
        let outcome = Harness().run("replay plan \(line) --reason x --bootstrap 127.0.0.1:1 --timeout 300ms")
        #expect(outcome.code == .usage && outcome.messages.contains("nothing to replay"), "\(outcome.messages)")
    }

    /// Programs read results as before, and people the same results where no request is kept.
    @Test(arguments: ["", "state:sent", "label.campaign:mlb"]) func resultsAreListedWhereNoRequestIsKept(line: String) throws {
        let broker = try Broker()
        let result =
            #"{"request_id":"r-1","kind":"final","state":"sent","labels":{"campaign":"mlb"},"at":"2026-11-21T11:00:00.000Z"}"#
        try broker.writeResults([result])
        #expect(broker.harness.run("results list \(line) -o ndjson").output == result + "\n")
        let table = broker.harness.run("results list \(line)")
        #expect(table.lines.count == 2 && table.lines.last?.contains("  r-1  ") == true, "\(table.output) \(table.messages)")
        let rows = broker.harness.run("results list \(line) --json")
        #expect(rows.lines.count == 1 && rows.output.hasPrefix(#"{"id":"r-1","state":"sent","published_at":""#), "\(rows.output)")
    }
}
