import HubEmulator
import Kafka
import Observability
import TestSupport
import Testing
import WorkerRuntime

/// How fast workers call the hub.
@Suite(.serialized, .tags(.threads))
struct LimitTests {
    private static func requests(_ count: Int) -> [String] {
        (0..<count).map {
            #"{"id":"r\#($0)","audience":{"categories":["r\#($0)"]},"platforms":["apple"],"message":{"title":"T"}}"#
        }
    }

    /// The most calls in any window of so many milliseconds.
    private static func most(_ calls: [RecordedCall], within window: Int64) -> Int {
        let times = calls.map(\.at).sorted()
        var (most, first) = (0, 0)
        for last in times.indices {
            while times[last] - times[first] >= window { first += 1 }
            most = max(most, last - first + 1)
        }
        return most
    }

    /// The mock broker makes each topic that somebody asks for.
    @Test(.enabled(if: Bench.Broker.realAddress != nil, "needs PUSHFAN_TEST_KAFKA"))
    func withoutASharesTopicAWorkerKeepsItsPartitionsShare() throws {
        let bench = try Bench(.real)
        let worker = try bench.startWorker { $0.rateLimit = 40 }
        try bench.publish(all: Self.requests(60))
        try bench.results(60)
        // The rate, a burst of a quarter of a second, and what the way to the hub adds to one moment. On a busy machine the hub reads a
        // call up to 100 ms after it was made, so those that it reads within a second were made within 1.1 s.
        #expect(Self.most(bench.hub.calls(), within: 1000) <= 40 * 11 / 10 + 10 + 2)
        #expect(bench.metric("pushfan_rate_limit") == 40)
        #expect(bench.metric("pushfan_rate_wait_seconds_total") > 0.1)
        #expect(eventually { bench.logLines.all.contains { $0.contains("there is no topic for shares") } })
        try worker.stop()
    }

    /// The hub notes calls when it reads them: where a sanitizer makes everything slow, some come together that were made apart.
    private static func expectRate(of calls: [RecordedCall], _ rate: Int, _ place: SourceLocation = #_sourceLocation) {
        if Bench.Broker.realAddress != nil {
            #expect(most(calls, within: 1000) <= rate * 11 / 10 + rate / 4 + 3, sourceLocation: place)
        }
        #expect(most(calls, within: 4000) <= 4 * rate + rate, sourceLocation: place)
    }

    private static let whyStanding: Comment =
        "while members join, the embedded broker refuses what others commit, so that they would call for the same requests again"

    @Test func workersTogetherKeepARateAndUseIt() throws {
        let bench = try Bench(.quickest, partitions: 6, hasShares: true)
        let workers = try ["w1", "w2", "w3"].map { name in try bench.startWorker(name) { $0.rateLimit = 60 } }
        if bench.cluster != nil { #expect(bench.waitForGroup(of: 3, partitions: 6), Self.whyStanding) }
        try bench.publish(all: Self.requests(400))
        try bench.results(400)
        let calls = bench.hub.calls()
        #expect(calls.count == 400)
        Self.expectRate(of: calls, 60)
        if Bench.Broker.realAddress != nil { #expect(Self.most(calls, within: 3000) > 150) }
        #expect(bench.waitForCommits(of: 400, partitions: 6))
        for worker in workers { try worker.stop() }
        #expect(try bench.resultsByRequest().count == 400)
    }

    @Test func loopsOfOneProcessShareARateLikeWorkers() throws {
        let bench = try Bench(.quickest, partitions: 6, hasShares: true)
        let worker = try bench.startWorker {
            $0.loops = 3
            $0.rateLimit = 60
        }
        if bench.cluster != nil { #expect(bench.waitForGroup(of: 3, partitions: 6), Self.whyStanding) }
        try bench.publish(all: Self.requests(200))
        #expect(eventually { bench.metric("pushfan_rate_limit") > 59 })
        try bench.results(200)
        let calls = bench.hub.calls()
        #expect(calls.count == 200)
        Self.expectRate(of: calls, 60)
        #expect(bench.waitForCommits(of: 200, partitions: 6))
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

    @Test func aHubThatBearsItGetsAllThatIsConfigured() throws {
        let bench = try Bench(.quickest)
        // So long that what a sanitizer adds to an answer's time is little beside it.
        bench.hub.arm([try Fault(parsing: "delay=400ms")])
        try bench.publish(all: Self.requests(1200))
        let worker = try bench.startWorker()
        try bench.results(1200)
        #expect(bench.metric("pushfan_send_limit") == 64)
        // A connection carries one call at a time, and another is opened only while all are busy.
        let connections = Set(bench.hub.calls().map(\.client)).count
        #expect((50...64).contains(connections))
        try worker.stop()
    }

    @Test func afterAnOutageCallsComeBackStepByStep() throws {
        let bench = try Bench(.quickest)
        bench.hub.arm([try Fault(parsing: "outage=3s,status=503"), try Fault(parsing: "delay=100ms")])
        try bench.publish(all: Self.requests(400))
        let worker = try bench.startWorker()
        try bench.results(400)
        try worker.stop()
        let calls = bench.hub.calls()
        let refused = calls.count { $0.status == 503 }
        // Twenty until it is known, those under way then, and at most a probe each second.
        #expect(refused >= 5 && refused <= 20 + 16 + 4, "\(refused) calls in an outage of 3 s")
        let back = calls.filter { $0.status != 503 }.map(\.at)
        let first = back.min() ?? 0
        #expect(back.count == 400)
        // One, two, four and eight, each 100 ms after the former, but for what the hub takes to read.
        #expect(back.count { $0 < first + 90 } <= 1)
        #expect(back.count { $0 < first + 180 } <= 3)
        #expect(back.count { $0 < first + 360 } <= 15)
        #expect(try bench.resultsByRequest().values.allSatisfy { $0["state"] == "sent" })
    }

    @Test func aHubThatLosesCallsGetsFewerAtOnce() throws {
        let bench = try Bench(.quickest)
        bench.hub.arm([try Fault(parsing: "status=503,every=3")])
        let worker = try bench.startWorker()
        try bench.publish(all: Self.requests(200))
        try bench.results(200)
        #expect(eventually { bench.metric("pushfan_send_limit") < 16 })
        try worker.stop()
    }
}
