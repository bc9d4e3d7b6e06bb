import Foundation
import Publishing
import PushModel
import Replay
import ResultQuery
import Testing

@testable import Results

/// Rows of a list as JSON, for those who may read payloads and for others.
@Suite struct SearchRowJSONTests {
    static let published: Int64 = 1_795_262_400_000

    private static func row(_ audience: AudienceSummary) -> SearchRow {
        var facts = RequestFacts(id: "r-1", audience: audience)
        (facts.title, facts.labels, facts.tenant) = ("Lunch", ["campaign": "mlb", "a": "b"], "acme")
        (facts.source, facts.hub) = ("shop", "named")
        var row = SearchRow(id: "r-1", publishedAt: published)
        row.facts = facts
        row.place = RecordPlace(topic: "push.requests.v1", partition: 3, offset: 17)
        return row
    }

    private static func json(
        _ row: SearchRow, revealing names: [String] = [], isPayloadVisible: Bool = true, isSought: Bool = false,
        at now: Int64 = published
    ) throws -> [String: Any] {
        let bytes = row.json(revealing: names, isPayloadVisible: isPayloadVisible, isSought: isSought, at: now)
        return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    private static let three = AudienceSummary(.users, count: 3, names: ["alice", "bob", "carol"])

    /// The names that the searcher gave, and those that are shown.
    @Test(
        arguments: [([], nil), (["ALICE"], ["alice"]), (["bo"], nil), (["carol", "alice"], ["alice", "carol"])]
            as [([String], [String]?)])
    func withoutPayloadTheNamesAloneAreShownThatWereGiven(given: [String], shown: [String]?) throws {
        let hidden = try Self.json(Self.row(Self.three), revealing: given, isPayloadVisible: false)
        let to = try #require(hidden["to"] as? [String: Any])
        #expect(to["kind"] as? String == "users" && to["count"] as? Int == 3 && to["text"] as? String == "3 users")
        #expect((to["names"] as? [String] ?? []) == shown ?? [] && hidden["title"] == nil)
        #expect(
            !String(
                decoding: Self.row(Self.three).json(revealing: given, isPayloadVisible: false, at: Self.published), as: UTF8.self
            ).contains("Lunch"))
        let whole = try Self.json(Self.row(Self.three))
        #expect((whole["to"] as? [String: Any])?["names"] as? [String] == ["alice", "bob", "carol"])
        #expect(whole["title"] as? String == "Lunch")
    }

    /// One outcome decides where there was one call.
    @Test(
        arguments: [
            ("outcome", "failed", "no_target", 1, "no_target"), ("outcome", "failed", "devices_refused", 1, "devices_refused"),
            ("outcome", "partial", "devices_refused", 1, "reached_some"), ("outcome", "failed", "hub_abandoned", 1, "unknown"),
            ("outcome", "failed", "no_target", 2, nil), ("final", "failed", "no_target", 1, nil),
        ] as [(String, String, String, Int, String?)])
    func aLateFailureHasTheWordOfTheOutcome(kind: String, state: String, code: String, planned: Int, word: String?) throws {
        var row = Self.row(Self.three)
        let json =
            #"{"request_id":"r-1","kind":"\#(kind)","state":"\#(state)","error":{"code":"\#(code)"},"targets":{"planned":\#(planned)}}"#
        row.result = ResultRecord(json: Array(json.utf8), partition: 0, offset: 0, timestamp: 0)
        let shown = try Self.json(row)
        #expect(shown["outcome_state"] as? String == word && shown["state"] as? String == state)
    }

    /// `sent` is not the last word of a followed request, as long as an outcome may come.
    @Test(
        arguments: [
            ("final", "sent", #","followed":true"#, 0, "awaited"), ("final", "sent", "", 0, nil),
            ("final", "partial", #","followed":true"#, 0, nil), ("interim", "sent", #","followed":true"#, 0, nil),
            ("final", "sent", #","followed":true"#, RequestStory.longestOutcome - 1, "awaited"),
            ("final", "sent", #","followed":true"#, RequestStory.longestOutcome, nil),
        ] as [(String, String, String, Int64, String?)])
    func aFollowedRequestAwaitsItsOutcome(kind: String, state: String, members: String, after: Int64, word: String?) throws {
        var row = Self.row(Self.three)
        let json = #"{"request_id":"r-1","kind":"\#(kind)","state":"\#(state)","targets":{"accepted":1}\#(members)}"#
        row.result = ResultRecord(json: Array(json.utf8), partition: 0, offset: 0, timestamp: Self.published)
        let shown = try Self.json(row, at: Self.published + after)
        #expect(shown["outcome_state"] as? String == word && shown["state"] as? String == state)
    }

    @Test func aRowHasWhatItsRecordSays() throws {
        let json = try Self.json(Self.row(AudienceSummary(.tags, names: ["News"])), isPayloadVisible: false, isSought: true)
        #expect(json["id"] as? String == "r-1" && json["state"] as? String == "published")
        #expect(json["published_at"] as? String == "2026-11-21T12:00:00.000Z" && json["finished_at"] == nil)
        #expect((json["to"] as? [String: Any])?["text"] as? String == "tag News")
        #expect(json["labels"] as? [String: String] == ["campaign": "mlb", "a": "b"] && json["tenant"] as? String == "acme")
        #expect(json["topic"] as? String == "push.requests.v1" && json["partition"] as? Int == 3)
        #expect(json["offset"] as? String == "17" && json["match"] as? String == "named" && json["result"] == nil)
    }

    @Test(
        arguments: [
            (SearchRow.Standing(state: .delayed, due: published + 1000), "delayed", "2026-11-21T12:00:01.000Z", nil),
            (SearchRow.Standing(state: .inParts, parts: (300, 214)), "in_parts", nil, 214),
            (SearchRow.Standing(state: .inParts, parts: (nil, 1)), "in_parts", nil, 1),
            (SearchRow.Standing(state: nil), "dead_letter", nil, nil),
            (SearchRow.Standing(state: .inWork), "in_work", nil, nil),
        ] as [(SearchRow.Standing, String, String?, Int?)])
    func aRowWithoutResultSaysWhereItIs(standing: SearchRow.Standing, state: String, due: String?, ended: Int?) throws {
        var row = Self.row(Self.three)
        row.standing = standing
        row.isNamed = false
        let json = try Self.json(row, isSought: true)
        #expect(json["state"] as? String == state && json["due"] as? String == due && json["match"] as? String == "possible")
        #expect((json["parts"] as? [String: Any])?["ended"] as? Int == ended && row.isDeadLetter == (state == "dead_letter"))
    }

    private static let result = #"""
        {"request_id":"r-1","kind":"final","state":"sent","hub":"used","source":"app","tenant":"acme","labels":{"campaign":"mlb"},
        "at":"2026-11-21T12:00:00.200Z"}
        """#

    /// Without its record, as by a reader of the release before, who takes id, state and result.
    @Test func aResultStandsForItsRequest() throws {
        var row = SearchRow(id: "r-1", publishedAt: Self.published)
        row.result = ResultRecord(json: Array(Self.result.utf8), partition: 0, offset: 0, timestamp: Self.published)
        let json = try Self.json(row)
        #expect(json["id"] as? String == "r-1" && json["state"] as? String == "sent" && json["hub"] as? String == "used")
        #expect(json["labels"] as? [String: String] == ["campaign": "mlb"] && json["to"] == nil && json["match"] == nil)
        #expect(json["finished_at"] as? String == "2026-11-21T12:00:00.200Z" && json["source"] as? String == "app")
        #expect((json["result"] as? [String: Any])?["request_id"] as? String == "r-1")
        #expect(!row.json(revealing: [], isPayloadVisible: true, at: Self.published).contains(0x0A), "a row has one line")
    }
}
