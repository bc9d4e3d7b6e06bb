import Kafka
import PushModel
import TestSupport
import Testing

@testable import Console

@Suite(.serialized) struct OrderCommandsTests {
    private static let control = "push.control.v1"

    private static func broker() throws -> Broker {
        let broker = try Broker()
        try broker.cluster.createTopic(control, partitions: 1)
        return broker
    }

    /// The harness of somebody's terminal, some time after noon.
    private static func harness(_ broker: Broker, after minutes: Int64 = 0) -> Harness {
        var harness = broker.harness
        harness.environment["USER"] = "ann"
        let now = harness.now() + minutes * 60_000
        harness.now = { now }
        return harness
    }

    private static func id(_ outcome: Outcome) throws -> String {
        let found = try #require(outcome.output.firstMatch(of: #/"id":"([hl]-[a-z0-9]{16})"/#), "\(outcome.messages)")
        return String(found.1)
    }

    private static func give(_ words: [String], _ harness: Harness) throws -> String {
        try id(harness.run(words + ["-o", "ndjson"]))
    }

    private static func order(_ record: Record?) throws -> OrderRecord {
        let record = try #require(record)
        let order = try OrderRecord.read(key: Array((record.key ?? "").utf8).span, value: Array(record.value.utf8).span)
        return try #require(order)
    }

    @Test func aHoldIsARecordThatSaysAll() throws {
        let broker = try Self.broker()
        let words = ["hold", "--tenant", "acme", "--label", "campaign=sale", "--reason", "wrong text", "--by", "ann@shop"]
        let outcome = Self.harness(broker).run(words + ["-o", "ndjson"])
        #expect(outcome.code == .done)
        let id = try Self.id(outcome)
        #expect(id.hasPrefix("h-"))
        #expect(
            outcome.lines == [
                Substring(
                    #"{"id":"\#(id)","kind":"hold","scope":{"tenant":"acme","labels":{"campaign":"sale"}},"reason":"wrong text","#
                        + #""by":"ann@shop","since":"2026-11-21T12:00:00.000Z","until":"2026-11-21T13:00:00.000Z","#
                        + #""state":"standing","text":"tenant:acme label.campaign:sale","seconds_left":3600}"#)
            ])
        #expect(outcome.messages.contains("\(id) holds tenant:acme label.campaign:sale until 2026-11-21T13:00:00"))
        #expect(outcome.messages.contains("`pushfan release \(id)` ends it before"))
        let records = try broker.read(Self.control, count: 1)
        #expect(records.map(\.partition) == [0])
        let order = try Self.order(records.first)
        var scope = OrderScope()
        scope.tenant = "acme"
        scope.labels = [.init("campaign", value: "sale")]
        let since = Timestamp(milliseconds: Harness().now())
        #expect(
            order == OrderRecord(id: id, kind: .hold, scope: scope, reason: "wrong text", author: "ann@shop", since: since))
    }

    @Test func aLimitHasItsNumberAndTheUserAndHostAsItsAuthor() throws {
        let broker = try Self.broker()
        let id = try Self.give(["limit", "50", "--hub", "north", "--for", "2h", "--reason", "r"], Self.harness(broker))
        #expect(id.hasPrefix("l-"))
        let order = try Self.order(broker.read(Self.control, count: 1).first)
        #expect(order.kind == .limit(callsPerSecond: 50) && order.scope.text == "hub:north")
        #expect(order.author.hasPrefix("ann@") && order.author.count > 4)
        #expect(order.until.milliseconds(since: order.since) == 7_200_000)
    }

    @Test func whatStandsIsListedUntilItIsReleased() throws {
        let broker = try Self.broker()
        let harness = Self.harness(broker)
        let hold = try Self.give(["hold", "--tenant", "acme", "--reason", "wrong text", "--by", "ann"], harness)
        let later = Self.harness(broker, after: 10)
        let limit = try Self.give(["limit", "50", "--everything", "--reason", "slow", "--by", "bob"], later)
        let listed = later.run("holds")
        #expect(listed.code == .done && listed.messages.contains("2 holds or limits stand"))
        let rows = listed.lines.map { $0.split(separator: " ").map(String.init) }
        try #require(rows.count == 3)
        #expect(rows.map(\.first) == ["ID", limit, hold], "the newest first")
        #expect(rows.last?.dropFirst().prefix(4) == ["hold", "standing", "tenant:acme", "ann"])
        #expect(listed.lines.last?.contains("50 min 0 s") == true && listed.lines.last?.hasSuffix("wrong text") == true)
        #expect(rows[1].dropFirst().prefix(5) == ["limit", "50/s", "standing", "everything", "bob"])

        let released = later.run(["release", hold, "--reason", "mended", "--by", "eve", "-o", "ndjson"])
        #expect(released.code == .done && released.messages.contains("\(hold) is released"))
        #expect(released.output.contains(#""released":{"by":"eve","reason":"mended","at":"2026-11-21T12:10:00.000Z"},"#))
        #expect(released.output.contains(#""state":"released","text":"tenant:acme","seconds_left":0}"#))
        let records = try broker.read(Self.control, count: 3)
        #expect(records.count == 3 && records[2].key == records[0].key && records[1].key != records[0].key)
        let after = later.run("holds -o ndjson")
        #expect(after.lines.count == 1 && after.output.contains(limit))
        let history = later.run("holds --history -o ndjson").lines
        try #require(history.count == 2)
        #expect(history[0].contains(limit) && history[0].contains(#""state":"standing""#))
        #expect(history[1].contains(hold) && history[1].contains(#""state":"released""#))
    }

    @Test func whatHasEndedIsNotReleased() throws {
        let broker = try Self.broker()
        let hold = try Self.give(["hold", "--tenant", "acme", "--reason", "r"], Self.harness(broker))
        let other = try Self.give(["hold", "--tenant", "other", "--reason", "r"], Self.harness(broker))
        #expect(Self.harness(broker, after: 1).run(["release", other, "--by", "eve"]).code == .done)
        for (id, minutes, text) in [
            (hold, 60, "\(hold) has ended at 2026-11-21T13:00:00"),
            (other, 2, "\(other) was released at 2026-11-21T12:01:00"), ("h-unknown", 2, "there is no order 'h-unknown'"),
        ] as [(String, Int64, String)] {
            let outcome = Self.harness(broker, after: minutes).run(["release", id])
            #expect(outcome.code == .nothingMatched && outcome.messages.contains(text), "\(outcome.messages)")
        }
        #expect(try broker.read(Self.control, count: 4).count == 3, "nothing more is written")
        let ended = Self.harness(broker, after: 61)
        #expect(ended.run("holds -o ndjson").output.isEmpty)
        let history = ended.run("holds --history -o ndjson").lines
        #expect(history.first { $0.contains(hold) }?.contains(#""state":"ended""#) == true)
    }

    @Test func cancellationsByScopeAreHistoryAndAreNotReleased() throws {
        let broker = try Self.broker()
        let since = Timestamp(milliseconds: Harness().now())
        var scope = OrderScope()
        scope.source = "shop"
        let order = OrderRecord(
            id: "c-abcdefgh", kind: .cancel(publishedFrom: nil), scope: scope, reason: "r", author: "ann", since: since)
        try broker.write(
            [String(decoding: order.value, as: UTF8.self)], to: Self.control, key: String(decoding: order.key, as: UTF8.self))
        let harness = Self.harness(broker, after: 1)
        let plain = harness.run("holds -o ndjson")
        #expect(plain.output.isEmpty && plain.messages.contains("0 holds or limits stand"))
        #expect(harness.run("holds --history -o ndjson").output.contains(#""id":"c-abcdefgh","kind":"cancel""#))
        let release = harness.run("release c-abcdefgh")
        #expect(release.code == .nothingMatched && release.messages.contains("is a cancellation, which is not taken back"))
    }

    @Test func whatCannotBeObeyedIsNamed() throws {
        let broker = try Self.broker()
        try broker.write(["{}"], to: Self.control, key: "cancel/a")
        try broker.write(["{}"], to: Self.control, key: "order/{}")
        let harness = Self.harness(broker)
        _ = try Self.give(["hold", "--tenant", "acme", "--reason", "r"], harness)
        let outcome = harness.run("holds -o ndjson")
        #expect(outcome.code == .done && outcome.lines.count == 1)
        #expect(
            outcome.messages.contains(
                "push.control.v1, partition 0, offset 1: an order that no worker obeys: it is not as this version writes orders"
            ))
        #expect(!outcome.messages.contains("offset 0") && !outcome.messages.contains("offset 2"))
    }

    @Test func whereNothingStandsNothingIsListed() throws {
        let broker = try Self.broker()
        let empty = broker.harness.run("holds")
        #expect(empty.code == .done && empty.messages == "0 holds or limits stand\n")
        broker.cluster.setTopic(Self.control, isMissing: true)
        let missing = broker.harness.run("holds -o json")
        #expect(missing.code == .done && missing.output == "[]\n")
        #expect(missing.messages.contains("there is no topic push.control.v1, so nothing is held"))
        let release = broker.harness.run("release h-unknown")
        #expect(release.code == .failed && release.messages.contains("there is no topic push.control.v1"))
    }

    /// TOPIC_AUTHORIZATION_FAILED, for those who produce, fetch, or ask where a partition ends.
    @Test(
        arguments: [
            ("hold --tenant acme --reason r", [0], "Write"), ("limit 5 --tenant acme --reason r", [0], "Write"),
            ("holds", [1, 2], "Read"), ("release h-unknown", [1, 2], "Read"),
        ] as [(String, [Int16], String)])
    func theRightThatIsMissingIsNamed(line: String, apiKeys: [Int16], right: String) throws {
        let broker = try Self.broker()
        // Whoever reads an empty topic asks for nothing.
        try broker.write(["{}"], to: Self.control, key: "cancel/a")
        for apiKey in apiKeys { broker.cluster.failNext(apiKey: apiKey, codes: Array(repeating: 29, count: 100)) }
        let outcome = broker.harness.run(line)
        #expect(outcome.code == .notAllowed && outcome.output.isEmpty, "\(outcome.messages)")
        #expect(
            outcome.messages.contains(
                "the right \(right) on the topic push.control.v1 is missing: `pushfan topics acls --role operator`"),
            "\(outcome.messages)")
    }

    @Test(arguments: [("north", false), ("nroth", true)])
    func aHubThatIsNotKnownIsAWarning(hub: String, isUnknown: Bool) throws {
        let broker = try Self.broker()
        let outcome = Self.harness(broker).run("hold --hub \(hub) --reason r --hub.name north")
        #expect(outcome.code == .done && outcome.output.contains("hub:\(hub)"))
        #expect(outcome.messages.contains("name the hub '\(hub)'") == isUnknown, "\(outcome.messages)")
        #expect(try broker.read(Self.control, count: 1).count == 1)
    }
}
