import Delivery
import JobSupport
import Kafka
import PushModel
import TestSupport
import Testing

@testable import Console
@testable import Groups
@testable import Results

@Suite struct WhereaboutsTests {
    private static let now = Timestamp(milliseconds: 1_000_000)

    @Test func aStoryNamesPlaceDueCancellationAndWhatWasSearched() {
        let request = WaitingRequest(
            id: "a", origin: RecordOrigin(topic: "lane", partition: 0, offset: 3, timestamp: Timestamp(milliseconds: 7)),
            due: Timestamp(milliseconds: 1_042_000), attempts: 0, cancelledAt: Self.now)
        let sighting = FoundRequest(
            kind: .delayed, partition: TopicPartition(topic: "delayed", partition: 0), offset: 4, request: request, position: 4,
            reading: .unread)
        let refusal = KafkaError.invalidArgument("not allowed")
        let report = WhereaboutsReport(
            id: "a", whereabouts: RequestWhereabouts([sighting], now: Self.now), now: Self.now,
            extents: [.init(topic: "lane", searched: 20, total: 30), .init(topic: "delayed", searched: 1, total: 1)],
            gaps: [.undescribed(topic: "held", refusal)])
        #expect(
            report.text == """
                request    a
                state      no result yet: waits in delayed, partition 0, offset 4, due 1970-01-01T00:17:22.000Z (in 42.0 s)
                published  1970-01-01T00:00:00.007Z to lane, partition 0, offset 3
                group      goes on at offset 4 of delayed[0], and is at it
                cancelled  1970-01-01T00:16:40.000Z; ends when its record is checked, at the latest when it is due
                searched   lane: the newest 20 of 30 offsets
                searched   delayed: 1 offset (all)
                unsearched held: \(refusal.description)
                """)
        let json = String(decoding: report.json, as: UTF8.self)
        #expect(
            json.hasPrefix(
                #"{"request_id":"a","state":"delayed","topic":"delayed","partition":0,"offset":4,"due":"1970-01-01T00:17:22.000Z","#
                    + #""group_position":4,"reading":"unread","attempts":0,"published":{"topic":"lane","partition":0,"offset":3,"#
            ))
        #expect(json.contains(#""cancelled_at":"1970-01-01T00:16:40.000Z""#))
        #expect(
            json.hasSuffix(
                #""searched":[{"topic":"lane","offsets":20,"of":30},{"topic":"delayed","offsets":1,"of":1}],"not_searched":["held: \#(refusal.description)"]}"#
            ))
    }
}

extension WhereaboutsTests {
    @Test(
        arguments: [
            (4, 1, "divided into 4 parts, of which 1 has a result", #""parts":{"count":4,"ended":1}"#),
            (1, 0, "divided into 1 part, of which 0 have a result", #""parts":{"count":1,"ended":0}"#),
            (nil, 12, "divided into parts, of which at least 12 have a result", #""parts":{"ended":12}"#),
        ] as [(Int?, Int, String, String)])
    func whatWasDividedSaysHowManyPartsHaveAResult(count: Int?, ended: Int, words: String, json: String) {
        let origin = RecordOrigin(topic: "lane", partition: 0, offset: 3, timestamp: Timestamp(milliseconds: 7))
        let divided = DividedRequest(origin: origin, at: Self.now, count: count, endedCount: ended)
        let report = WhereaboutsReport(
            id: "a", whereabouts: RequestWhereabouts([], divided: divided, now: Self.now), now: Self.now, extents: [], gaps: [])
        #expect(
            report.text == """
                request    a
                state      no result yet: \(words)
                published  1970-01-01T00:00:00.007Z to lane, partition 0, offset 3
                """)
        let shown = String(decoding: report.json, as: UTF8.self)
        #expect(shown.hasPrefix(#"{"request_id":"a","state":"in_parts",\#(json),"published":{"topic":"lane""#), "\(shown)")
    }
}

/// The command against the broker inside the process.
@Suite(.serialized) struct ShowWithoutResultTests {
    private static let now: Int64 = 1_795_262_400_000

    private static func waiting(_ offset: Int, due: Int64) -> [(name: String, value: String)] {
        [
            ("pushfan-group", "pushfan"), ("pushfan-origin-topic", "push.requests.v1"), ("pushfan-origin-partition", "0"),
            ("pushfan-origin-offset", "\(offset)"), ("pushfan-origin-timestamp-ms", "\(now - 9000)"),
            ("pushfan-not-before-ms", "\(due)"), ("pushfan-attempt", "1"),
        ]
    }

    private static func request(_ id: String) -> String {
        #"{"id":"\#(id)","audience":{"users":["u"]},"message":{"title":"Hi"}}"#
    }

    private static func broker() throws -> Broker {
        let broker = try Broker()
        try broker.write([request("p")], to: "push.requests.v1", at: now - 1000)
        try broker.write([request("d")], to: "push.delay-1m.v1", headers: waiting(100, due: now + 42_000), at: now - 5000)
        try broker.write([request("h")], to: "push.held.v1", headers: waiting(101, due: now), at: now - 5000)
        try broker.write([#"{"reason":"r"}"#], to: "push.control.v1", key: "cancel/d", at: now - 500)
        let whole = #"{"schema_version":1,"id":"w","chunks":3,"calls":9}"#
        try broker.write([whole], to: "push.parents.v1", key: ":file:w", at: now - 500)
        try broker.write([#"{"v":1,"state":"sent","outcome":"success"}"#], to: "push.parents.v1", key: ":file:w/2", at: now - 400)
        return broker
    }

    @Test func whatHasNoResultIsFoundWhereItWaits() throws {
        let broker = try Self.broker()
        let harness = broker.harness
        for (id, text) in [
            (
                "p",
                #""state":"published","topic":"push.requests.v1","partition":0,"offset":0,"group_position":0,"reading":"unread""#
            ),
            ("d", #""state":"delayed","topic":"push.delay-1m.v1","partition":0,"offset":0,"due":"2026-11-21T12:00:42.000Z""#),
            ("h", #""state":"held","topic":"push.held.v1","partition":0,"offset":0"#),
            ("w", #""state":"in_parts","parts":{"count":3,"ended":1},"#),
            ("push.requests.v1:0:0", #""state":"published","topic":"push.requests.v1""#),
            ("push.requests.v1:0:101", #""state":"held","topic":"push.held.v1""#), ("nobody", #""state":"unknown","searched":["#),
        ] {
            let shown = harness.run("results show \(id) -o json")
            #expect(shown.output.contains(text), "\(id): \(shown)")
            #expect(shown.code == .nothingMatched && shown.messages.contains("there is no result for"))
            #expect(shown.output.contains("cancelled_at") == (id == "d"))
        }
        let text = harness.run("results show d").output
        #expect(
            text.contains("waits in push.delay-1m.v1, partition 0, offset 0, due 2026-11-21T12:00:42.000Z (in 42.0 s)"), "\(text)"
        )
        #expect(text.contains("searched   push.requests.v1: 1 offset (all)"))
        withExtendedLifetime(broker) {}
    }

    @Test func whatHasAResultIsNotSearchedFor() throws {
        let broker = try Self.broker()
        try broker.writeResults([#"{"request_id":"p","kind":"final","state":"sent"}"#])
        let shown = broker.harness.run("results show p -o json")
        #expect(shown.code == .done, "\(shown)")
        #expect(
            shown.output.hasPrefix(#"{"request_id":"p","kind":"final","state":"sent","verdict":{"code":"sent","text":"Sent"#),
            "\(shown)")
    }
}
