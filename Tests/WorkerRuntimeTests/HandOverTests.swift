import Delivery
import HubEmulator
import Observability
import TestSupport
import Testing
import WorkerRuntime

/// Requests that wait for their retry when their worker gives its partitions up: the next one goes on at their attempt.
@Suite(.serialized, .tags(.waits, .threads))
struct HandOverTests {
    private static func request(_ name: String, _ more: String = "") -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":["apple"],"message":{"title":"T"}\#(more)}"#
    }

    /// A bench whose hub fails the first two calls of "a", each with a wait that is too short for a delay lane.
    private static func bench(_ broker: Bench.Broker) throws -> Bench {
        let bench = try Bench(broker, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=500,retry-after=8,count=2,tags=a")])
        return bench
    }

    private static func check(_ bench: Bench, _ count: Int) throws {
        let results = try bench.resultsByRequest()
        #expect(results.count == count)
        #expect(results["a"]?.summary == "sent success - 3")
        let attempts: [[String: Any]]? = results["a"]?["attempts"]
        #expect(attempts?.map { $0["http_status"] as? Int } == [500, 500, 201])
        #expect(attempts?.map { $0["n"] as? Int } == [1, 2, 3])
    }

    @Test(arguments: ["", #","ordering_key":"k""#])
    func aWorkerThatStopsHandsOnTheAttemptsOfWhatWaits(_ key: String) throws {
        let bench = try Self.bench(.quickest)
        try bench.publish(all: [Self.request("a", key), Self.request("b", key)], partition: 0)
        let first = try bench.startWorker()
        #expect(eventually { bench.hasRetries })
        try first.stop()
        #expect(bench.metric("pushfan_retry_queue_records") == 0)
        let second = try bench.startWorker()
        #expect(bench.passTime(by: .milliseconds(200)) { bench.metric("pushfan_requests_finished_total") == 2 })
        try bench.results(2)
        try second.stop()
        try Self.check(bench, 2)
        if !key.isEmpty { #expect(bench.tags == ["a", "a", "a", "b"], "the key keeps its order") }
    }

    @Test func whatWouldExpireOnItsWayIsLeftAsItIs() throws {
        let bench = try Self.bench(.quickest)
        let first = try bench.startWorker()
        #expect(eventually { first.report(.ready).passes })
        // The time to live counts from the record's own, and a worker's start may take as long.
        try bench.publish(Self.request("a", #","ttl_seconds":10"#))
        #expect(eventually { bench.hasRetries })
        try first.stop()
        #expect(try bench.readAll(bench.topics.delays[0]).isEmpty)
    }

    @Test(.needsKafka)
    func partitionsThatMoveTakeTheAttemptsOfWhatWaitsWithThem() throws {
        let bench = try Self.bench(.real)
        let first = try bench.startWorker("w1", change: Bench.takeover)
        try bench.publish(Self.request("a"))
        #expect(eventually { bench.hasRetries })
        let second = try bench.startWorker("w2", change: Bench.takeover)
        #expect(eventually { bench.logLines.all.contains { $0.contains("partitions are taken away") } })
        #expect(bench.passTime(by: .milliseconds(200)) { bench.metric("pushfan_requests_finished_total") == 1 })
        try bench.results(1)
        try first.stop()
        try second.stop()
        try Self.check(bench, 1)
    }
}
