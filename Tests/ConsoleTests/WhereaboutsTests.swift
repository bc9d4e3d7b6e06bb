import Delivery
import Kafka
import PushModel
import Replay
import TestSupport
import Testing

@testable import Console
@testable import Jobs

@Suite struct WhereaboutsTests {
    private static let now = Timestamp(milliseconds: 1_000_000)

    private static func sighting(
        _ kind: TopicRole.Kind, _ reading: RequestSighting.Reading, due: Int64? = nil, published: Int64 = 7, attempts: Int64 = 0,
        offset: Int64 = 4, cancelled: Bool = false
    ) -> RequestSighting {
        let origin = RecordOrigin(topic: "lane", partition: 0, offset: 3, timestamp: Timestamp(milliseconds: published))
        let request = WaitingRequest(
            id: "a", origin: origin, due: due.map { Timestamp(milliseconds: $0) }, attempts: attempts,
            cancelledAt: cancelled ? now : nil)
        return RequestSighting(
            kind: kind, partition: TopicPartition(topic: "\(kind)", partition: 0), offset: offset, request: request, position: 4,
            reading: reading)
    }

    /// Records that were found, where the request is, and the offset of the record that says so.
    struct Row: Sendable {
        let sightings: [RequestSighting]
        let state: RequestWhereabouts.State
        let offset: Int64?

        init(_ state: RequestWhereabouts.State, _ offset: Int64?, _ sightings: RequestSighting...) {
            (self.sightings, self.state, self.offset) = (sightings, state, offset)
        }
    }

    static let rows: [Row] = [
        Row(.unknown, nil), Row(.published, 4, sighting(.requests, .unread)), Row(.inWork, 4, sighting(.requests, .read)),
        Row(.done, 4, sighting(.requests, .done)), Row(.held, 4, sighting(.held, .unread)),
        Row(.delayed, 4, sighting(.delayed, .unread, due: 2_000_000)),
        Row(.delayed, 4, sighting(.delayed, .read, due: 2_000_000)), Row(.inWork, 4, sighting(.delayed, .read, due: 900_000)),
        Row(.delayed, 4, sighting(.delayed, .unread, due: 900_000)),
        // The request went on to a lane, and from there to the next.
        Row(.delayed, 1, sighting(.requests, .done, offset: 9), sighting(.delayed, .unread, due: 2_000_000, offset: 1)),
        Row(.delayed, 2, sighting(.delayed, .done, due: 1, offset: 9), sighting(.delayed, .unread, due: 2_000_000, offset: 2)),
        Row(
            .delayed, 1, sighting(.delayed, .unread, due: 2_000_000, attempts: 2, offset: 1),
            sighting(.held, .unread, attempts: 1)),
        // The id was published again.
        Row(.published, 5, sighting(.requests, .done, published: 9, offset: 8), sighting(.requests, .unread, offset: 5)),
        Row(.published, 8, sighting(.requests, .unread, published: 9, offset: 8), sighting(.requests, .unread, offset: 5)),
    ]

    @Test(arguments: rows) func theRecordsSayWhereARequestIs(row: Row) {
        for sightings in [row.sightings, row.sightings.reversed()] {
            let whereabouts = RequestWhereabouts(sightings, now: Self.now)
            #expect(whereabouts.state == row.state && whereabouts.sighting?.offset == row.offset)
        }
    }

    @Test func thePositionSaysHowFarTheGroupIs() {
        var finished = FinishedOffsets()
        finished.insert(2)
        let position = GroupPosition(
            TopicPartition(topic: "t", partition: 0), low: 0, high: 9, committed: 4, metadata: finished.encoded())
        let readings: [RequestSighting.Reading] = (3..<8).map { position.reading(of: $0) }
        #expect(readings == [.done, .unread, .unread, .done, .unread])
        let none = GroupPosition(TopicPartition(topic: "t", partition: 0), low: 2, high: 9, committed: nil)
        #expect(none.reading(of: 2) == .unread)
    }

    private static func positions(_ highs: [Int64], start: Int64 = 0) -> [GroupPosition] {
        highs.enumerated().map {
            GroupPosition(TopicPartition(topic: "t", partition: Int32($0)), low: 0, high: $1, committed: start)
        }
    }

    @Test func theNewestOffsetsAreSearchedUpToALimit() {
        let windows = SearchWindow.all(of: Self.positions([1_000_000, 10], start: 9), keepsDone: true, place: nil, limit: 100)
        #expect(windows.map(\.offsets) == [999_950..<1_000_000, 0..<10] && windows.map(\.total) == [1_000_000, 10])
        let waiting = SearchWindow.all(of: Self.positions([12, 9], start: 9), keepsDone: false, place: nil, limit: 100)
        #expect(waiting.map(\.offsets) == [9..<12, 9..<9])
        let place = RecordPlace(topic: "t", partition: 1, offset: 3)
        let known = SearchWindow.all(of: Self.positions([12, 9]), keepsDone: true, place: place, limit: 100)
        #expect(known.map(\.offsets) == [12..<12, 3..<4] && known.map(\.searchedCount) == [0, 1])
    }

    @Test func aStoryNamesPlaceDueCancellationAndWhatWasSearched() {
        let sighting = Self.sighting(.delayed, .unread, due: 1_042_000, cancelled: true)
        let telling = WhereaboutsTelling(
            id: "a", whereabouts: RequestWhereabouts([sighting], now: Self.now), now: Self.now,
            extents: [.init(topic: "lane", searched: 20, total: 30), .init(topic: "delayed", searched: 1, total: 1)],
            troubles: ["held: not allowed"])
        #expect(
            telling.text == """
                request    a
                state      no result yet: waits in delayed, partition 0, offset 4, due 1970-01-01T00:17:22.000Z (in 42.0 s)
                published  1970-01-01T00:00:00.007Z to lane, partition 0, offset 3
                group      goes on at offset 4 of delayed[0], and is at it
                cancelled  1970-01-01T00:16:40.000Z; ends when its record is checked, at the latest when it is due
                searched   lane: the newest 20 of 30 offsets
                searched   delayed: 1 offset (all)
                unsearched held: not allowed
                """)
        let json = String(decoding: telling.json, as: UTF8.self)
        #expect(
            json.hasPrefix(
                #"{"request_id":"a","state":"delayed","topic":"delayed","partition":0,"offset":4,"due":"1970-01-01T00:17:22.000Z","#
                    + #""group_position":4,"reading":"unread","attempts":0,"published":{"topic":"lane","partition":0,"offset":3,"#
            ))
        #expect(json.contains(#""cancelled_at":"1970-01-01T00:16:40.000Z""#))
        #expect(
            json.hasSuffix(
                #""searched":[{"topic":"lane","offsets":20,"of":30},{"topic":"delayed","offsets":1,"of":1}],"not_searched":["held: not allowed"]}"#
            ))
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
        #expect(shown.code == .done && shown.lines == [#"{"request_id":"p","kind":"final","state":"sent"}"#])
    }
}
