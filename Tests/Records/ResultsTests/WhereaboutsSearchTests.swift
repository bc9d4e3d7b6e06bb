import Delivery
import Kafka
import PushModel
import Replay
import Testing

@testable import Groups
@testable import Results

/// The records of a request say where it is, and a search reads only what can hold them.
@Suite struct WhereaboutsSearchTests {
    private static let now = Timestamp(milliseconds: 1_000_000)

    private static func sighting(
        _ kind: AssignmentPlan.Kind, _ reading: FoundRequest.Reading, due: Int64? = nil, published: Int64 = 7,
        attempts: Int64 = 0,
        offset: Int64 = 4
    ) -> FoundRequest {
        let origin = RecordOrigin(topic: "lane", partition: 0, offset: 3, timestamp: Timestamp(milliseconds: published))
        let request = WaitingRequest(
            id: "a", origin: origin, due: due.map { Timestamp(milliseconds: $0) }, attempts: attempts,
            cancelledAt: nil)
        return FoundRequest(
            kind: kind, partition: TopicPartition(topic: "\(kind)", partition: 0), offset: offset, request: request, position: 4,
            reading: reading)
    }

    /// Records that were found, where the request is, and the offset of the record that says so.
    struct Row: Sendable {
        let sightings: [FoundRequest]
        let state: RequestWhereabouts.State
        let offset: Int64?

        init(_ state: RequestWhereabouts.State, _ offset: Int64?, _ sightings: FoundRequest...) {
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
            #expect(whereabouts.state == row.state && whereabouts.found?.offset == row.offset)
        }
    }

    private static let divided = DividedRequest(origin: nil, at: Timestamp(milliseconds: 8), count: 4, endedCount: 1)

    @Test func whatWasDividedIsNotDoneNorUnknownWhileItsPartsAreOpen() {
        for sightings in [[], [Self.sighting(.requests, .done)]] {
            let whereabouts = RequestWhereabouts(sightings, divided: Self.divided, now: Self.now)
            #expect(whereabouts.state == .inParts && whereabouts.divided == Self.divided && !whereabouts.isUnknown)
        }
        // Its id was published again, and that one waits.
        let again = RequestWhereabouts([Self.sighting(.requests, .unread)], divided: Self.divided, now: Self.now)
        #expect(again.state == .published && again.divided == nil)
    }

    /// A record of the topic of parents: its key, and its value or nil.
    private typealias Line = (key: String, value: String?)

    private static func record(_ id: String, chunks: Int, of place: String? = nil) -> String {
        let origin = place.map { #","origin":{"topic":"\#($0)","partition":0,"offset":"3","timestamp_ms":7}"# } ?? ""
        return #"{"schema_version":1,"id":"\#(id)","chunks":\#(chunks),"calls":9\#(origin)}"#
    }

    private static func read(_ lines: [Line], for id: String, found: [FoundRequest] = []) -> DividedRequest? {
        var reader = DividedReader(for: id, place: RecordPlace(id), found: found)
        for (time, line) in lines.enumerated() {
            let at = Timestamp(milliseconds: Int64(time))
            let (key, value) = (Array(line.key.utf8), line.value.map { Array($0.utf8) })
            if let value {
                reader.take(key: key.span, value: value.span, at: at)
            } else {
                reader.take(key: key.span, value: nil, at: at)
            }
        }
        return reader.divided
    }

    @Test func theTopicOfParentsSaysHowManyPartsHaveEnded() {
        let part = #"{"v":1,"state":"sent","outcome":"success"}"#
        let lines: [Line] = [
            ("lane:0:3", Self.record("a", chunks: 4, of: "lane")), ("lane:0:9", Self.record("b", chunks: 9, of: "lane")),
            ("lane:0:9/0", part), ("lane:0:3/0", part), ("lane:0:3/2", part), ("lane:0:3/2", part), ("odd", "x"),
            (":file:f/progress", "{}"), (":file:f", Self.record("f", chunks: 2)), (":file:f/1", part),
        ]
        let origin = RecordOrigin(topic: "lane", partition: 0, offset: 3, timestamp: Timestamp(milliseconds: 7))
        let a = DividedRequest(origin: origin, at: Timestamp(milliseconds: 0), count: 4, endedCount: 2, sentCount: 2)
        #expect(Self.read(lines, for: "a") == a)
        #expect(Self.read(lines, for: "lane:0:3") == a, "an id that is a place")
        #expect(
            Self.read(lines, for: "f")
                == DividedRequest(origin: nil, at: Timestamp(milliseconds: 8), count: 2, endedCount: 1, sentCount: 1))
        #expect(Self.read(lines, for: "nobody") == nil)
        // Its own record stands before what is read.
        let late = Array(lines.dropFirst(4))
        #expect(Self.read(late, for: "a") == nil)
        let found = [Self.sighting(.requests, .done)]
        #expect(
            Self.read(late, for: "a", found: found)
                == DividedRequest(origin: nil, at: Timestamp(milliseconds: 0), count: nil, endedCount: 1, sentCount: 1))
        // What is finished is deleted, the record of the whole first or last.
        let deleted: [Line] = [("lane:0:3/0", nil), ("lane:0:3", nil), ("lane:0:3/2", nil)]
        #expect(Self.read(lines + deleted, for: "a", found: found) == nil)
    }

    /// Another request of that id stood at the place before its topic was made again.
    @Test func partsOfAnotherRequestAtThePlaceAreNotCounted() {
        func key(_ time: Int64) -> String {
            let origin = RecordOrigin(topic: "lane", partition: 0, offset: 3, timestamp: Timestamp(milliseconds: time))
            let id = Array("a".utf8)
            return ParentKey(of: origin, id: id.span).text
        }
        let part = #"{"v":1,"state":"sent","outcome":"success"}"#
        let lines: [Line] = [("\(key(6))/0", part), ("\(key(7))/0", part), ("\(key(6))/1", part)]
        let found = [Self.sighting(.requests, .done, published: 7)]
        let divided = DividedRequest(origin: nil, at: Timestamp(milliseconds: 1), count: nil, endedCount: 1, sentCount: 1)
        #expect(Self.read(lines, for: "a", found: found) == divided)
        #expect(Self.read(lines, for: "lane:0:3")?.endedCount == 1, "the newest at the place")
    }

    @Test func thePositionSaysHowFarTheGroupIs() {
        var finished = FinishedOffsets()
        finished.insert(2)
        let position = GroupPosition(
            TopicPartition(topic: "t", partition: 0), low: 0, high: 9, committed: 4, metadata: finished.encoded())
        let readings: [FoundRequest.Reading] = (3..<8).map { position.reading(of: $0) }
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
}
