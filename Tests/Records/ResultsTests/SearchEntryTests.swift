import Delivery
import GroupPositions
import Kafka
import Publishing
import PushModel
import Replay
import ResultQuery
import Testing

@testable import Groups
@testable import Results

/// The rows of candidates by what was found out about them.
@Suite struct SearchEntryTests {
    private static let now = Timestamp(milliseconds: 1_000_000)
    private static let origin = RecordOrigin(topic: "lane", partition: 0, offset: 3, timestamp: Timestamp(milliseconds: 7))

    private static func candidate(due: Int64? = nil, whole: SearchCandidate.Whole? = nil) -> SearchCandidate {
        var facts = RequestFacts(id: "a", audience: AudienceSummary(.users, count: 1, names: ["alice"]))
        (facts.tenant, facts.source, facts.hub) = ("shop", "orders", "north")
        facts.due = due.map { Timestamp(milliseconds: $0) }
        var candidate = SearchCandidate(at: origin, id: "a", facts: facts)
        candidate.whole = whole
        return candidate
    }

    /// The time at which it is due, and its states after everything was read, and after time ran out.
    @Test(
        arguments: [(nil, .done, .unknown), (999_999, .done, .unknown), (1_000_001, .done, .delayed)]
            as [(Int64?, RequestWhereabouts.State, RequestWhereabouts.State)])
    func onlyWhatWasSearchedForInVainIsDone(due: Int64?, whole: RequestWhereabouts.State, cut: RequestWhereabouts.State) {
        let entry = SearchEntry(Self.candidate(due: due))
        #expect(entry.row(at: Self.now, isComplete: true).standing?.state == whole)
        #expect(entry.row(at: Self.now, isComplete: false).standing?.state == cut)
        var known = entry
        known.standing = .init(state: .held)
        #expect(known.row(at: Self.now, isComplete: false).standing?.state == .held)
    }

    /// What was not found out decides nothing, and what the request says decides.
    @Test(arguments: [
        ("state:sent", true, false), ("-state:held", true, true), ("state:sent tenant:shop", true, false),
        ("state:sent tenant:bank", false, false), ("", true, true), ("tenant:shop", true, true), ("source:other", false, false),
    ])
    func aRequestOfWhichNothingIsKnownStaysInTheList(text: String, isUnknownWanted: Bool, isDoneWanted: Bool) throws {
        let entry = SearchEntry(Self.candidate())
        let filter = try ResultFilter(text, now: 0)
        for (isComplete, isWanted) in [(false, isUnknownWanted), (true, isDoneWanted)] {
            #expect(filter.wants(entry.row(at: Self.now, isComplete: isComplete), of: entry.candidate) == isWanted)
        }
    }

    /// A tenant's key sees rows of its tenant alone, so that one without would hide what runs.
    @Test func aLargeRequestThatRunsHasASenderAndNoAudience() {
        for isSeen in [true, false] {
            let entry = SearchEntry(Self.candidate(whole: .init(id: "file", publishedAt: 5, isSeen: isSeen)))
            let row = entry.row(at: Self.now, isComplete: true)
            #expect(row.tenant == "shop" && row.source == "orders" && row.hub == "north")
            #expect(row.id == "file" && (row.facts?.audience.names == ["alice"]) == isSeen)
        }
    }

    /// One of its parts waits, and others were sent.
    @Test func aWholeDoesNotTakeTheStateOfOnePart() {
        let partition = TopicPartition(topic: "delays", partition: 0)
        let request = WaitingRequest(id: "a", origin: Self.origin, due: nil, attempts: 0, cancelledAt: nil)
        for whole in [nil, SearchCandidate.Whole(id: "file", publishedAt: 5)] {
            var candidate = Self.candidate(whole: whole)
            candidate.waiting = [
                FoundRequest(
                    kind: .requests, partition: partition, offset: 0, request: request, position: 0, reading: .unread)
            ]
            let entry = SearchEntry(candidate)
            #expect(entry.records.isEmpty == (whole != nil) && entry.mayWait == (whole == nil))
        }
    }

    /// Anybody may publish a request with the id of a file.
    @Test func onlyAWholeHasTheNameOfAFile() {
        let name = ParentKey(fileID: "a")
        #expect(!SearchEntry(Self.candidate()).parentKeys.contains(name))
        #expect(SearchEntry(Self.candidate(whole: .init(id: "a", publishedAt: 5))).parentKeys.contains(name))
    }

    @Test(
        arguments: [
            ([:], true), (["timestamp-ms": "7"], true), (["timestamp-ms": "8"], false), (["offset": "4"], false),
            (["reason": "not_taken", "timestamp-ms": "9", "published-ms": "7"], true),
            (["reason": "not_taken", "timestamp-ms": "7", "published-ms": "8"], false),
            (["reason": "not_taken", "timestamp-ms": "9"], true),
        ] as [([String: String], Bool)])
    func aLetterTellsOfTheRecordThatStoodThere(members: [String: String], isOf: Bool) throws {
        var headers = ["pushfan-dlq-topic": "lane", "pushfan-dlq-partition": "0", "pushfan-dlq-offset": "3"]
        for (name, value) in members { headers["pushfan-dlq-" + name] = value }
        #expect(try #require(DeadLetterOrigin(headers)).isOf(Self.candidate()) == isOf)
    }
}
