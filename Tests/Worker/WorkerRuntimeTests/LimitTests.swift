import CurlHTTP
import Delivery
import HubEmulator
import Kafka
import Observability
import PushModel
import TestSupport
import Testing
import WorkerRuntime

/// How fast workers call the hub.
@Suite(.serialized, .tags(.waits, .threads))
struct LimitTests {
    private static func requests(_ count: Int) -> [String] {
        (0..<count).map {
            #"{"id":"r\#($0)","audience":{"categories":["r\#($0)"]},"platforms":["apple"],"message":{"title":"T"}}"#
        }
    }

    /// The most calls that workers made within any so many milliseconds, by what their results say.
    private static func most(_ results: [FinalResult], within window: Int64) throws -> Int {
        let times = try results.map { result in
            let text: String = try #require(result["attempts.0.started_at"])
            let moment = Timestamp(Array(text.utf8).span)
            return try #require(moment).milliseconds
        }.sorted()
        var (most, first) = (0, 0)
        for last in times.indices {
            while times[last] - times[first] >= window { first += 1 }
            most = max(most, last - first + 1)
        }
        return most
    }

    /// The mock broker makes each topic that somebody asks for.
    @Test(.needsKafka)
    func withoutASharesTopicAWorkerKeepsItsPartitionsShare() throws {
        let bench = try Bench(.real)
        let worker = try bench.startWorker { $0.rateLimit = 40 }
        try bench.publish(all: Self.requests(60))
        let results = try bench.results(60)
        // The rate, and a burst of a quarter of a second; moments are cut to milliseconds.
        #expect(try Self.most(results, within: 1000) <= 40 + 10 + 1)
        #expect(eventually { bench.metric("pushfan_rate_limit") == 40 })
        #expect(eventually { bench.metric("pushfan_rate_wait_seconds_total") > 0.1 })
        #expect(eventually { bench.logLines.all.contains { $0.contains("shares topic missing") } })
        try worker.stop()
    }

    /// Beside the rate there is a burst of a quarter of a second, at each worker; moments are cut to milliseconds.
    private static func expectRate(
        of results: [FinalResult], _ rate: Int, members: Int, _ place: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try most(results, within: 1000) <= rate + rate / 4 + members, sourceLocation: place)
    }

    /// The calls a second that all loops may make together.
    private static func rate(_ bench: Bench) -> Double {
        bench.status.statuses.reduce(0) { $0 + ($1.hubs.first?.ratePerSecond ?? 0) }
    }

    private static let whyStanding: Comment =
        "while members join, the embedded broker refuses what others commit, so that they would call for the same requests again"

    @Test func workersTogetherKeepARateAndUseIt() throws {
        let bench = try Bench(.quickest, partitions: 6, hasShares: true)
        let workers = try ["w1", "w2", "w3"].map { name in try bench.startWorker(name) { $0.rateLimit = 200 } }
        if bench.cluster != nil { #expect(bench.waitForGroup(of: 3, partitions: 6), Self.whyStanding) }
        try bench.publish(all: Self.requests(400))
        #expect(eventually { Self.rate(bench) > 199 }, "together they have all of it")
        let results = try bench.results(400)
        #expect(bench.hub.calls().count == 400)
        try Self.expectRate(of: results, 200, members: 3)
        #expect(bench.waitForCommits(of: 400, partitions: 6))
        for worker in workers { try worker.stop() }
        #expect(try bench.resultsByRequest().count == 400)
    }

    @Test func loopsOfOneProcessShareARateLikeWorkers() throws {
        let bench = try Bench(.quickest, partitions: 6, hasShares: true)
        let worker = try bench.startWorker {
            $0.loops = 3
            $0.rateLimit = 200
        }
        if bench.cluster != nil { #expect(bench.waitForGroup(of: 3, partitions: 6), Self.whyStanding) }
        try bench.publish(all: Self.requests(200))
        #expect(eventually { Self.rate(bench) > 199 }, "together they have all of it")
        let results = try bench.results(200)
        #expect(bench.hub.calls().count == 200)
        try Self.expectRate(of: results, 200, members: 3)
        #expect(bench.waitForCommits(of: 200, partitions: 6))
        try worker.stop()
    }

    /// The one broker with the log by which workers divide a rate is away.
    @Test func aSharesTopicWithoutALeaderHoldsUpNoCallForLong() throws {
        let bench = try Bench(.embedded, partitions: 2, hasShares: true)
        let cluster = try #require(bench.cluster)
        let shares = bench.topics.shares
        cluster.setLeader(of: TopicPartition(topic: shares, partition: 0), to: nil)
        let worker = try bench.startWorker { $0.rateLimit = 200 }
        try bench.publish(all: Self.requests(10))
        #expect(eventually { bench.metric("pushfan_assigned_partitions") > 0 })
        #expect(bench.passTime(by: .milliseconds(100)) { bench.metric("pushfan_requests_finished_total") == 10 })
        #expect(eventually { bench.status.statuses.contains { $0.problem?.contains("\(shares) cannot be used") == true } })
        #expect(bench.logLines.all.count { $0.contains("the shares topic is not heeded") } == 1)
        try bench.results(10)
        try worker.stop()
    }

    @Test func withoutALimitThereIsNoSeriesForIt() throws {
        let bench = try Bench(.quickest)
        let worker = try bench.startWorker()
        try bench.publish(all: Self.requests(5))
        try bench.results(5)
        #expect(!bench.exposition().contains("pushfan_rate_limit{"))
        #expect(eventually { bench.metric("pushfan_send_limit") == 16 })
        try worker.stop()
    }

    /// How the limit grows is for `ConcurrencyLimitTests` to say. The gate lets as many calls through as are under way, each time two
    /// minutes after they were made: beside that, what the machine takes for them is nothing. The embedded broker lets a clock be ahead.
    @Test func aHubThatBearsItGetsAllThatIsConfigured() throws {
        let bench = try Bench(.embedded)
        bench.gate.close()
        try bench.publish(all: Self.requests(600))
        let worker = try bench.startWorker {
            $0.requestTimeout = .seconds(360_000)
            $0.connections.idleTimeout = .seconds(360_000)
            $0.connections.maximumAge = .seconds(360_000)
            $0.maxInFlight = 24
        }
        var (admitted, most) = (0, 0)
        #expect(eventually { bench.metric("pushfan_inflight_sends") == 16 })
        while most < 24 && admitted < 500 {
            let underWay = Int(bench.metric("pushfan_inflight_sends"))
            most = max(most, underWay)
            bench.clock.advance(by: .seconds(120))
            bench.gate.admit(underWay)
            admitted += underWay
            #expect(eventually { bench.metric("pushfan_sends_total") == Double(admitted) })
        }
        #expect(most == 24)
        bench.gate.open()
        try bench.results(600)
        // A connection carries one call at a time, and another is opened only while all are busy.
        #expect((16...24).contains(Set(bench.hub.calls().map(\.client)).count))
        try worker.stop()
    }

    /// How calls come back step by step is for `HubLimitsTests` to say.
    @Test func whatAnOutageRefusedIsSentAfterIt() throws {
        let bench = try Bench(.quickest)
        bench.hub.arm([try Fault(parsing: "status=503")])
        try bench.publish(all: Self.requests(60))
        let worker = try bench.startWorker()
        #expect(eventually { bench.logLines.all.contains { $0.contains("circuit_changed") && $0.contains("open") } })
        bench.hub.arm([])
        // The circuit's probe is due then, and so are all calls that failed.
        bench.clock.advance(by: .seconds(10))
        try bench.results(60)
        try worker.stop()
        let calls = bench.hub.calls()
        let refused = calls.count { $0.status == 503 }
        // Twenty until it is known at the latest, and those under way then.
        #expect(refused >= 5 && refused <= 20 + 16, "\(refused) calls in an outage")
        #expect(calls.count - refused == 60)
        #expect(try bench.resultsByRequest().values.allSatisfy { $0["state"] == "sent" })
    }

    @Test func aHubThatLosesEveryThirdCallGoesOnAtMoreThanOneCallAtOnce() throws {
        let bench = try Bench(.quickest)
        bench.hub.arm([try Fault(parsing: "status=503,every=3")])
        let worker = try bench.startWorker { $0.retry.base = 30 }
        try bench.publish(all: Self.requests(100))
        try bench.results(100)
        #expect(bench.metric("pushfan_send_limit") >= Double(ConcurrencyLimit.floor))
        #expect(bench.metric("pushfan_circuit_state") == 0)
        try worker.stop()
    }
}
