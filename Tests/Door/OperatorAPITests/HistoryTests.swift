@testable import OperatorAPI
@testable import GatewayAPI
import DoorStage
import Basics
import HTTPServing
import Keys
import PushModel
import ResultQuery
import Results
import TestSupport
import Testing

/// What happened in each minute of the last hour.
@Suite struct HistoryTests {
    private static let now: Int64 = 1_764_000_030_000
    private static let beginning = History.beginning(of: now)

    private static func minute(_ back: Int64, covered: Int, sent: Int) -> History.Minute {
        var minute = History.Minute(at: beginning - back * History.minute)
        (minute.covered, minute.finished, minute.calls, minute.workers) = (covered, ["sent": sent], sent, 2)
        minute.backlog = History.Backlog(
            requests: 3, delayed: 2, held: 1, oldest: 500,
            lanes: [.init(name: "high", requests: 1, oldest: 7), .init(name: "held", requests: 2)])
        minute.published = 9
        for milliseconds in 1...Int64(sent) { minute.latency.count(milliseconds: milliseconds * 100) }
        return minute
    }

    @Test func aMinuteSurvivesItsRecord() {
        let minute = Self.minute(1, covered: 60_000, sent: 7)
        var history = History()
        history.take(minute.json.span, now: Self.now)
        #expect(history.minutes(since: 0) == [minute])
    }

    @Test func theGreatestMinuteHasRoomInARecord() throws {
        var minute = Self.minute(1, covered: 60_000, sent: 1)
        let most = 1 << 53
        (minute.calls, minute.workers, minute.published) = (most, most, most)
        for state in ResultState.allCases { minute.finished[state.rawValue] = most }
        for bound in LatencyHistogram.bounds { minute.latency.add(1 << 53, upTo: bound) }
        let lanes = History.LaneBacklog.names.map { History.LaneBacklog(name: $0, requests: most, oldest: most) }
        minute.backlog = .init(requests: most, delayed: most, held: most, oldest: most, lanes: lanes)
        #expect(minute.json.count <= 8192 / 2)
        var history = History()
        history.take(minute.json.span, now: Self.now)
        #expect(history.minutes(since: 0) == [minute])
    }

    @Test func aMinuteHasThePercentilesOfItsResults() throws {
        var minute = History.Minute(at: Self.beginning)
        #expect(!String(decoding: minute.json, as: UTF8.self).contains("latency"))
        for _ in 0..<10 { minute.latency.count(milliseconds: 50) }
        let text = String(decoding: minute.json, as: UTF8.self)
        #expect(text.contains(#""latency":{"count":10,"p50_ms":55,"p95_ms":63,"p99_ms":64},"total_ms":{"64":10}"#))
    }

    @Test func aRecordOfAnEarlierVersionIsRead() throws {
        var history = History()
        let at = Timestamp(milliseconds: Self.beginning).text
        let json = """
            {"at":"\(at)","covered_ms":5000,"finished":{"sent":3},"calls":4,"workers":2,\
            "backlog":{"requests":3,"delayed":2,"held":1,"oldest_ms":500}}
            """
        history.take(Array(json.utf8).span, now: Self.now)
        let minute = try #require(history.minutes(since: 0).first)
        #expect(minute.backlog == .init(requests: 3, delayed: 2, held: 1, oldest: 500) && minute.published == nil)
        #expect(minute.latency == .init())
        #expect(minute.finished == ["sent": 3] && minute.calls == 4)
    }

    @Test(arguments: [
        #"{"lane":"high","requests":-1}"#, #"{"lane":"odd","requests":1}"#, #"{"lane":3}"#, "7",
    ])
    func lanesOfAStrangerAreBounded(lane: String) throws {
        var history = History()
        let at = Timestamp(milliseconds: Self.beginning).text
        let lanes = [String](repeating: lane, count: 100).joined(separator: ",")
        history.take(Array(#"{"at":"\#(at)","backlog":{"lanes":[\#(lanes)]}}"#.utf8).span, now: Self.now)
        let read = try #require(history.minutes(since: 0).first?.backlog?.lanes)
        #expect(read == (lane.contains("high") ? [.init(name: "high")] : []))
    }

    @Test func ofOneMinuteTheOneThatHasSeenMostOfItCounts() {
        var history = History()
        for (covered, sent) in [(20_000, 1), (59_000, 2), (30_000, 3)] {
            history.take(Self.minute(1, covered: covered, sent: sent), now: Self.now)
        }
        #expect(history.minutes(since: 0).map { $0.finished["sent"] } == [2])
    }

    @Test func onlyTheLastHourIsKept() {
        var history = History()
        for back in Int64(-20)...200 { history.take(Self.minute(back, covered: 1, sent: 1), now: Self.now) }
        let kept = history.minutes(since: 0)
        #expect(kept.first?.at == Self.beginning - 60 * History.minute && kept.last?.at == Self.beginning + 10 * History.minute)
        #expect(kept.count <= 2 * APILimit.historyMinutes && history.minutes(since: Self.beginning).count == 11)
    }

    @Test(arguments: ["", "{}", "[]", "{\"at\":1}", "{\"at\":\"2026\"}", "{\"at\":\"2026-11-21T17:00:30.000Z\"}", "\u{0}"])
    func aStrangersRecordIsPassedOver(text: String) {
        var history = History()
        history.take(Array(text.utf8).span, now: Self.now)
        #expect(history.minutes(since: .min).isEmpty)
    }

    @Test func greatNumbersOfAStrangerDoNoHarm() {
        var history = History()
        let at = Timestamp(milliseconds: Self.beginning).text
        let json =
            #"{"at":"\#(at)","covered_ms":9223372036854775807,"calls":9223372036854775807,"finished":{"sent":9223372036854775807,"x":1}}"#
        history.take(Array(json.utf8).span, now: Self.now)
        #expect(history.minutes(since: 0).first?.covered == 60_000)
        #expect(history.minutes(since: 0).first?.finished == ["sent": 1 << 53])
        var tally = CounterTally()
        _ = tally.take(["a": .init(), "b": .init()])
        let sum = tally.take([
            "a": .init(finished: ["sent": .max], calls: .max), "b": .init(finished: ["sent": .max], calls: .max),
        ])
        #expect(sum.calls == .max && sum.finished == ["sent": .max])
    }

    @Test func countersAreCountedFromWhereTheyWere() {
        var tally = CounterTally()
        #expect(tally.take(["a": .init(finished: ["sent": 100], calls: 100)]) == .init())
        #expect(
            tally.take([
                "a": .init(finished: ["sent": 103, "failed": 1], calls: 105), "b": .init(finished: ["sent": 9], calls: 9),
            ])
                == .init(finished: ["sent": 3, "failed": 1], calls: 5))
        // The first has started anew, and begun at 0.
        #expect(
            tally.take(["a": .init(finished: ["sent": 2], calls: 2), "b": .init(finished: ["sent": 9], calls: 10)])
                == .init(finished: ["sent": 2], calls: 3))
    }
}

/// The counts of times from publishing to results.
@Suite struct LatencyTallyTests {
    private static func counters(_ durations: Int64...) -> CounterTally.Counters {
        var counters = CounterTally.Counters()
        for duration in durations { counters.latency.count(milliseconds: duration) }
        return counters
    }

    @Test func timesAreCountedFromWhereTheyWere() {
        var tally = CounterTally()
        #expect(tally.take(["a": Self.counters(10, 10, 500)]).latency.total == 0)
        #expect(tally.take(["a": Self.counters(10, 10, 500, 70), "b": Self.counters(9)]) == Self.counters(70))
        // The first has started anew, and begun at 0.
        #expect(tally.take(["a": Self.counters(20, 10), "b": Self.counters(9, 9)]) == Self.counters(20, 10, 9))
        // A worker of an earlier version has none.
        #expect(tally.take(["a": Self.counters(), "b": Self.counters(9, 9)]) == Self.counters())
    }

    @Test func theTimesOfTheLastMinuteCount() {
        var work = RecentWork()
        for _ in 0..<100 { work.add(Self.counters(5000), milliseconds: 1000) }
        for _ in 0..<60 { work.add(Self.counters(10, 20), milliseconds: 1000) }
        #expect(work.latency.total == 120 && work.latency.buckets.map(\.bound) == [11, 23])
        #expect(work.latency.figures != nil && RecentWork().latency.figures == nil)
    }
}

/// Streams of events about replays and the fleet.
@Suite struct EventStreamsTests {
    private let time = Box(MonotonicTime(nanoseconds: 0))

    private func begin(_ subject: String, by key: String = "k1", on streams: EventStreams, sink: ManualSink) -> Answered {
        let answered = Answered()
        var call = call(.followStatus, scopes: [.read], answer: { answered.add($0) })
        call = OperatorCall(
            operation: call.operation, id: call.id, request: call.request,
            publisher: Publisher(keyID: key, tenant: nil, source: "shop", scopes: call.publisher.scopes), answer: call.answer,
            stream: { _, _ in sink })
        streams.begin(subject, for: call)
        return answered
    }

    @Test func aStreamGetsWhatIsNewAboutItsSubject() {
        let streams = EventStreams(limit: 10) { [time] in time.withLock { $0 } }
        let (one, other) = (ManualSink(), ManualSink())
        _ = begin("a", on: streams, sink: one)
        _ = begin("b", on: streams, sink: other)
        for data in ["{1}", "{1}", "{2}"] { streams.send("progress", id: "7", data: Array(data.utf8), to: "a") }
        #expect(one.text == "retry: 2000\n\nevent: progress\nid: 7\ndata: {1}\n\nevent: progress\nid: 7\ndata: {2}\n\n")
        #expect(other.text == "retry: 2000\n\n" && streams.subjects == ["a", "b"])
        streams.end("a")
        #expect(one.isEnded && one.text.hasSuffix("event: end\nid: end\ndata: {}\n\n") && !other.isEnded && streams.count == 1)
    }

    @Test func aStreamThatComesLaterGetsTheLastEventsAtOnce() {
        let streams = EventStreams(limit: 10) { [time] in time.withLock { $0 } }
        let (one, other, last) = (ManualSink(), ManualSink(), ManualSink())
        streams.send("fleet", id: "1", data: Array("{0}".utf8), to: "a")
        _ = begin("a", on: streams, sink: one)
        #expect(one.text == "retry: 2000\n\n")
        for data in ["{1}", "{2}"] { streams.send("fleet", id: "2", data: Array(data.utf8), to: "a") }
        streams.send("backlog", id: "2", data: Array("{3}".utf8), to: "a")
        _ = begin("a", on: streams, sink: other)
        let events = "event: backlog\nid: 2\ndata: {3}\n\nevent: fleet\nid: 2\ndata: {2}\n\n"
        #expect(other.text == "retry: 2000\n\n" + events)
        streams.send("fleet", id: "3", data: Array("{2}".utf8), to: "a")
        #expect(other.text == "retry: 2000\n\n" + events, "it has these data")
        // What nobody has followed any more is no news.
        for sink in [one, other] { sink.leave() }
        streams.send("fleet", id: "4", data: Array("{4}".utf8), to: "a")
        _ = begin("a", on: streams, sink: last)
        #expect(last.text == "retry: 2000\n\n")
    }

    @Test func anEventOfLongAgoIsNotThePresent() {
        let streams = EventStreams(limit: 10) { [time] in time.withLock { $0 } }
        let later = ManualSink()
        _ = begin("a", on: streams, sink: ManualSink())
        streams.send("backlog", id: "1", data: Array("{1}".utf8), to: "a")
        streams.send("fleet", id: "1", data: Array("{2}".utf8), to: "a")
        time.withLock { $0 = $0.advanced(by: .seconds(15)) }
        streams.send("fleet", id: "2", data: Array("{2}".utf8), to: "a")
        _ = begin("a", on: streams, sink: later)
        #expect(later.text == "retry: 2000\n\nevent: fleet\nid: 2\ndata: {2}\n\n")
    }

    @Test func aStreamHasRoomForTheLargestEventsAtItsBeginning() {
        let streams = EventStreams(limit: 10) { [time] in time.withLock { $0 } }
        // Whoever drops an answer ends its stream.
        let answers = Box<[HTTPServerResponse]>([])
        for _ in 0..<2 {
            let call = call(.followStatus, scopes: [.read])
            let real = OperatorCall(
                operation: call.operation, id: call.id, request: call.request, publisher: call.publisher, answer: call.answer,
                stream: { head, onEnd in
                    let (response, stream) = HTTPServerResponse.events(head, onEnd: onEnd)
                    answers.withLock { $0.append(response) }
                    return stream
                })
            streams.begin("a", for: real)
            streams.send("backlog", id: "1", data: [UInt8](repeating: 0x61, count: 6000), to: "a")
            streams.send("fleet", id: "1", data: [UInt8](repeating: 0x61, count: 62_000), to: "a")
        }
        #expect(streams.count == 2 && answers.withLock { $0.count } == 2)
    }

    @Test func aSilentStreamGetsAComment() {
        let streams = EventStreams(limit: 10) { [time] in time.withLock { $0 } }
        let sink = ManualSink()
        _ = begin("a", on: streams, sink: sink)
        streams.tick()
        #expect(sink.text == "retry: 2000\n\n")
        time.withLock { $0 = $0.advanced(by: .seconds(16)) }
        streams.tick()
        streams.tick()
        #expect(sink.text == "retry: 2000\n\n:\n\n")
    }

    @Test func aClientThatHasGoneIsForgotten() {
        let streams = EventStreams(limit: 10) { [time] in time.withLock { $0 } }
        let sink = ManualSink()
        _ = begin("a", on: streams, sink: sink)
        sink.leave()
        streams.send("progress", id: "1", data: [], to: "a")
        #expect(streams.count == 0)
    }

    /// Eight streams, of one key two.
    @Test func aKeyWithItsShareOfStreamsLeavesTheOthersTheirs() throws {
        let streams = EventStreams(limit: 8) { [time] in time.withLock { $0 } }
        let sinks = (0..<3).map { _ in ManualSink() }
        let answers = sinks.map { begin("a", on: streams, sink: $0) }
        #expect(answers[0].all.isEmpty && answers[1].all.isEmpty)
        #expect(answers[2].all.map(\.status) == [429] && answers[2].last?.headers["Retry-After"] == "5")
        #expect(begin("a", by: "support", on: streams, sink: ManualSink()).all.isEmpty && streams.count == 3)
        sinks[0].leave()
        streams.send("progress", id: "1", data: [], to: "a")
        #expect(begin("b", on: streams, sink: ManualSink()).all.isEmpty && streams.count == 3, "the place is free again")
        streams.end("a")
        streams.end("b")
        #expect((0..<2).allSatisfy { _ in begin("a", on: streams, sink: ManualSink()).all.isEmpty } && streams.count == 2)
    }

    /// Sixteen connections: twelve waits and streams of all kinds, of one key three.
    @Test func aStreamIsOneOfAllHeldAnswers() {
        let held = HeldAnswers(connections: 16)
        let streams = EventStreams(limit: 100, held: held) { [time] in time.withLock { $0 } }
        for _ in 0..<3 { #expect(held.take(for: Claimant(keyID: "k1", tenant: nil)) == nil) }
        #expect(begin("a", on: streams, sink: ManualSink()).last?.status == 429)
        held.giveBack(of: Claimant(keyID: "k1", tenant: nil))
        #expect(begin("a", on: streams, sink: ManualSink()).all.isEmpty)
        #expect(held.refusal(for: Claimant(keyID: "k1", tenant: nil)) == .share)
        streams.end("a")
        #expect(held.refusal(for: Claimant(keyID: "k1", tenant: nil)) == nil)
    }

    @Test func thereIsALimit() {
        let streams = EventStreams(limit: 1) { [time] in time.withLock { $0 } }
        #expect(begin("a", on: streams, sink: ManualSink()).all.isEmpty)
        #expect(begin("a", on: streams, sink: ManualSink()).last?.status == 503)
    }
}

/// Where a list goes on.
@Suite struct ListCursorTests {
    @Test func itIsReadAsItWasGiven() throws {
        let cursor = ListCursor(now: 5, place: .init(time: -7, partition: 3, offset: 1 << 40), filter: .max)
        #expect(ListCursor(cursor.text) == cursor)
        #expect(cursor.text.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
    }

    /// Whoever writes a cursor may write any numbers, and relative times count from one of them.
    @Test(arguments: [Int64.max, .min, -1, 0, 1 << 31, 1 << 31 - 1]) func anyNumbersAreReadAndCountedWith(number: Int64) throws {
        let place = ResultCursor(time: number, partition: Int32(clamping: number), offset: number)
        let cursor = ListCursor(now: number, place: place, filter: 0)
        let read = try #require(ListCursor(cursor.text))
        #expect(read == cursor)
        for words in ["since:1h", "until:now", "since:100000d until:1ms", ""] {
            let filter = try? CallerFilter(words, at: read.now, tenant: nil)
            #expect(filter.map { $0.now == number && $0.filter.description.isEmpty == words.isEmpty } ?? words.contains("since"))
        }
    }

    @Test(arguments: [
        "1.0.0.2147483648.0.0", "1.0.0.-2147483649.0.0", "1.9223372036854775808.0.0.0.0", "1.0.0.0.9223372036854775808.0",
    ])
    func aNumberThatHasNoRoomIsNone(parts: String) {
        let text = String(decoding: Base64.encode(Array(parts.utf8)), as: UTF8.self)
        #expect(ListCursor(text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")) == nil)
    }

    @Test(arguments: ["", "x", "MQ", "MS4yLjMuNC41", String(repeating: "A", count: 1000), "%%%"])
    func anythingElseIsNone(text: String) { #expect(ListCursor(text) == nil) }

    @Test func anotherFilterOrTenantHasAnotherHash() throws {
        let hashes = try [("state:failed", nil), ("state:sent", nil), ("state:failed", "acme")].map {
            try CallerFilter($0.0, at: 0, tenant: $0.1).hash
        }
        #expect(Set(hashes).count == 3)
    }
}
