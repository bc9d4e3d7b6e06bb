@testable import PublishAPI
@testable import GatewayAPI
import DoorStage
import Basics
import HTTPServing
import Kafka
import PushModel
import TestSupport
import Testing

/// Server-sent events of one request, and cancelling one.
@Suite struct RequestEventsTests {
    @Test(
        arguments: [
            ("sent", "{}", "event: state\nid: sent\ndata: {}\n\n"),
            ("a\nb: \u{7F}ü", "x\r\ny", "event: state\nid: ab:\ndata: x\ndata: y\n\n"),
        ])
    func aFrameHasOneFieldOnALine(id: String, data: String, frame: String) {
        #expect(String(decoding: EventFrames.event("state", id: id, data: Array(data.utf8)), as: UTF8.self) == frame)
    }

    @Test func commentsComeEvery15SecondsForEachStreamThatIsThere() {
        var schedule = EventSchedule()
        schedule.add(1, at: .at(0))
        schedule.add(2, at: .at(5_000_000_000))
        schedule.add(1, lookingAt: .at(3))
        #expect(schedule.next(at: .at(2)) == nil)
        let look = schedule.next(at: .at(3))
        #expect(look?.stream == 1 && look?.isComment == false && schedule.next(at: .at(14_999_999_999)) == nil)
        let first = schedule.next(at: .at(15_000_000_000))
        #expect(first?.stream == 1 && first?.isComment == true && schedule.next(at: .at(15_000_000_000)) == nil)
        schedule.remove(1)
        let second = schedule.next(at: .at(60_000_000_000))
        #expect(second?.stream == 2 && schedule.next(at: .at(60_000_000_000)) == nil && schedule.count == 1)
    }

    @Test func statesAreStreamedUntilTheFinalOne() throws {
        let stage = LookupStage()
        stage.publish("a", notBefore: 5000)
        let (answers, sink) = stage.follow("a")
        #expect(answers.all == [EventFrames.head])
        #expect(sink.text.hasPrefix("retry: 2000\n\nevent: state\nid: waiting\ndata: {\"id\":\"a\",\"state\":\"waiting\","))
        stage.advance(seconds: 4)
        #expect(sink.text.hasSuffix("}\n\n") && sink.text.contains("event: state\nid: accepted\n"))
        stage.advance(seconds: 15)
        #expect(sink.text.hasSuffix(":\n\n") && !sink.isEnded)
        try stage.bring("sent", of: "a")
        #expect(sink.text.contains("event: state\nid: sent\ndata: {") && sink.text.hasSuffix("event: end\nid: end\ndata: {}\n\n"))
        #expect(sink.isEnded && stage.endpoints.events.count == 0 && stage.lookup.watcherCount == 0)
    }

    @Test func whoeverConnectsAgainGetsWhatIsNew() throws {
        let stage = LookupStage()
        stage.publish("a")
        #expect(stage.follow("a", headers: ["Last-Event-ID": "accepted"]).sink.text == "retry: 2000\n\n")
        try stage.bring("sent", of: "a")
        let sink = stage.follow("a", headers: ["Last-Event-ID": "sent"]).sink
        #expect(sink.text == "retry: 2000\n\nevent: end\nid: end\ndata: {}\n\n" && sink.isEnded)
        #expect(stage.follow("a", headers: ["Last-Event-ID": "end"]).answers.all.map(\.status) == [204])
    }

    @Test func aReaderWhoHasGoneIsForgotten() {
        let stage = LookupStage()
        stage.publish("a")
        let sink = stage.follow("a").sink
        #expect(stage.endpoints.events.count == 1 && stage.results.count == 1)
        sink.leave()
        stage.advance(seconds: 15)
        #expect(stage.endpoints.events.count == 0 && stage.results.count == 0 && stage.lookup.watcherCount == 0)
    }

    @Test func aStopEndsStreamsWithoutAnEndSoThatClientsConnectAgain() {
        let stage = LookupStage()
        stage.publish("a")
        let sink = stage.follow("a").sink
        stage.lookup.endWatches()
        let late = stage.follow("a").sink
        for sink in [sink, late] { #expect(sink.isEnded && !sink.text.contains("event: end")) }
        #expect(stage.endpoints.events.count == 0 && stage.results.count == 0)
    }

    @Test func aHeadAndAStrangerGetNoStream() {
        let stage = LookupStage()
        stage.publish("a")
        let head = stage.follow("a", method: "HEAD")
        #expect(head.answers.all == [EventFrames.head] && head.sink.text.isEmpty && stage.endpoints.events.count == 0)
        #expect(stage.follow("a", by: LookupStage.stranger).answers.all.map(\.status) == [404])
    }

    // MARK: Cancelling

    private static let error = KafkaError.invalidArgument("a test wants it")

    @Test(arguments: [("", nil), ("{}", nil), (#"{"reason":"wrong audience"}"#, "wrong audience")] as [(String, String?)])
    func aCancellationIsForTheSourceOfTheKey(body: String, reason: String?) {
        let stage = LookupStage()
        stage.publish("a")
        let answers = stage.cancel("a", body: body)
        #expect(answers.all.map(\.status) == [202])
        #expect(answers.text == #"{"id":"a","state":"cancelling","cancelled_at":"1970-01-01T00:00:01.000Z"}"# + "\n")
        #expect(stage.cancelled.withLock { $0 } == [CancelRecord(requestID: "a", scope: .init(source: "shop"), reason: reason)])
    }

    /// Both keys pass for owners of the id. What the one cancels must not be the other's.
    @Test func whoPublishesUnderAnothersIdCancelsItsOwn() {
        let stage = LookupStage()
        for tenant in ["t4", "t5"] {
            let asker = Asker(keyID: "key-\(tenant)", source: "shop", tenant: tenant, mayPublish: true, mayRead: false)
            let owner = RequestOwner(source: asker.source, tenant: tenant)
            _ = stage.lookup.add(PublishedRequest(id: "a", owner: owner, acceptedAt: 1000))
            #expect(stage.cancel("a", by: asker).all.map(\.status) == [202])
        }
        let written = stage.cancelled.withLock { $0 }
        #expect(written.map(\.scope) == [.init(source: "shop", tenant: "t4"), .init(source: "shop", tenant: "t5")])
        #expect(Set(written.map(\.key)).count == 2)
    }

    @Test(
        arguments: [
            ("[", 400, ""), ("[]", 422, #""pointer":"""#), (#"{"reason":7}"#, 422, #""pointer":"/reason""#),
            (#"{"why":"x"}"#, 422, #""pointer":"/why""#),
            (#"{"reason":"\#(String(repeating: "x", count: 101))"}"#, 422, "101 characters"),
        ] as [(String, Int, String)])
    func whatIsNoReasonIsRefused(body: String, status: Int, words: String) {
        let stage = LookupStage()
        stage.publish("a")
        let answers = stage.cancel("a", body: body)
        #expect(answers.all.map(\.status) == [status] && answers.text.contains(words))
        #expect(stage.cancelled.withLock { $0 }.isEmpty)
    }

    @Test func aNewKeyOfTheSourceCancelsAnOldOnesRequests() {
        let stage = LookupStage()
        stage.publish("a")
        let rotated = Asker(keyID: "k6", source: "shop", tenant: nil, mayPublish: true, mayRead: false)
        #expect(stage.cancel("a", by: rotated).all.map(\.status) == [202])
        #expect(stage.cancelled.withLock { $0 } == [CancelRecord(requestID: "a", scope: .init(source: "shop"))])
    }

    @Test func aKeyCancelsItsOwnRequestsOnly() {
        let stage = LookupStage()
        stage.publish("a")
        let both = Asker(keyID: "k5", source: "office", tenant: nil, mayPublish: true, mayRead: true)
        for (asker, status) in [
            (both, 403), (LookupStage.reader, 403), (LookupStage.stranger, 404), (LookupStage.otherTenant, 404),
        ] { #expect(stage.cancel("a", by: asker).all.map(\.status) == [status]) }
        #expect(stage.cancel("nothing").all.map(\.status) == [404])
        #expect(stage.cancelled.withLock { $0 }.isEmpty)
        stage.records.withLock { $0 = #"{"id":"x","source":"shop"}"# }
        #expect(stage.cancel("x", query: "?at=requests/1/7").all.map(\.status) == [202])
    }

    @Test(
        arguments: [
            (.success(.notPersisted(Self.error)), 503), (.success(.possiblyPersisted(Self.error)), 504),
            (.failure(Self.error), 503),
        ] as [(Result<Producer.Delivery, KafkaError>, Int)])
    func withoutAnAcknowledgementItIsNot202(delivery: Result<Producer.Delivery, KafkaError>, status: Int) {
        let stage = LookupStage()
        stage.publish("a")
        stage.delivery.withLock { $0 = delivery }
        #expect(stage.cancel("a").all.map(\.status) == [status])
    }
}
