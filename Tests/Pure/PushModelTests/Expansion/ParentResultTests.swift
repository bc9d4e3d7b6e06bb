import Foundation
import PushModel
import TestSupport
import Testing

/// The record of a large request, and the result that is written from it.
struct ParentResultTests {
    private static let replayed =
        #""replay":{"root_request_id":"a","parent_request_id":"b","generation":1,"job_id":"j"},"labels":{"campaign":"mlb"}"#

    private static func record(_ members: String, isFile: Bool = false) throws -> ParentRecord {
        var reading = Reading()
        #expect(reading.read(PushModelTests.record(members)) == .request)
        var json = ByteWriter()
        let consumed = Timestamp(milliseconds: Reading.recordTime + 250)
        ParentRecord.append(
            reading.request, chunks: 3, calls: 45, origin: isFile ? nil : (reading.origin, consumed), to: &json)
        let record = ParentRecord(json.span)
        return try #require(record)
    }

    private static func result(_ parent: ParentRecord, _ totals: PartTotals) throws -> [String: Any] {
        var writer = ResultWriter(workerID: "w-3", version: "0.1.0")
        var json = ByteWriter()
        let place = RecordOrigin(
            topic: "push.parents.v1", partition: 1, offset: 7, timestamp: Timestamp(milliseconds: Reading.recordTime))
        let written = writer.append(
            parent, totals: totals, hub: ResultWriter.hub(parent.hub ?? "prod-shop"), origin: parent.origin ?? place,
            at: Timestamp(milliseconds: Reading.recordTime + 1000), to: &json)
        #expect(ResultSchema.violations(of: json.bytes).isEmpty)
        #expect(written.conclusion == totals.conclusion)
        #expect(String(decoding: part(written.resultID, of: json.bytes), as: UTF8.self).hasPrefix("final."))
        return try #require(JSONSerialization.jsonObject(with: Data(json.bytes)) as? [String: Any])
    }

    private static func totals(_ states: [(ResultState, Outcome, ErrorCode?)]) -> PartTotals {
        var totals = PartTotals()
        for (chunk, part) in states.enumerated() {
            var tally = PartTally(chunk: chunk, state: part.0, outcome: part.1, code: part.2)
            tally.accepted = part.0 == .sent ? 15 : 0
            tally.attempts = 15
            tally.firstAttemptAt = Timestamp(milliseconds: Reading.recordTime + 300)
            totals.add(tally)
        }
        return totals
    }

    @Test func theResultOfAllPartsSentIsSent() throws {
        let parent = try Self.record(#""id":"news","source":"/shop","tenant":"t1","hub":"other",\#(Self.replayed)"#)
        #expect(parent.chunks == 3 && parent.calls == 45 && parent.id == "news")
        let result = try Self.result(
            parent, Self.totals([(.sent, .success, nil), (.sent, .success, nil), (.sent, .success, nil)]))
        #expect(text("request_id", in: result) == "news" && text("source", in: result) == "/shop")
        #expect(text("tenant", in: result) == "t1" && text("hub", in: result) == "other")
        #expect(text("state", in: result) == "sent" && text("replay_safety", in: result) == "duplicate_risk")
        #expect(number("parts/count", in: result) == 3 && number("parts/sent", in: result) == 3)
        #expect(value("parts/not_sent", in: result) == nil && value("error", in: result) == nil)
        #expect(number("targets/planned", in: result) == 45 && number("targets/accepted", in: result) == 45)
        #expect(number("attempt_count", in: result) == 15 && number("timings/queue_ms", in: result) == 250)
        #expect(text("origin/topic", in: result) == "push.requests.v1" && text("origin/offset", in: result) == "42")
        #expect(text("labels/campaign", in: result) == "mlb" && text("replay/job_id", in: result) == "j")
    }

    @Test func theResultOfSomePartsNamesTheOthers() throws {
        let parent = try Self.record(#""id":"news""#)
        let result = try Self.result(
            parent,
            Self.totals([(.sent, .success, nil), (.failed, .transient, .hubUnavailable), (.expired, .expired, .expiredInQueue)]))
        #expect(text("state", in: result) == "partial" && text("outcome", in: result) == "transient")
        #expect(text("error/code", in: result) == "hub_unavailable" && text("hub_state", in: result) == "Enqueued")
        #expect(text("error/message", in: result)?.hasPrefix("2 of 3 parts") == true)
        #expect(value("parts/not_sent", in: result) as? [Int] == [1, 2] && number("parts/expired", in: result) == 1)
        #expect(number("targets/accepted", in: result) == 15 && number("targets/failed", in: result) == 30)
        #expect(text("replay_safety", in: result) == "safe", "it is the gravest of its parts")
    }

    /// The moments that the record names, its calls, and the calls that its parts tell of.
    @Test(
        arguments: [
            (.min, 1, .max), (-1, 0, 0), (0, .max, .max), (.max, .max, 1), (-62_167_219_200_001, 1, 1 << 62),
        ] as [(Int64, Int, Int)])
    func absurdNumbersOverflowNothing(moment: Int64, calls: Int, told: Int) throws {
        let origin = #"{"topic":"push.requests.v1","partition":3,"offset":"42","timestamp_ms":\#(moment)}"#
        let json =
            #"{"schema_version":1,"id":"news","chunks":3,"calls":\#(calls),"origin":\#(origin),"consumed_ms":\#(moment)}"#
        let read = ParentRecord(Array(json.utf8).span)
        let parent = try #require(read)
        let place = try #require(parent.origin)
        var totals = PartTotals()
        for chunk in 0..<3 {
            var tally = PartTally(chunk: chunk, state: .sent, outcome: .success)
            (tally.accepted, tally.ambiguous, tally.attempts) = (told, told, told)
            (tally.hubTime, tally.throttleWait) = (.max, .max)
            tally.firstAttemptAt = Timestamp(milliseconds: moment)
            totals.add(tally)
        }
        var writer = ResultWriter(workerID: "w-3", version: "0.1.0")
        var result = ByteWriter()
        _ = writer.append(
            parent, totals: totals, hub: ResultWriter.hub("prod-shop"), origin: place,
            at: Timestamp(milliseconds: Reading.recordTime), to: &result)
        let fields = try #require(JSONSerialization.jsonObject(with: Data(result.bytes)) as? [String: Any])
        #expect(try #require(number("timings/total_ms", in: fields)) >= 0)
        #expect(try #require(number("targets/failed", in: fields)) >= 0)
    }

    @Test func aFilesResultStandsForItsOwnRecord() throws {
        let parent = try Self.record(#""id":"news""#, isFile: true)
        let result = try Self.result(parent, Self.totals([(.cancelled, .cancelled, .cancelled)]))
        #expect(text("origin/topic", in: result) == "push.parents.v1" && text("state", in: result) == "cancelled")
        #expect(text("hub", in: result) == "prod-shop" && value("hub_state", in: result) == nil)
    }

    @Test(
        arguments: [
            "", "[]", "{}", #"{"schema_version":2,"id":"a","chunks":1,"calls":1}"#, #"{"schema_version":1,"chunks":1,"calls":1}"#,
            #"{"schema_version":1,"id":"a","chunks":0,"calls":1}"#, #"{"schema_version":1,"id":"a","chunks":10000001,"calls":1}"#,
        ])
    func whatNobodyWroteIsNoRecord(_ text: String) {
        let record = ParentRecord(Array(text.utf8).span)
        #expect(record == nil)
    }
}
