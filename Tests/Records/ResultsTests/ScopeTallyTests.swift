import Delivery
import Kafka
import PushModel
import Testing

@testable import Results

/// Requests of a scope are counted where they stand, by the records that there are of them.
@Suite struct ScopeTallyTests {
    private static let topics = Topics()
    private static let now = Timestamp(milliseconds: 1_795_262_400_000)

    private static var sale: OrderScope {
        var scope = OrderScope()
        scope.labels = [.init("campaign", value: "sale")]
        return scope
    }

    private static func origin(_ offset: Int64, _ topic: String = topics.requests, at time: Timestamp = now) -> RecordOrigin {
        RecordOrigin(topic: topic, partition: 0, offset: offset, timestamp: time)
    }

    private static func value(_ fields: String = #""labels":{"campaign":"sale"}"#) -> [UInt8] {
        Array(#"{\#(fields.isEmpty ? "" : fields + ",")"audience":{"users":["ann"]},"message":{"title":"T"}}"#.utf8)
    }

    private static func result(
        _ offset: Int64, _ state: String = "sent", topic: String = topics.requests,
        _ fields: String = #""labels":{"campaign":"sale"}"#
    ) -> [UInt8] {
        let origin = #""origin":{"topic":"\#(topic)","partition":0,"offset":"\#(offset)"}"#
        return Array(
            #"{"request_id":"r\#(offset)","kind":"final","state":"\#(state)",\#(origin)\#(fields.isEmpty ? "" : "," + fields)}"#
                .utf8)
    }

    private static func tally(_ scope: OrderScope = sale, from: Timestamp? = nil, limit: Int = 100) -> ScopeTally {
        ScopeTally(scope, topics: topics, from: from, until: now, limit: limit)
    }

    private static func read(
        _ tally: inout ScopeTally, _ value: [UInt8], at origin: RecordOrigin, _ reading: FoundRequest.Reading = .unread
    ) {
        tally.take(value.span, headers: RecordHeaders(), at: origin, reading: reading)
    }

    private static func wait(_ tally: inout ScopeTally, _ value: [UInt8], from origin: RecordOrigin) {
        tally.takeDelayed(value.span, headers: RecordHeaders(), from: origin)
    }

    private static func end(_ tally: inout ScopeTally, _ value: [UInt8]) { tally.takeResult(value.span) }

    @Test func eachIsCountedWhereItStands() {
        var tally = Self.tally()
        Self.read(&tally, Self.value(), at: Self.origin(1))
        Self.read(&tally, Self.value(), at: Self.origin(2), .read)
        Self.read(&tally, Self.value(), at: Self.origin(3), .done)
        Self.read(&tally, Self.value(""), at: Self.origin(4))
        Self.read(&tally, Array("no request".utf8), at: Self.origin(5))
        Self.read(&tally, Self.value(#""labels":{"campaign":"sale"},"priority":7"#), at: Self.origin(6))
        Self.wait(&tally, Self.value(), from: Self.origin(0))
        Self.wait(&tally, Self.value(""), from: Self.origin(7))
        for (offset, state) in [(10, "sent"), (11, "partial"), (12, "failed"), (13, "cancelled")] as [(Int64, String)] {
            Self.end(&tally, Self.result(offset, state))
        }
        Self.end(&tally, Self.result(14, "sent", ""))
        Self.end(&tally, Array(#"{"request_id":"a","kind":"interim","state":"sent","labels":{"campaign":"sale"}}"#.utf8))
        #expect(tally.counts == ScopeCounts(waiting: 1, running: 1, delayed: 1, sent: 2, other: 2))
    }

    @Test func whatWentOnMeanwhileIsCountedOnceWhereItWasSeenLast() {
        var tally = Self.tally()
        for offset in 1...4 as ClosedRange<Int64> { Self.read(&tally, Self.value(), at: Self.origin(offset), .read) }
        for _ in 0..<2 { Self.wait(&tally, Self.value(), from: Self.origin(2)) }
        Self.wait(&tally, Self.value(), from: Self.origin(3))
        #expect(tally.counts == ScopeCounts(running: 2, delayed: 2))
        for _ in 0..<2 { Self.end(&tally, Self.result(3)) }
        Self.end(&tally, Self.result(4, "expired"))
        #expect(tally.counts == ScopeCounts(running: 1, delayed: 1, sent: 1, other: 1))
    }

    @Test func partsAreCountedByThemselvesAndByTheMomentOfTheirWhole() {
        func part(_ published: String, _ more: String = "") -> [UInt8] {
            Self.value(
                #""id":"w.3","labels":{"campaign":"sale"},"parent":{"id":"w","key":"k","partition":0,"chunk":3,"chunks":9,"published_at":"\#(published)"}\#(more)"#
            )
        }
        var tally = Self.tally(from: Timestamp(milliseconds: Self.now.milliseconds - 1000))
        let own = Self.topics.requestsOwn
        // Written after the last moment, of a whole that was published before.
        Self.read(&tally, part("2026-11-21T11:59:59.500Z"), at: Self.origin(1, own, at: Self.now.adding(milliseconds: 500)))
        Self.read(&tally, part("2026-11-21T11:59:58.000Z"), at: Self.origin(2, own))
        #expect(tally.counts == ScopeCounts(waiting: 1))
        // A publisher's lane has no parts.
        Self.read(&tally, part("2026-11-21T11:59:59.500Z"), at: Self.origin(3))
        #expect(tally.counts == ScopeCounts(waiting: 1))
        Self.end(&tally, Self.result(4, "sent", #""labels":{"campaign":"sale"},"parts":{"count":9}"#))
        #expect(tally.counts == ScopeCounts(waiting: 1), "the whole's result is none of its parts'")
    }

    @Test(arguments: [(-1001, 0), (-1000, 1), (0, 1), (1, 0)] as [(Int64, Int)])
    func onlyWhatWasPublishedBetweenTheMomentsCounts(_ milliseconds: Int64, _ count: Int) {
        let published = Self.now.adding(milliseconds: milliseconds)
        var tally = Self.tally(from: Self.now.adding(milliseconds: -1000))
        Self.read(&tally, Self.value(), at: Self.origin(1, at: published))
        Self.end(&tally, Self.result(2, "sent", #""labels":{"campaign":"sale"},"timings":{"published_at":"\#(published.text)"}"#))
        #expect(tally.counts == ScopeCounts(waiting: count, sent: count))
    }

    @Test func resultsOfAUserAreThoseOfRequestsThatWereRead() {
        var scope = OrderScope()
        scope.user = "ann"
        var tally = Self.tally(scope)
        #expect(tally.needsDone)
        Self.read(&tally, Self.value(""), at: Self.origin(1), .done)
        Self.end(&tally, Self.result(1, "sent", ""))
        Self.end(&tally, Self.result(2, "sent", ""))
        #expect(tally.counts == ScopeCounts(sent: 1))
    }

    @Test func theLaneIsThatOfTheRecord() {
        var scope = OrderScope()
        scope.lane = "high"
        var tally = Self.tally(scope)
        for topic in [Self.topics.requests, Self.topics.requestsHigh] {
            Self.read(&tally, Self.value(""), at: Self.origin(1, topic))
            Self.end(&tally, Self.result(2, "failed", topic: topic, ""))
        }
        #expect(tally.counts == ScopeCounts(waiting: 1, other: 1))
    }

    @Test func aHubThatIsNotKnownIsAGap() {
        var scope = OrderScope()
        scope.hub = "north"
        var tally = Self.tally(scope)
        Self.read(&tally, Self.value(#""hub":"north""#), at: Self.origin(1))
        Self.read(&tally, Self.value(#""hub":"south""#), at: Self.origin(2))
        #expect(tally.counts == ScopeCounts(waiting: 1))
        Self.read(&tally, Self.value(""), at: Self.origin(3))
        #expect(tally.counts == ScopeCounts(waiting: 1, isComplete: false))
    }

    @Test func beyondTheLimitTheCountIsSaidToBeIncomplete() {
        var tally = Self.tally(limit: 3)
        for offset in 0..<3 as Range<Int64> { Self.read(&tally, Self.value(), at: Self.origin(offset)) }
        #expect(tally.counts == ScopeCounts(waiting: 3))
        Self.read(&tally, Self.value(), at: Self.origin(3))
        #expect(tally.counts == ScopeCounts(waiting: 4, isComplete: false))
    }

    /// Any records against a count that remembers everything.
    @Test(arguments: 1...40) func aRunOfAnyRecordsIsCountedAsANaiveCountDoes(_ seed: UInt64) {
        var random = Steps(state: seed)
        var tally = Self.tally(limit: 10_000)
        var stands: [Int64: String] = [:]
        var ended: [String] = []
        let isMeant = (0..<200).map { _ in Bool.random(using: &random) }
        for offset in 0..<200 {
            let reading = [FoundRequest.Reading.unread, .read, .done].randomElement(using: &random) ?? .done
            Self.read(&tally, isMeant[offset] ? Self.value() : Self.value(""), at: Self.origin(Int64(offset)), reading)
            if isMeant[offset], reading != .done { stands[Int64(offset)] = reading == .unread ? "waiting" : "running" }
        }
        for _ in 0..<150 {
            let offset = Int.random(in: 0..<200, using: &random)
            Self.wait(&tally, isMeant[offset] ? Self.value() : Self.value(""), from: Self.origin(Int64(offset)))
            if isMeant[offset] { stands[Int64(offset)] = "delayed" }
        }
        for offset in (0..<200).shuffled(using: &random).prefix(80) {
            let state = Bool.random(using: &random) ? "sent" : "rejected"
            Self.end(&tally, Self.result(Int64(offset), state, isMeant[offset] ? #""labels":{"campaign":"sale"}"# : ""))
            guard isMeant[offset] else { continue }
            stands[Int64(offset)] = nil
            ended.append(state)
        }
        func count(_ word: String) -> Int { stands.values.count { $0 == word } }
        #expect(
            tally.counts
                == ScopeCounts(
                    waiting: count("waiting"), running: count("running"), delayed: count("delayed"),
                    sent: ended.count { $0 == "sent" }, other: ended.count { $0 != "sent" }))
    }

    /// Numbers that are the same for a seed.
    private struct Steps: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }
}
