import Publishing
import PushModel
import ResultQuery
import Testing

@testable import Results

/// The JSON that commands and the gateway share.
@Suite struct ResultJSONTests {
    private static let sent = #"{"request_id":"a","kind":"final","state":"sent"}"#
    private static let repetition = #"{"request_id":"a","kind":"final","state":"duplicate"}"#
    private static let replay = #"{"request_id":"j:a","kind":"final","state":"failed","replay":{"root_request_id":"a"}}"#

    private static func life(_ results: String...) -> String {
        var life = RequestLife(id: "a")
        for (index, json) in results.enumerated() {
            life.take(Array(json.utf8).span, partition: 0, offset: Int64(index), timestamp: Int64(index))
        }
        return String(decoding: life.json, as: UTF8.self)
    }

    @Test func aLifeHasResultsReplaysAndTheNumberOfDuplicates() {
        #expect(
            Self.life(Self.sent, Self.repetition, Self.replay)
                == #"{"results":[\#(Self.sent),\#(Self.repetition)],"replays":[\#(Self.replay)],"#
                + #""state":"sent","final":true,"duplicates":1}"#)
        #expect(Self.life() == #"{"results":[],"replays":[],"final":false,"duplicates":0}"#)
    }

    @Test func anOutcomeOfOneCallIsNotTheStateOfALife() {
        let outcome = #"{"request_id":"a","kind":"outcome","state":"failed"}"#
        #expect(Self.life(Self.sent, outcome).hasSuffix(#""state":"sent","final":true,"duplicates":0}"#))
        #expect(Self.life(outcome).hasSuffix(#""state":"failed","final":false,"duplicates":0}"#))
    }

    @Test func othersResultsUnderTheSameIDAreNoPartOfALifeThatMayNotShowThem() {
        var life = RequestLife(id: "a") { $0.tenant == "acme" }
        let own = #"{"request_id":"a","kind":"final","state":"failed","tenant":"acme"}"#
        let others = [
            #"{"request_id":"a","kind":"final","state":"sent","tenant":"bank"}"#,
            #"{"request_id":"b","kind":"final","state":"sent","tenant":"bank","replay":{"root_request_id":"a"}}"#,
        ]
        for (index, json) in ([own] + others).enumerated() {
            life.take(Array(json.utf8).span, partition: 0, offset: Int64(index), timestamp: Int64(index))
        }
        #expect(life.latest?.state == "failed" && life.own.count == 1 && life.replays.isEmpty)
    }

    @Test(arguments: [
        ("hub:shop", "hub:shop state:failed,partial,rejected,expired,unknown kind:final,outcome"),
        ("state:sent", "state:sent kind:final,outcome"), ("kind:interim state:sent", "kind:interim state:sent"),
    ]) func failuresAreWhatTheFilterLeavesOpen(text: String, expected: String) throws {
        #expect(FailureReport.narrowed(try ResultFilter(text, now: 0)).description == expected)
    }

    @Test func aReportHasGroupsSumsAndDeadLetters() throws {
        var tally = FailureTally()
        var document = JSONDocument()
        let failed = #"{"request_id":"a","state":"failed","hub":"shop","error":{"code":"x"},"replay_safety":"safe"}"#
        try document.read(Array(failed.utf8).span)
        tally.add(document, writtenAt: 0)
        tally.add(document, writtenAt: 1000, as: .repaired)
        let report = FailureReport(
            groups: tally.groups, tally: tally, count: 7, deadLetters: DeadLetterCount(count: 3, isExact: false))
        #expect(
            String(decoding: report.json, as: UTF8.self)
                == #"{"items":[{"count":2,"open":1,"being_repaired":0,"repaired":1,"failed_again":0,"code":"x","hub":"shop","#
                + #""platforms":[],"first_seen":"1970-01-01T00:00:00.000Z","last_seen":"1970-01-01T00:00:01.000Z","#
                + #""replay_safety":{"safe":1},"latest_request":"a"}],"failed":2,"of":7,"open":1,"being_repaired":0,"#
                + #""repaired":1,"failed_again":0,"dead_letters":{"count":3,"exact":false}}"#)
    }
}
