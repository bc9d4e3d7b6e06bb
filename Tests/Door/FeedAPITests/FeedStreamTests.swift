import Basics
import DoorStage
import HTTPServing
import Kafka
import ResultFeed
import TestSupport
import Testing

@testable import FeedAPI
@testable import GatewayAPI

/// `GET /v1/results/events`: frames, cursors, slow clients, and ends.
@Suite struct FeedStreamTests {
    /// The ids of events in a text.
    private static func cursors(in text: String) -> [String] {
        text.split(separator: "\n").filter { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
    }

    @Test func aStreamBeginsWithItsCursorAndHasOneBehindTheResultsOfATurn() {
        let stage = FeedStage()
        let cursor = stage.get().cursor
        let (answers, sink) = stage.follow()
        #expect(answers.all == [EventFrames.head])
        let beginning = "retry: 2000\n\nevent: cursor\nid: \(cursor)\ndata: {}\n\n"
        #expect(sink.text == beginning)
        stage.bring("a", "b")
        let events = sink.text.dropFirst(beginning.count).split(separator: "\n\n")
        #expect(events.count == 2 && events[0].hasPrefix("event: result\ndata: {"))
        #expect(events.last?.hasPrefix("event: result\nid: \(stage.get().cursor)\ndata: {") == true)
        #expect(ids(in: sink.text) == ["a", "b"])
    }

    @Test func theLastIDCountsMoreThanTheQuery() {
        let stage = FeedStage()
        let first = stage.get().cursor
        stage.bring("a")
        let last = stage.get().cursor
        stage.bring("b")
        #expect(ids(in: stage.follow("?after=\(first)").sink.text) == ["a", "b"])
        #expect(ids(in: stage.follow("?after=\(first)", headers: ["Last-Event-ID": last]).sink.text) == ["b"])
        #expect(ids(in: stage.follow("?since=first", headers: ["Last-Event-ID": last]).sink.text) == ["b"])
        #expect(stage.follow(headers: ["Last-Event-ID": "%"]).answers.last?.status == 400)
    }

    @Test func aStreamResumedAnywhereMissesNothing() {
        let stage = FeedStage()
        let sink = stage.follow().sink
        let brought = (0..<20).map { "r\($0)" }
        for (index, id) in brought.enumerated() { stage.bring(id, partition: Int32(index % 2)) }
        for (index, cursor) in Self.cursors(in: sink.text).enumerated() {
            let resumed = stage.follow(headers: ["Last-Event-ID": cursor]).sink
            #expect(ids(in: resumed.text).sorted() == brought.dropFirst(index).sorted())
        }
    }

    @Test func silenceIsACommentAndResultsOfOthersMoveTheCursor() {
        let stage = FeedStage()
        let sink = stage.follow().sink
        stage.advance(seconds: 15)
        #expect(sink.text.hasSuffix("data: {}\n\n:\n\n"))
        stage.bring("strange", source: "bank")
        let before = sink.text
        stage.advance(seconds: 15)
        #expect(sink.text == before + "event: cursor\nid: \(stage.get().cursor)\ndata: {}\n\n")
        #expect(Self.cursors(in: sink.text).count == 2)
    }

    @Test func aPlaceBehindTheLastResultIsNoCursor() throws {
        let sink = ManualSink()
        let stream = FeedStream(from: FeedPlaces([0: 5, 1: 5]), opening: { sink }, refusing: { _ in })
        #expect(stream.rest(at: FeedPlaces([0: 6, 1: 5])))
        let before = sink.text
        #expect(before.hasSuffix("id: \(FeedPlaces([0: 6, 1: 5]).text)\ndata: {}\n\n"))
        #expect(stream.rest(at: FeedPlaces([0: 9, 1: 4])) && stream.rest(at: FeedPlaces([0: 6])))
        #expect(sink.text == before + ":\n\n:\n\n")
        #expect(stream.rest(at: FeedPlaces([0: 6, 1: 6])) && sink.text.hasSuffix("data: {}\n\n"))
    }

    @Test func aStreamThatKafkaKeepsWaitingIsOpenedByAndBy() {
        let stage = FeedStage()
        let cursor = stage.get().cursor
        stage.feed.hold()
        let (answers, sink) = stage.follow("?after=\(cursor)")
        #expect(answers.all.isEmpty)
        stage.advance(seconds: 15)
        #expect(answers.all == [EventFrames.head] && sink.text.contains("id: \(cursor)"))
        stage.feed.letGo()
        stage.bring("a")
        #expect(ids(in: sink.text) == ["a"])
    }

    @Test func forASlowClientNothingIsQueuedAndNothingIsLost() {
        let stage = FeedStage()
        let sink = stage.follow().sink
        sink.take(0)
        let padding = #","error":{"message":"\#(String(repeating: "x", count: 40_000))"}"#
        stage.bring("a", members: padding)
        for number in 0..<10 { stage.bring("b\(number)", members: padding) }
        stage.advance(seconds: 20)
        #expect(ids(in: sink.text) == ["a"] && !sink.isEnded && sink.pendingByteCount < 64 << 10)
        sink.take(nil)
        for _ in 0..<10 { stage.turn() }
        #expect(ids(in: sink.text) == ["a"] + (0..<10).map { "b\($0)" })
    }

    @Test func aClientThatHasGoneGivesItsPlaceBack() {
        let stage = FeedStage(connections: 8)
        let sink = stage.follow().sink
        #expect(stage.follow().answers.last?.status == 429)
        sink.leave()
        stage.bring("a")
        #expect(stage.endpoints.count == 0 && stage.follow().answers.last?.status == 200)
    }

    @Test func aCursorThatHasExpiredBeginsNoStream() {
        let stage = FeedStage()
        let cursor = stage.get().cursor
        stage.feed.fail(with: .gone(first: FeedPlaces([0: 7])))
        let (answers, sink) = stage.follow("?after=\(cursor)")
        #expect(answers.all.map(\.status) == [410] && answers.text.contains("cursor_expired"))
        #expect(sink.text.isEmpty && stage.endpoints.count == 0)
    }

    @Test func aStreamEndsBehindTheProblemOfItsCursor() {
        let stage = FeedStage()
        let sink = stage.follow().sink
        stage.feed.fail(with: .gone(first: FeedPlaces([0: 7])))
        stage.bring("a")
        #expect(sink.text.contains("event: problem\ndata: {") && sink.text.contains("cursor_expired") && sink.isEnded)
        #expect(sink.text.contains(#""first":"\#(FeedPlaces([0: 7]).text)""#) && stage.endpoints.count == 0)
    }

    @Test(arguments: [FeedFailure.full, .unreachable(.invalidArgument("a test wants it"))])
    func aStreamGoesOnASecondAfterAFailure(failure: FeedFailure) {
        let stage = FeedStage()
        let cursor = stage.get().cursor
        stage.feed.fail(with: failure)
        let sink = stage.follow("?after=\(cursor)").sink
        stage.bring("a")
        stage.feed.fail(with: nil)
        #expect(ids(in: sink.text).isEmpty && !sink.isEnded)
        stage.advance(seconds: 1)
        #expect(ids(in: sink.text) == ["a"])
    }

    @Test(arguments: [FeedFailure.full, .unreachable(.invalidArgument("a test wants it"))])
    func aStreamThatHasAllOutlivesAFailure(failure: FeedFailure) {
        let stage = FeedStage()
        let sink = stage.follow().sink
        stage.feed.fail(with: failure)
        stage.bring("a")
        stage.feed.fail(with: nil)
        stage.advance(seconds: 1)
        stage.bring("b")
        #expect(ids(in: sink.text) == ["a", "b"])
    }

    @Test func whoLosesItsRightsGetsNoMore() {
        let stage = FeedStage()
        let sink = stage.follow().sink
        stage.endRights()
        stage.bring("a")
        #expect(ids(in: sink.text).isEmpty && sink.text.contains("event: problem") && sink.isEnded)
        #expect(stage.endpoints.count == 0)
    }

    @Test func aStopEndsStreams() {
        let stage = FeedStage()
        let sink = stage.follow().sink
        stage.endpoints.endWaits()
        #expect(sink.isEnded && stage.endpoints.count == 0)
        #expect(stage.follow().answers.last?.status == 503)
    }

    @Test func aHeadHasNoStream() {
        let stage = FeedStage()
        #expect(stage.follow(method: "HEAD").answers.all == [EventFrames.head] && stage.endpoints.count == 0)
    }
}
