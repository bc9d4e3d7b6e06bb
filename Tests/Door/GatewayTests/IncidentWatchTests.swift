@testable import OperatorAPI
@testable import GatewayAPI
import Basics
import Delivery
import EventLoop
import Foundation
import HTTPServing
import Kafka
import Keys
import Observability
import PushModel
import TestSupport
import Testing

@testable import Groups
@testable import JobSupport
@testable import Results

/// Incidents as a gateway sees, writes and shows them.
@Suite struct IncidentWatchTests {
    private static let start: Int64 = 1_795_262_400_000

    /// A gateway whose fleet is looked at second by second, without a broker.
    private final class Stage: Sendable {
        let wall = Box<Int64>(start)
        let time = Box(MonotonicTime(nanoseconds: 0))
        let written = Box<[[UInt8]]>([])
        let limited = RefusedCalls()
        let open: OpenFailures
        let watch: IncidentWatch

        init() {
            let context = JobContext(
                kafka: KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), topics: Topics(), timeout: .milliseconds(50),
                now: { [wall] in wall.withLock { $0 } })
            open = OpenFailures(
                context, answers: ResultAnswers(context), isIndexed: { false }, now: { [time] in time.withLock { $0 } })
            watch = IncidentWatch(context, log: .silent, limited: limited, open: open, scopes: { [:] }) { [written] record in
                written.withLock { $0.append(record) }
            }
        }

        /// Looks once a second at a worker whose hub has a circuit.
        func run(_ seconds: Int, circuit: String = "closed", expired: Int = 0) throws {
            let page = try #require(WorkerPage(Array(#"{"loops":[{"hubs":[{"hub":"shop","circuit":"\#(circuit)"}]}]}"#.utf8)))
            for _ in 0..<seconds {
                let now = wall.withLock { wall -> Int64 in
                    wall += 1000
                    return wall
                }
                var facts = IncidentSignFinder.Facts()
                facts.members = [Fleet.Member(id: "w", page: page, raw: [], age: 100)]
                (facts.wall, facts.passed, facts.hasKafkaAnswered) = (now, 1000, true)
                var look = IncidentTally.Sample(wall: now, passed: 1000)
                look.expired = expired
                watch.note(facts, at: look) { 340 }
            }
        }

        var event: [String: Any] {
            var json = JSONObject(["at": "x"])
            watch.add(to: &json)
            return (try? JSONSerialization.jsonObject(with: Data(json.bytes))) as? [String: Any] ?? [:]
        }

        var texts: [String] { (event["incidents"] as? [[String: Any]] ?? []).compactMap { $0["text"] as? String } }
    }

    @Test func whatIsOutIsInTheEventWhileItLastsAndForADay() throws {
        let stage = Stage()
        stage.watch.noteRead(last: nil, began: Self.start)
        try stage.run(5, circuit: "open")
        #expect(stage.texts.isEmpty && stage.event["open_failures"] == nil && stage.event["dead_letters"] == nil)
        try stage.run(300, circuit: "open", expired: 1)
        #expect(stage.texts == ["Hub shop has been down for 5 min 4 s; meanwhile 340 requests waited, 300 expired in all."])
        try stage.run(20)
        #expect(stage.texts.first?.hasPrefix("Hub shop was down for 5 min") == true)
        #expect(stage.texts.first?.contains(", and has shown no trouble for 20 s; meanwhile") == true, "\(stage.texts)")
        try stage.run(40)
        #expect(stage.texts == ["Hub shop was down for 5 min 4 s; meanwhile 340 requests waited, 300 expired in all."])
        stage.wall.withLock { $0 += 86_300_000 }
        #expect(stage.texts.count == 1)
        stage.wall.withLock { $0 += 100_000 }
        #expect(stage.texts.isEmpty && stage.watch.incidents(since: .min).count == 1)
        stage.wall.withLock { $0 += 14 * 86_400_000 }
        #expect(stage.watch.incidents(since: .min).isEmpty)
    }

    @Test func anIncidentIsWrittenAtItsBeginningEachMinuteAndAtItsEnd() throws {
        let stage = Stage()
        stage.watch.noteRead(last: nil, began: Self.start)
        func written() -> [Incident] { stage.written.withLock { $0 }.compactMap { Incident(record: $0.span) } }
        try stage.run(6, circuit: "open")
        #expect(written().count == 1)
        try stage.run(59, circuit: "open")
        #expect(written().count == 1)
        try stage.run(1, circuit: "open")
        #expect(written().count == 2 && written().last?.lasted == 65_000)
        stage.watch.writePresent()
        #expect(written().count == 3)
        try stage.run(60)
        #expect(written().last?.isOver == true && Set(written().map(\.id)).count == 1)
        let count = written().count
        try stage.run(300)
        stage.watch.writePresent()
        #expect(written().count == count)
    }

    /// A digest of a gateway that does not know all would hide the rest.
    @Test func aDigestIsWrittenEachHourOnceAllIncidentsAreKnown() throws {
        let stage = Stage()
        func digests() -> Int {
            stage.written.withLock { $0 }.count { String(decoding: $0, as: UTF8.self).hasPrefix(#"{"digest""#) }
        }
        stage.watch.noteRead(last: nil, began: Self.start)
        try stage.run(10, circuit: "open")
        #expect(digests() == 0 && !stage.watch.noteWhole(since: .min, isAll: false))
        #expect(stage.watch.noteWhole(since: .min, isAll: true))
        try stage.run(3590, circuit: "open")
        #expect(digests() == 1)
        let count = stage.written.withLock { $0.count }
        try stage.run(20, circuit: "open")
        #expect(digests() == 2 && stage.written.withLock { $0.count } >= count + 2)
    }

    /// Gateways of before read minutes of that topic.
    @Test func aRecordOfAnIncidentIsNoMinuteAndAMinuteIsNoIncident() throws {
        let incident = Incident.unwatched(from: Self.start - 600_000, to: Self.start)
        var history = History()
        history.take(incident.record.span, now: Self.start)
        var digested = IncidentList()
        for record in digested.digest(at: Self.start) { history.take(record.span, now: Self.start) }
        #expect(history.minutes(since: .min).isEmpty)
        var minute = History.Minute(at: Self.start)
        minute.covered = 60_000
        var list = IncidentList()
        list.take(record: minute.json.span, now: Self.start)
        #expect(list.count == 0)
        list.take(record: incident.record.span, now: Self.start)
        #expect(list.count == 1)
    }

    @Test(arguments: [(nil, false), (150, false), (151, true), (7200, true)] as [(Int64?, Bool)])
    func theTimeInWhichNoGatewayWatchedIsSaidOnce(seconds: Int64?, isSaid: Bool) {
        let stage = Stage()
        for _ in 0..<2 { stage.watch.noteRead(last: seconds.map { Self.start - $0 * 1000 }, began: Self.start) }
        #expect(stage.written.withLock { $0.count } == (isSaid ? 1 : 0))
        #expect(stage.watch.incidents(since: .min).map(\.kind) == (isSaid ? [.unwatched] : []))
        if seconds == 7200 { #expect(stage.texts.first?.hasPrefix("Nothing was watched for 2 h 0 min: ") == true) }
    }

    @Test func callsThatARateRefusesAreAnIncidentOfTheirTenant() throws {
        let stage = Stage()
        stage.watch.noteRead(last: nil, began: Self.start)
        let shop = Publisher(keyID: "k", tenant: "acme", source: "/shop", scopes: [])
        let other = Publisher(keyID: "l", tenant: nil, source: "/other", scopes: [])
        for second in 0..<10 {
            for _ in 0..<3 { stage.limited.note(shop) }
            if second == 0 { stage.limited.note(other) }
            try stage.run(1)
        }
        #expect(stage.texts == ["Tenant acme has been held to its rate for 9 s."])
        for number in 0..<500 { stage.limited.note(Publisher(keyID: "k", tenant: "t\(number)", source: "", scopes: [])) }
        #expect(stage.limited.take().count <= 64 && stage.limited.take().isEmpty)
    }

    @Test func thoseThatLastHaveTheFirstPlacesOfAnEvent() {
        let incidents = (0..<9).map { place in
            let from = Self.start - Int64(place) * 600_000
            return Incident(
                record: Array(
                    """
                    {"incident":{"id":"\(place)","kind":"hub_down","subject":"h\(place)","from":"\(Timestamp(milliseconds: from).text)",\
                    "seen_ms":\(place == 8 ? 4_800_000 : 1000),"over":\(place != 8)}}
                    """.utf8
                ).span)
        }.compactMap { $0 }
        #expect(IncidentWatch.shown(incidents, at: Self.start).map(\.id) == ["8", "0", "1", "2", "3"])
    }

    /// An event with the longest names has the room that it may have.
    @Test func longNamesLeaveRoomForTheFleet() {
        let stage = Stage()
        stage.watch.noteRead(last: nil, began: Self.start)
        for _ in 0..<10 {
            stage.wall.withLock { $0 += 1000 }
            let now = stage.wall.withLock { $0 }
            var facts = IncidentSignFinder.Facts()
            (facts.wall, facts.passed) = (now, 1000)
            for name in ["a", "b", "c", "d", "e", "f"] {
                stage.limited.note(
                    Publisher(keyID: "k", tenant: name + String(repeating: "\u{1}", count: 500), source: "", scopes: []))
            }
            stage.watch.note(facts, at: .init(wall: now, passed: 1000)) { 0 }
        }
        var json = JSONObject(["at": "x"])
        stage.watch.add(to: &json)
        #expect(json.bytes.count <= 12_500 && stage.texts.count >= 1)
    }

    /// A count that takes too long is remembered as not known, and those before it stay.
    @Test func countsOfIncidentsAreKeptOneByOneAndRestAfterwards() {
        var counts = IncidentCounts()
        var now = MonotonicTime(nanoseconds: 1_000_000_000)
        #expect(counts.begin(["a", "b", "c"], at: now) == ["a", "b", "c"])
        #expect(counts.begin(["d"], at: now).isEmpty, "one counts at a time")
        now = now.advanced(by: .seconds(2))
        counts.note(7, of: "a", at: now)
        counts.note(nil, of: "b", at: now)
        counts.end(at: now, took: 2_000_000_000)
        #expect(counts.open == ["a": 7])
        now = now.advanced(by: .seconds(39))
        #expect(counts.begin(["a", "b", "c"], at: now).isEmpty && counts.open == ["a": 7], "it rests for 20 times its time")
        now = now.advanced(by: .seconds(1))
        #expect(counts.begin(["a", "b", "c"], at: now) == ["c", "a", "b"], "those that had no turn come first")
        counts.note(1, of: "c", at: now)
        counts.end(at: now, took: 0)
        #expect(counts.begin(["c"], at: now).isEmpty && counts.open == ["a": 7, "c": 1], "it is of now")
        now = now.advanced(by: .seconds(30))
        #expect(counts.begin((0..<90).map { "i\($0)" }, at: now).count == 50)
        for number in 0..<500 { counts.note(1, of: "i\(number)", at: now) }
        #expect(counts.open.count <= 200)
    }

    @Test func openFailuresAreCountedSeldomAndNotWithoutAnIndex() {
        let stage = Stage()
        let first = stage.open.begins()
        let second = stage.open.begins()
        #expect(first && !second, "one counts at a time")
        stage.open.count()
        #expect(!stage.open.begins() && stage.event["open_failures"] == nil && stage.event["dead_letters"] == nil)
        stage.time.withLock { $0 = $0.advanced(by: .seconds(30)) }
        #expect(stage.open.begins())
        stage.open.giveUp()
        #expect(stage.open.begins())
        #expect(stage.open.counts(of: [.unwatched(from: 0, to: 9)], at: Self.start).isEmpty)
    }
}

/// Incidents over HTTP.
@Suite(.tags(.waits, .threads)) struct IncidentRouteTests {
    @Test func incidentsOfAnyGatewayAreListed() throws {
        let gateway = try ServedGateway(checkKey: { _, _ in
            .signedIn(Publisher(keyID: "k", tenant: nil, source: "/ops", scopes: [.read]))
        })
        defer { gateway.stop() }
        let (cluster, topics) = (try #require(gateway.cluster), gateway.configuration.topics)
        try? cluster.createTopic(topics.history, partitions: 1)
        let now = WallClock.millisecondsSince1970()
        let producer = try Producer(KafkaConfiguration(bootstrapServers: cluster.bootstrapServers), transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try #require(try producer.warmUp(topics: [topics.history], timeout: farDeadline).first)
        for ago in [7_200_000, 600_000] as [Int64] {
            let incident = Incident.unwatched(from: now - ago - 300_000, to: now - ago)
            try producer.produce(to: topic, partition: 0, key: nil, value: incident.record.span, timestamp: now)
        }
        try producer.flush(timeout: farDeadline)
        func ask(_ query: String) throws -> (status: Int, text: String) {
            let client = try RawClient(port: gateway.port)
            client.send(request("GET", "/v1/incidents\(query)", ["Authorization: Bearer \(ServedGateway.key)"]))
            let answer = client.answer()
            return (answer.status, String(decoding: answer.body, as: UTF8.self))
        }
        func lengths(_ query: String) throws -> Int { try ask(query).text.components(separatedBy: #""seconds":300,"#).count - 1 }
        #expect(eventually { (try? lengths("")) == 2 })
        #expect(try lengths("?since=1h") == 1 && lengths("?since=1m") == 0)
        #expect(try ask("?since=x").status == 400 && ask("?sinc=1h").status == 400)
    }
}
