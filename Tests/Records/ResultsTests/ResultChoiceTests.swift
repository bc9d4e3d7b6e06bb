import Publishing
import PushModel
import Replay
import ResultQuery
import Testing

@testable import Results

/// Of the results with the id of a request, one says what became of the request that stands at a place.
@Suite struct ResultChoiceTests {
    /// A result by its parts, in the order of writing.
    struct Line: Sendable {
        var state = "sent"
        var kind = "final"
        /// The offset that it names as its origin, or nil for none.
        var offset: Int64? = 3
        /// The time of publication that it names, or nil for none.
        var time: Int64? = 7
        var source = "shop"
        var isPart = false

        func result(at number: Int) -> ResultRecord? {
            let origin = offset.map { #","origin":{"topic":"lane","partition":0,"offset":"\#($0)"}"# } ?? ""
            let timings = time.map { #","timings":{"published_at":"\#(Timestamp(milliseconds: $0).text)"}"# } ?? ""
            let parent = isPart ? #","parent":{"id":"a"}"# : ""
            let json =
                #"{"request_id":"a","kind":"\#(kind)","state":"\#(state)","source":"\#(source)"\#(origin)\#(timings)\#(parent)}"#
            return ResultRecord(json: Array(json.utf8), partition: 0, offset: Int64(number), timestamp: Int64(number))
        }
    }

    struct Row: Sendable {
        let lines: [Line]
        let offset: Int64?
        let isSettled: Bool

        init(_ offset: Int64?, settled isSettled: Bool = true, _ lines: Line...) {
            (self.lines, self.offset, self.isSettled) = (lines, offset, isSettled)
        }
    }

    static let rows: [Row] = [
        Row(nil, settled: false), Row(0, Line()), Row(nil, settled: false, Line(kind: "interim"), Line(kind: "outcome")),
        // The newest of its own counts.
        Row(1, Line(state: "failed"), Line()),
        // Others have the same id, or stood at the place before the topic was made again.
        Row(nil, settled: false, Line(offset: 4)), Row(nil, settled: false, Line(time: 8)), Row(0, Line(time: nil)),
        Row(1, Line(offset: 4), Line(state: "duplicate"), Line(offset: 5)),
        // The hub took it, and gave it up later.
        Row(1, Line(), Line(state: "failed", kind: "outcome")), Row(0, Line(state: "failed", kind: "outcome"), Line()),
        Row(0, Line(), Line(kind: "outcome")),
        // It came twice, and was sent once.
        Row(0, Line(), Line(state: "duplicate")), Row(1, Line(state: "duplicate"), Line()),
        // Its result does not say where it stood.
        Row(0, settled: false, Line(offset: nil)), Row(nil, settled: false, Line(offset: nil, source: "bank")),
        Row(0, settled: false, Line(offset: nil), Line(state: "duplicate", offset: nil)),
        Row(1, Line(offset: nil), Line(), Line(offset: nil)),
    ]

    private static func candidate() -> SearchCandidate {
        let origin = RecordOrigin(topic: "lane", partition: 0, offset: 3, timestamp: Timestamp(milliseconds: 7))
        var facts = RequestFacts(id: "a", audience: AudienceSummary(.all))
        facts.source = "shop"
        return SearchCandidate(at: origin, id: "a", facts: facts)
    }

    @Test(arguments: rows) func theResultOfTheRecordCountsInWhateverOrderTheyCome(row: Row) {
        let results = row.lines.enumerated().compactMap { $1.result(at: $0) }
        for list in [results, results.reversed()] {
            var choice = ResultChoice(for: Self.candidate())
            for result in list { choice.take(result) }
            #expect(choice.result?.offset == row.offset && choice.isSettled == row.isSettled)
        }
    }

    @Test func ofAWholeThatCameAsAFileNoPartCounts() {
        var candidate = Self.candidate()
        candidate.whole = .init(id: "a", publishedAt: 5)
        var choice = ResultChoice(for: candidate)
        if let part = Line(isPart: true).result(at: 0) { choice.take(part) }
        #expect(choice.result == nil)
        if let whole = Line(offset: 900, time: 5).result(at: 1) { choice.take(whole) }
        #expect(choice.result?.offset == 1 && choice.isSettled)
    }
}
