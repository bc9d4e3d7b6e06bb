import Kafka
import PushModel
import TestSupport
import Testing

@testable import Console

@Suite(.serialized) struct CancelTests {
    private static let now: Int64 = 1_795_262_400_000

    /// A broker with requests of some ids, which were published a minute ago.
    private static func broker(_ ids: [String] = ["a", "a-1", "b-2", "c"], _ fields: String = "") throws -> Broker {
        let broker = try Broker()
        try broker.cluster.createTopic("push.control.v1", partitions: 1)
        let requests = ids.map { #"{"id":"\#($0)"\#(fields),"audience":{"users":["ann"]},"message":{"title":"T"}}"# }
        if !requests.isEmpty { try broker.write(requests, to: "push.requests.v1", at: now - 60_000) }
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

    @Test func anIdThatWasNeverPublishedIsSaidSo() throws {
        let broker = try Self.broker(["a"])
        let none = broker.harness.run(["cancel", "b", "push.requests.v1:0:17"])
        #expect(none.code == .nothingMatched)
        #expect(none.messages.contains("'b' was never published") && none.messages.contains("'push.requests.v1:0:17'"))
        #expect(try broker.read("push.control.v1", count: 1).isEmpty)
        let some = broker.harness.run(["cancel", "b", "a", "push.requests.v1:0:0"])
        #expect(some.code == .partlyFailed && some.messages.contains("'b' was never published"))
        #expect(try broker.read("push.control.v1", count: 3).map(\.key) == ["cancel/a", "cancel/push.requests.v1:0:0"])
    }

    @Test func anIdWhoseResultAloneIsKeptIsKnown() throws {
        let broker = try Self.broker([])
        try broker.writeResults([#"{"request_id":"old","kind":"final","state":"failed"}"#], key: "old")
        #expect(broker.harness.run("cancel old").code == .done)
        #expect(broker.harness.run("cancel olde").code == .nothingMatched)
    }

    @Test(
        arguments: [
            ("label.campaign:sale", "--label campaign=sale"), ("source:marketing", "--source marketing"), ("state:failed", nil),
            ("hub:north", "--hub north"), ("tenant:acme", "--tenant acme"), ("campaign=sale", "--label campaign=sale"),
            ("source=marketing", "--source marketing"), ("since:10m", "--since 10m"), ("kind:final", nil), ("until:1h", nil),
            ("request:a", "--request a"), ("user:ann", "--user ann"), ("lane:bulk", "--lane bulk"),
        ] as [(String, String?)])
    func aFilterIsNoId(_ word: String, _ flag: String?) throws {
        let broker = try Self.broker()
        let outcome = broker.harness.run(["cancel", "a", word])
        #expect(outcome.code == .usage && outcome.messages.contains("looks like a filter"))
        #expect(outcome.messages.contains(flag ?? "`pushfan help cancel` lists them"))
        #expect(try broker.read("push.control.v1", count: 1).isEmpty)
    }

    @Test(arguments: ["a", "a:b", "order:4711", "push.requests.v1:0:17", "source:0:1", "01J8Z6", "a.b-c_d", ":a"])
    func anIdIsNoFilter(_ word: String) { #expect(FilterWord(word) == nil) }
}

// By a scope.
extension CancelTests {
    private static let sale = #","labels":{"campaign":"sale"},"source":"shop","tenant":"acme""#

    @Test(arguments: [
        "--label campaign=sale", "--source shop", "--tenant acme", "--user ann", "--everything", "--lane normal", "--request b",
        "--label campaign=sale --since 2m",
    ])
    func aScopeIsCountedAndThenCancelled(_ flags: String) throws {
        let broker = try Self.broker(["b"], Self.sale)
        let dry = broker.harness.run("cancel \(flags) --dry-run -o ndjson")
        let counts = #""counts":{"waiting":1,"running":0,"delayed":0,"sent":0,"other":0,"complete":true}"#
        #expect(dry.code == .done && dry.lines == ["{\"dry_run\":true,\(counts)}"], "\(dry.messages)")
        #expect(try broker.read("push.control.v1", count: 1).isEmpty)
        let outcome = broker.harness.run("cancel \(flags) --reason wrong --by ann -o ndjson")
        #expect(outcome.code == .done && outcome.output.contains(counts), "\(outcome.messages)")
        #expect(outcome.messages.contains("waiting 1, running 0") && outcome.messages.contains("1 request can still be ended"))
        let record = try #require(broker.read("push.control.v1", count: 1).first)
        let (key, value) = (Array((record.key ?? "").utf8), Array(record.value.utf8))
        let order = try #require(try OrderRecord.read(key: key.span, value: value.span))
        #expect(order.since == Timestamp(milliseconds: Self.now) && order.reason == "wrong" && order.author == "ann")
        let from = flags.contains("--since") ? Timestamp(milliseconds: Self.now - 120_000) : nil
        #expect(order.kind == .cancel(publishedFrom: from))
        #expect(outcome.output.contains(order.id) && order.release == nil)
    }

    @Test(arguments: [
        "--label campaign=spring", "--source bank", "--since 30s --source shop", "--lane high", "--request c", "--user eve",
    ])
    func whereNothingWaitsNothingIsWritten(_ flags: String) throws {
        let broker = try Self.broker(["b"], Self.sale)
        for end in ["--dry-run", "--reason wrong"] {
            let outcome = broker.harness.run(("cancel \(flags) \(end)").split(separator: " ").map(String.init))
            #expect(outcome.code == .nothingMatched && outcome.messages.contains("waiting 0"), "\(outcome.messages)")
        }
        #expect(try broker.read("push.control.v1", count: 1).isEmpty)
    }

    // The embedded broker knows no offsets for times.
    @Test(.needsKafka) func whatWasSentIsTold() throws {
        let stage = try ReplayStage()
        try stage.write(
            "results",
            [(0, "sent"), (1, "failed"), (2, "partial")].map { partition, state in
                (partition, #"{"request_id":"b","kind":"final","state":"\#(state)","labels":{"campaign":"sale"}}"#)
            })
        let outcome = stage.harness.run("cancel --label campaign=sale --dry-run")
        #expect(outcome.code == .nothingMatched && outcome.messages.contains("sent 2, other 1"), "\(outcome.messages)")
        #expect(outcome.messages.contains("what was sent stays sent"))
        #expect(stage.harness.run("cancel --label campaign=sal --dry-run").messages.contains("sent 0, other 0"))
    }

    @Test func manyAreAskedFor() throws {
        let broker = try Self.broker((0...1000).map { "m-\($0)" }, Self.sale)
        let line = "cancel --source shop --reason wrong"
        var harness = broker.harness
        let refused = harness.run(line)
        #expect(refused.code == .refused && refused.messages.contains("--yes confirms it"))
        (harness.traits.isInputTerminal, harness.traits.isErrorTerminal) = (true, true)
        harness.typed = "1000"
        #expect(harness.run(line).code == .refused)
        #expect(try broker.read("push.control.v1", count: 1).isEmpty)
        harness.typed = "1001"
        #expect(harness.run(line).code == .done)
        #expect(broker.harness.run(line + " --yes").code == .done)
        #expect(try broker.read("push.control.v1", count: 2).count == 2)
    }

    @Test(arguments: [
        "cancel --label campaign=sale", "cancel a --source shop --reason r", "cancel a --dry-run", "cancel --since 10m",
        "cancel --source shop --since tomorrow --reason r", "cancel --everything --source shop --reason r",
        "cancel --label campaign --reason r", "cancel --source shop --reason r --since 2027-01-01",
    ])
    func aLineThatSaysTooLittleOrTooMuchIsRefused(_ line: String) throws {
        let broker = try Self.broker()
        #expect(broker.harness.run(line).code == .usage)
        #expect(try broker.read("push.control.v1", count: 1).isEmpty)
    }
}
