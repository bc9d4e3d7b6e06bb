import DoorStage
import HTTPServing
import Keys
import ResultFeed
import Testing

@testable import FeedAPI
@testable import GatewayAPI

/// Readers that have all there is: what they cost, and that they miss nothing.
@Suite struct FeedFrontTests {
    @Test func aResultIsReadForThoseAloneWhomItConcerns() {
        let stage = FeedStage()
        let sinks = (0..<100).map { stage.follow(by: FeedStage.publisher("s\($0)", [.publish])).sink }
        stage.turn()
        let before = stage.feed.readCount
        stage.bring("a", source: "s7")
        #expect(sinks.enumerated().filter { !ids(in: $0.element.text).isEmpty }.map(\.offset) == [7])
        #expect(stage.feed.readCount - before <= 4, "one reading for all, and those of one reader")
    }

    @Test func aFailureOfAllIsTriedAgainOnceASecond() {
        let stage = FeedStage()
        let sinks = (0..<100).map { stage.follow(by: FeedStage.publisher("s\($0)", [.publish])).sink }
        stage.turn()
        stage.feed.fail(with: .full)
        let before = stage.feed.readCount
        stage.bring("a", source: "s7")
        #expect(stage.feed.readCount - before == 1)
        stage.feed.fail(with: nil)
        stage.advance(seconds: 1)
        #expect(ids(in: sinks[7].text) == ["a"])
    }

    @Test func aKindThatNobodyWantsWakesNobody() {
        let stage = FeedStage()
        let sink = stage.follow("?kinds=outcome").sink
        stage.bring("a")
        #expect(ids(in: sink.text).isEmpty)
        stage.bring("b", kind: "outcome")
        #expect(ids(in: sink.text) == ["b"])
    }

    private static func audience(_ publisher: Publisher = FeedStage.shop) throws -> FeedAudience {
        let query = try FeedQuery(.init(method: "GET", target: "/v1/results"), of: .listResults, at: 0)
        return try FeedAudience(query, for: publisher)
    }

    private static func reading(_ id: String, to offset: Int64) throws -> FeedReading {
        let json = #"{"request_id":"\#(id)","kind":"final","state":"sent","source":"shop"}"#
        let record = try #require(FeedRecord(key: id, json: Array(json.utf8), partition: 0, offset: offset - 1, timestamp: 0))
        return FeedReading(records: [record], places: FeedPlaces([0: offset]), isAtEnd: true)
    }

    @Test func whoIsAheadReadsFromItsOwnPlaceAndWhoIsBehindReadsAgain() throws {
        var front = FeedFront()
        let audience = try Self.audience()
        let areIn = [5, 7, 4].enumerated().map { front.add($0.offset, for: audience, at: FeedPlaces([0: Int64($0.element)])) }
        #expect(areIn == [true, true, false])
        let woken = front.advance(from: FeedPlaces([0: 5]), by: try Self.reading("a", to: 6))
        #expect(woken == [0: FeedPlaces([0: 5]), 1: FeedPlaces([0: 7])] && front.places == nil)
    }

    @Test func aReadingFromAnotherPlaceThanTheirsChangesNothing() throws {
        var front = FeedFront()
        let isIn = front.add(1, for: try Self.audience(), at: FeedPlaces([0: 5]))
        let woken = front.advance(from: FeedPlaces([0: 4]), by: try Self.reading("a", to: 5))
        #expect(isIn && woken.isEmpty && front.places == FeedPlaces([0: 5]))
    }

    @Test func thoseWhomNothingConcernsComeAlong() throws {
        var front = FeedFront()
        let isIn = front.add(1, for: try Self.audience(FeedStage.publisher("bank", [.publish])), at: FeedPlaces([0: 5]))
        let woken = front.advance(from: FeedPlaces([0: 5]), by: try Self.reading("a", to: 6))
        let places = front.remove(1)
        #expect(isIn && woken.isEmpty && places == FeedPlaces([0: 6]) && front.places == nil)
    }

    @Test func aNewPartitionIsReadFromItsFirstRecord() {
        #expect(FeedPlaces([0: 5, 1: 0]).covers(FeedPlaces([0: 5])))
        #expect(!FeedPlaces([0: 5]).covers(FeedPlaces([0: 5, 1: 1])))
        #expect(FeedPlaces([0: 5]).merged(with: FeedPlaces([0: 4, 1: 2])) == FeedPlaces([0: 5, 1: 2]))
    }
}
