import Kafka
import PushModel
import TestSupport
import Testing

@testable import Console

@Suite(.serialized) struct CancelTests {
    private static func broker() throws -> Broker {
        let broker = try Broker()
        try broker.cluster.createTopic("push.control.v1", partitions: 1)
        return broker
    }

    @Test func aCancellationIsARecordThatNamesTheRequest() throws {
        let broker = try Self.broker()
        let outcome = broker.harness.run(["cancel", "a-1", "b-2", "--reason", "wrong audience"])
        #expect(outcome.code == .done)
        #expect(outcome.output.isEmpty && outcome.messages.contains("2 cancellations written to push.control.v1"))
        let records = try broker.read("push.control.v1", count: 2)
        #expect(records.map(\.key) == ["cancel/a-1", "cancel/b-2"])
        #expect(records.map(\.partition) == [0, 0])
        for (record, id) in zip(records, ["a-1", "b-2"]) {
            let read = CancelRecord(key: Array((record.key ?? "").utf8).span, value: Array(record.value.utf8).span)
            #expect(read == CancelRecord(requestID: id, reason: "wrong audience"))
            #expect(record.value.contains(#""at":"2026-11-21T12:00:00.000Z""#))
        }
        #expect(broker.harness.run("cancel c -o ndjson").lines == [#"{"id":"c"}"#])
    }

    @Test(arguments: [("cancelled", ExitCode.done), ("sent", .partlyFailed)] as [(String, ExitCode)])
    func waitingTellsHowTheRequestEnded(_ state: String, _ code: ExitCode) throws {
        let broker = try Self.broker()
        let harness = broker.harness
        let command = Background { harness.run("cancel a --wait -o ndjson") }
        // The result may come when the command listens: it writes after it has begun to.
        #expect(try eventually { try !broker.read("push.control.v1", count: 1).isEmpty })
        let end = state == "sent" ? #""success""# : #""cancelled","error":{"code":"cancelled","message":"cancelled"}"#
        let result =
            #"{"schema_version":1,"request_id":"a","kind":"final","hub":"demo","state":"\#(state)","outcome":\#(end),"attempt_count":1,"at":"t"}"#
        try broker.writeResults([result], key: "a")
        let outcome = try command.value()
        #expect(outcome.code == code)
        #expect(outcome.lines.first?.contains(#""state":"\#(state)""#) == true)
        #expect(!outcome.messages.contains("did not come in time"))
    }

    @Test(.takesLong) func anEndThatDoesNotComeInTimeIsTemporary() throws {
        let outcome = try Self.broker().harness.run("cancel a --wait --timeout 20s -o ndjson")
        #expect(outcome.code == .temporary)
        #expect(outcome.lines.first?.contains(#""state":"none""#) != true)
        #expect(outcome.messages.contains("did not come in time"))
    }

    @Test(arguments: [
        ["cancel"], ["cancel", ""], ["cancel", String(repeating: "x", count: 289)],
        ["cancel", "a", "--reason", String(repeating: "x", count: 101)],
    ])
    func whatIsNoRequestsIdIsRefused(_ words: [String]) throws {
        let broker = try Self.broker()
        #expect(broker.harness.run(words).code == .usage)
        #expect(try broker.read("push.control.v1", count: 1).isEmpty)
    }
}
