@testable import OperatorAPI
import Basics
import Delivery
import Foundation
import GatewayAPI
import Kafka
import PushModel
import TestSupport
import Testing

@testable import Groups
@testable import JobSupport

/// The event about workers and hubs that goes out once a second.
@Suite struct FleetEventTests {
    private static func member(_ id: String, age: Int64 = 100, _ json: String) throws -> Fleet.Member {
        Fleet.Member(id: id, page: try #require(WorkerPage(Array(json.utf8))), raw: [], age: age)
    }

    private static func read(
        _ members: [Fleet.Member], _ work: RecentWork = RecentWork(), rates: [String: Double] = [:]
    ) throws -> [String: Any] {
        let bytes = FleetEvent(members: members, work: work, hubRates: rates).json(at: 1_764_000_000_000)
        #expect(bytes.count <= 65_536)
        return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    private static func list(_ name: String, of json: [String: Any]) throws -> [[String: Any]] {
        try #require(json[name] as? [[String: Any]])
    }

    /// The number of workers, loops of each, and hubs of each loop, and the length of texts.
    struct Size: Sendable, CustomTestStringConvertible {
        var workers = 100
        var loops = 1
        var hubs = 1
        var text = 20
        /// All has to be in the event.
        var isWhole = true

        var testDescription: String { "\(workers) workers, \(loops) loops, \(hubs) hubs, texts of \(text)" }
    }

    private static let sizes = [
        Size(), Size(hubs: 8), Size(workers: 0), Size(workers: 3, loops: 8, hubs: 5),
        Size(loops: 16, hubs: 70, isWhole: false), Size(workers: 3000, isWhole: false), Size(text: 5000, isWhole: false),
    ]

    private static func page(_ number: Int, _ size: Size) -> String {
        let text = String(repeating: "\\u0001", count: size.text / 6)
        let hubs = (0..<size.hubs).map {
            """
            {"hub":"north-europe-\($0)","circuit":"open","circuit_reason":"\(text)","circuit_change":"2026-11-27T15:30:12.782Z",\
            "limit":64,"in_flight":19,"waiting_for_turn":1000,"waiting_for_timer":1000,"rate_per_second":100.0,"throttled_ms":7}
            """
        }.joined(separator: ",")
        let loops = (0..<size.loops).map { loop in
            """
            {"worker":"pushfan-worker-\(number)-\(loop)","mode":"running","circuit":"open","limit":64,"in_flight":19,\
            "finished_per_second":1234.5,"last_rebalance":"2026-11-27T15:30:12.782Z","hubs":[\(hubs)],"partitions_omitted":7,\
            "partitions":[{"topic":"push.requests-high.v1","partition":\(number),"oldest":{"offset":123456789,\
            "published_at":"2026-11-27T15:30:12.782Z","attempt":3,"waits_for":"turn"}}]}
            """
        }.joined(separator: ",")
        return #"{"version":"0.46.0","loops":[\#(loops)]}"#
    }

    @Test(arguments: sizes)
    func anEventIsSmallAndCountsWhatItLeavesOut(size: Size) throws {
        let members = try (0..<size.workers).map { try Self.member("pushfan-worker-\($0)", Self.page($0, size)) }
        let json = try Self.read(members)
        let (workers, hubs) = (try Self.list("workers", of: json), try Self.list("hubs", of: json))
        #expect(workers.count + (json["workers_omitted"] as? Int ?? 0) == size.workers)
        #expect(hubs.count + (json["hubs_omitted"] as? Int ?? 0) == (size.workers > 0 ? size.hubs : 0) && hubs.count <= 64)
        for worker in workers {
            let loops = try Self.list("loops", of: worker)
            #expect(loops.count + (worker["loops_omitted"] as? Int ?? 0) == size.loops)
            #expect(worker["partitions"] as? Int == 8 * size.loops)
        }
        let isWhole = json["workers_omitted"] == nil && workers.allSatisfy { $0["loops_omitted"] == nil }
        #expect(isWhole || !size.isWhole)
    }

    @Test func aHubIsOneForAllWorkers() throws {
        let json = try Self.read(
            [
                Self.member(
                    "w-1",
                    """
                    {"loops":[{"hubs":[{"hub":"b","circuit":"closed","limit":8,"in_flight":2,"calls":40,"waiting_for_turn":1,"waiting_for_timer":4,\
                    "rate_per_second":2.5,"throttled_until":"2026-11-27T15:30:00.000Z"},{"hub":"a","circuit":"closed","limit":1}]},\
                    {"hubs":[{"hub":"b","circuit":"half_open","circuit_reason":"probe","limit":8,"in_flight":1,"calls":2}]}]}
                    """),
                Self.member(
                    "w-2",
                    """
                    {"loops":[{"hubs":[{"hub":"b","circuit":"open","circuit_change":"2026-11-27T15:31:00.000Z","rate_per_second":1,"calls":-7,\
                    "trouble":"it refuses the key","throttled_until":"2026-11-27T15:30:05.000Z"}]},{"hubs":[{"hub":"b","circuit":"open",\
                    "circuit_reason":"failures_in_row","circuit_change":"2026-11-27T15:30:30.000Z"}]}]}
                    """),
                Self.member("gone", age: 20_000, #"{"loops":[{"hubs":[{"hub":"c"}]}]}"#),
            ], rates: ["b": 42.04, "c": 1])
        let hubs = try Self.list("hubs", of: json)
        let (a, b) = (try #require(hubs.first), try #require(hubs.last))
        #expect(
            hubs.count == 2 && a["hub"] as? String == "a" && a["rate_per_second"] == nil && a["circuit"] as? String == "closed")
        let expected: [String: Any] = [
            "hub": "b", "circuit": "open", "circuit_reason": "failures_in_row", "circuit_change": "2026-11-27T15:30:30.000Z",
            "trouble": "it refuses the key", "in_flight": 3, "limit": 16, "calls_per_second": 42.0, "waiting_for_turn": 1,
            "waiting_for_timer": 4,
            "rate_per_second": 3.5, "throttled_until": "2026-11-27T15:30:05.000Z", "workers": 2,
        ]
        #expect(NSDictionary(dictionary: b) == NSDictionary(dictionary: expected) && json["hubs_partial"] == nil)
    }

    @Test(arguments: [#"{"loops":[{"hubs_omitted":1}]}"#, #"{"loops":[],"omitted":{"loops":1}}"#])
    func whereAReportHasNotAllHubsTheEventSaysSo(report: String) throws {
        #expect(try Self.read([Self.member("v", #"{"loops":[]}"#), Self.member("w", report)])["hubs_partial"] as? Bool == true)
        #expect(try Self.read([Self.member("w", age: 20_000, report)])["hubs_partial"] == nil)
    }

    @Test func aWorkerOfAnEarlierVersionHasTheHubThatItNames() throws {
        let json = try Self.read([Self.member("w", #"{"hub":"one","loops":[{"worker":"w","circuit":"open","limit":4}]}"#)])
        let hub = try #require(try Self.list("hubs", of: json).first)
        #expect(hub["hub"] as? String == "one" && hub["circuit"] as? String == "open" && hub["limit"] as? Int == 4)
    }

    @Test func aWorkerSaysItsVersionAndItsOldestRequest() throws {
        let json = try Self.read([
            Self.member(
                "w",
                """
                {"version":"1.2.3","loops":[{"worker":"w-1","finished_per_second":1.5,"last_rebalance":"2026-11-27T15:30:00.000Z",\
                "hubs":[{"hub":"a","circuit":"open"},{"hub":"b","circuit":"closed"}],"partitions":[{"topic":"t","partition":1,\
                "oldest":{"offset":9,"published_at":"2026-11-27T15:29:00.000Z","attempt":2,"waits_for":"turn"}}]},\
                {"worker":"w-2","finished_per_second":2.0,"last_rebalance":"2026-11-27T15:31:00.000Z","hubs":[{"hub":"a",\
                "trouble":"x"}],"partitions_omitted":3,"partitions":[{"topic":"u","partition":0,"oldest":{"offset":4,\
                "published_at":"2026-11-27T15:28:00.000Z","attempt":1,"waits_for":"hub"}},{"topic":"v","oldest":{"offset":1}}]}]}
                """)
        ])
        let worker = try #require(try Self.list("workers", of: json).first)
        #expect(worker["version"] as? String == "1.2.3" && worker["finished_per_second"] as? Double == 3.5)
        #expect(worker["hubs_trouble"] as? Int == 1 && worker["partitions"] as? Int == 6)
        #expect(worker["last_rebalance"] as? String == "2026-11-27T15:31:00.000Z")
        let oldest = try #require(worker["oldest"] as? [String: Any])
        let expected: [String: Any] = [
            "topic": "u", "partition": 0, "offset": 4, "published_at": "2026-11-27T15:28:00.000Z", "attempt": 1,
            "waits_for": "hub",
        ]
        #expect(NSDictionary(dictionary: oldest) == NSDictionary(dictionary: expected))
        #expect(try Self.list("loops", of: worker).compactMap { $0["partitions"] as? Int } == [1, 5])
    }

    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "1e400", "99999999999999999999999", "\"x\"", "null", "[1]"])
    func numbersOfAStrangerDoNoHarm(number: String) throws {
        let members = try ["x", "y"].map {
            try Self.member(
                $0,
                """
                {"version":\(number),"omitted":{"loops":\(number),"calls":\(number)},"loops":[{"limit":\(number),\
                "finished_per_second":1e300,"calls":\(number),"partitions_omitted":\(number),"hubs":[{"hub":\(number),\
                "limit":\(number),"in_flight":\(number),"waiting_for_turn":\(number),"rate_per_second":1e300,"circuit":"odd"}],\
                "partitions":[{"partition":\(number),"oldest":{"offset":\(number),"published_at":"1970-01-01T00:00:00.000Z"}}]}]}
                """)
        }
        let json = try Self.read(members)
        #expect(
            try Self.list("workers", of: json).count == 2 && Self.list("hubs", of: json).first?["circuit"] as? String == "closed")
    }

    @Test func latencyIsThereWhereAnythingWasFinished() throws {
        var (work, added) = (RecentWork(), CounterTally.Counters(finished: ["sent": 4], calls: 4))
        #expect(try Self.read([], work)["latency"] == nil)
        for _ in 0..<4 { added.latency.count(milliseconds: 50) }
        work.add(added, milliseconds: 1000)
        let json = try Self.read([], work)
        #expect(json["latency"] as? [String: Int] == ["count": 4, "p50_ms": 55, "p95_ms": 63, "p99_ms": 64])
        #expect(json["finished"] as? [String: Int] == ["sent": 4] && json["calls_per_second"] as? Double == 4)
    }

    @Test func whatWasSentIsCountedApartFromWhatFailed() throws {
        var work = RecentWork()
        work.add(.init(finished: ["sent": 3, "partial": 1, "failed": 40, "rejected": 2, "duplicate": 4]), milliseconds: 2000)
        let json = try Self.read([], work)
        #expect(json["sent_per_second"] as? Double == 2 && json["finished_per_second"] as? Double == 25)
    }

    /// A question that ran out of time.
    private static let silence = JobFailure.kafka(.overlongTransaction, .readPositions)

    private static func kafka(_ reach: KafkaReach, age: Int64?) throws -> NSDictionary? {
        let members = try age.map { [try member("w", age: $0, #"{"loops":[]}"#)] } ?? []
        let bytes = FleetEvent(members: members, work: RecentWork(), kafka: reach).json(at: 0)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        return (json["kafka"] as? [String: Any]).map(NSDictionary.init(dictionary:))
    }

    @Test(arguments: [20_000, nil] as [Int64?])
    func brokersThatDoNotAnswerAreNamedWithTheTimeOfTheFirstQuestion(age: Int64?) throws {
        var reach = KafkaReach()
        #expect(try Self.kafka(reach, age: age) == nil, "nothing was asked")
        reach.note(Self.silence, askedAt: 1000)
        reach.note(Self.silence, askedAt: 9000)
        reach.note(.cancelled, askedAt: 12_000)
        let away: NSDictionary = ["reachable": false, "since": "1970-01-01T00:00:01.000Z", "problem": "brokers do not answer"]
        #expect(try Self.kafka(reach, age: age) == away)
        reach.note(nil, askedAt: 15_000)
        #expect(try Self.kafka(reach, age: age) == ["reachable": true])
        reach.note(Self.silence, askedAt: 20_000)
        #expect(try Self.kafka(reach, age: age)?["since"] as? String == "1970-01-01T00:00:20.000Z")
    }

    @Test func brokersThatShowReportsOrRefuseAreNotAway() throws {
        var reach = KafkaReach()
        reach.note(.kafka(.unknownTopic("t"), .readPositions), askedAt: 1000)
        #expect(try Self.kafka(reach, age: nil) == ["reachable": true])
        reach.note(Self.silence, askedAt: 2000)
        #expect(try Self.kafka(reach, age: 900) == ["reachable": true], "a worker's report has just come through them")
    }

    @Test func whatIsInTroubleHasItsPlaceFirst() throws {
        var members = try (0..<3000).map { try Self.member("w-\($0)", #"{"loops":[{"worker":"w-\#($0)"}]}"#) }
        members.append(try Self.member("x", #"{"loops":[{"trouble":"it is stuck"}]}"#))
        members.append(try Self.member("y", age: 20_000, #"{"loops":[]}"#))
        let workers = try Self.list("workers", of: Self.read(members))
        #expect(workers.suffix(2).compactMap { $0["id"] as? String } == ["x", "y"])
    }
}

/// Work of late.
@Suite struct RecentWorkTests {
    @Test func ratesAreThoseOfTheLastTenSeconds() {
        var work = RecentWork()
        #expect(work.finishedPerSecond == 0 && work.callsPerSecond == 0)
        work.add(.init(), milliseconds: 0)
        for second in 0..<100 {
            work.add(.init(finished: ["sent": second < 90 ? 7 : 2, "failed": 1], calls: second < 90 ? 5 : 4), milliseconds: 1000)
        }
        #expect(work.finishedPerSecond == 3 && work.callsPerSecond == 4)
        #expect(work.finished == ["sent": 650, "failed": 100])
    }

    @Test func countsWithoutBoundDoNoHarm() {
        var work = RecentWork()
        for _ in 0..<1000 { work.add(.init(finished: ["sent": .max], calls: .max), milliseconds: .max) }
        for _ in 0..<1000 { work.add(.init(finished: ["sent": .max], calls: .max), milliseconds: -5) }
        #expect(work.finished == ["sent": .max] && work.callsPerSecond >= 0 && work.sentPerSecond >= 0)
    }

    @Test func wordsOfAStrangerAreNotCounted() {
        var tally = CounterTally()
        _ = tally.take(["w": .init()])
        #expect(tally.take(["w": .init(finished: ["sent": 1, "odd": 9], calls: 1)]).finished == ["sent": 1])
    }
}

/// Requests that wait, and those that are published.
@Suite struct BacklogTests {
    private static let topics = Topics()

    private static func partition(
        _ topic: String, _ number: Int32 = 0, end: Int64, waiting: Int64, since: Int64? = nil
    ) -> StatusReport.Partition {
        StatusReport.Partition(
            position: GroupPosition(TopicPartition(topic: topic, partition: number), low: 0, high: end, committed: 0),
            oldest: since.map { Timestamp(milliseconds: $0) }, owner: nil, fromWorker: nil,
            isDelayed: topics.delays.contains(topic), isHeld: topic == topics.held,
            counted: WaitingCount(requests: waiting))
    }

    private static func report(_ partitions: [StatusReport.Partition]) -> StatusReport {
        StatusReport(
            now: Timestamp(milliseconds: 10_000), groupID: "g", group: .failure(.unknownTopic("t")), partitions: partitions,
            workers: [])
    }

    @Test func eachLaneHasItsCountAndItsOldest() {
        let report = Self.report([
            Self.partition(Self.topics.requests, end: 9, waiting: 4, since: 8000),
            Self.partition(Self.topics.requests, 1, end: 9, waiting: 3, since: 9000),
            Self.partition(Self.topics.requestsHigh, end: 9, waiting: 0),
            Self.partition(Self.topics.delays[0], end: 9, waiting: 2, since: 12_000),
            Self.partition(Self.topics.delays[1], end: 9, waiting: 1, since: 9500),
            Self.partition(Self.topics.held, end: 9, waiting: 5, since: 1000),
        ])
        let backlog = History.Backlog(report, topics: Self.topics)
        #expect(
            backlog.lanes == [
                .init(name: "high"), .init(name: "normal", requests: 7, oldest: 2000),
                .init(name: "delayed", requests: 3, oldest: 500), .init(name: "held", requests: 5, oldest: 9000),
            ])
        #expect((backlog.requests, backlog.delayed, backlog.held, backlog.oldest) == (7, 3, 5, 9000))
    }

    @Test func anEventHasTheFirstReasons() throws {
        let reasons = (0..<30).map {
            StatusReport.WaitCause(.problem, text: "\($0)" + String(repeating: "é", count: 1000), isStuck: $0 < 2)
        }
        let bytes = History.Backlog().event(at: Timestamp(milliseconds: 5000), publishedPerSecond: 2.25, reasons: reasons)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        let read = try #require(json["reasons"] as? [[String: Any]])
        #expect(json["published_per_second"] as? Double == 2.3 && read.count == 20)
        #expect(read.map { $0["stuck"] as? Bool == true } == (0..<20).map { $0 < 2 })
        #expect(read.allSatisfy { ($0["text"] as? String)?.unicodeScalars.count == 500 && $0["kind"] as? String == "trouble" })
        #expect(json["at"] as? String == "1970-01-01T00:00:05.000Z")
    }

    @Test func anEventHasTheLinesOfWhoseRequestsWait() {
        let causes = ["sources: 'a b' 7", String(repeating: "x", count: 2000)]
        let bytes = History.Backlog().event(
            at: Timestamp(milliseconds: 0), publishedPerSecond: nil, reasons: [], causes: causes)
        let cut = String(repeating: "x", count: 1000)
        #expect(String(decoding: bytes, as: UTF8.self).hasSuffix(#""reasons":[],"causes":["sources: 'a b' 7","\#(cut)"]}"#))
    }

    @Test(arguments: [("9.5", nil), ("9.5", 3), ("9.5", 9.5), ("9.5", 40), ("0.0", nil)] as [(String, Double?)])
    func aStatusIsAsItIsDescribed(finished: String, published: Double?) throws {
        let json = Array(#"{"loops":[{"worker":"w","finished_per_second":\#(finished)}]}"#.utf8)
        let page = try #require(WorkerPage(json))
        var lane = Self.partition(Self.topics.requests, end: 9, waiting: 2, since: 0)
        lane.counted?.shares.add(source: "shop", tenant: "acme")
        lane.counted?.shares.add(source: nil, tenant: nil)
        var report = StatusReport(
            now: Timestamp(milliseconds: 10_000), groupID: "g", group: .failure(.unknownTopic("t")), partitions: [lane],
            workers: [.init(name: "w", age: 100, page: .success(page), raw: json)])
        report.publishedPerSecond = published
        let schema = try #require(APIOperation.Operate.showStatus.row.answers.first?.content?.schema)
        #expect(SchemaCheck.violations(of: report.json { _ in "" }, by: schema) == [] && report.outlook != nil)
    }

    @Test func whereItIsNotKnownTheEventSaysSo() {
        let event = History.Backlog.unknown(at: Timestamp(milliseconds: 5000))
        #expect(String(decoding: event, as: UTF8.self) == #"{"at":"1970-01-01T00:00:05.000Z","unknown":true}"#)
    }

    @Test func onlyWhatPublishersWriteIsPublished() {
        let topics = Self.topics
        let report = Self.report(
            [topics.requests, topics.requestsHigh, topics.requestsBulk, topics.requestsOwn, topics.delays[0], topics.held].map {
                Self.partition($0, end: 9, waiting: 0)
            })
        #expect(
            Set(report.publishedEnds(topics).keys.map(\.topic)) == [topics.requests, topics.requestsHigh, topics.requestsBulk])
    }

    @Test func whatIsPublishedIsTheGrowthOfTheEnds() {
        var count = PublishedCount()
        func note(_ ends: [Int32: Int64], at seconds: Int64) {
            let ends = ends.map { (TopicPartition(topic: "t", partition: $0.key), $0.value) }
            count.note(Dictionary(uniqueKeysWithValues: ends), at: MonotonicTime(nanoseconds: seconds * 1_000_000_000))
        }
        note([0: 100], at: 0)
        #expect(count.perSecond == nil && count.take() == nil)
        note([0: 110, 1: 1000], at: 5)
        note([0: 112, 1: 1008], at: 10)
        #expect(count.perSecond == 2)
        let (first, second) = (count.take(), count.take())
        #expect(first == 20 && second == nil)
        // The topic was made again, and has fewer.
        note([0: 3, 1: 1008], at: 15)
        #expect(count.perSecond == 0 && count.take() == 0)
        note([0: .max, 1: .max], at: 15)
        #expect(count.take() == nil, "no time has passed")
    }
}
