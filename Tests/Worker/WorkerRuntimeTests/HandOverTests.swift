import Delivery
import HubEmulator
import Observability
import TestSupport
import Testing
import WorkerRuntime

/// Requests that wait for their retry when their worker gives its partitions up: the next one goes on at their attempt.
@Suite(.serialized, .tags(.waits, .threads))
struct HandOverTests {
    private static func request(_ name: String, _ more: String = "", platforms: String = #""apple""#) -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":[\#(platforms)],"message":{"title":"T"}\#(more)}"#
    }

    /// A bench whose hub fails the first two calls of "a", for one platform if it is named, each with a wait that is too short for a
    /// delay lane.
    private static func bench(_ broker: Bench.Broker, failing platform: String = "apple") throws -> Bench {
        let bench = try Bench(broker, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=500,retry-after=8,count=2,tags=a,format=\(platform)")])
        return bench
    }

    /// A bench with the request "a" for two platforms: the hub takes one call at once.
    private static func benchInPart(_ broker: Bench.Broker, _ more: String = "") throws -> Bench {
        let bench = try bench(broker, failing: "fcmv1")
        try bench.publish(request("a", more, platforms: #""apple","fcmv1""#))
        return bench
    }

    /// Whether the worker has taken in that one call of "a" is done and the other waits.
    private static func isDoneInPart(_ bench: Bench) -> Bool {
        bench.metric("pushfan_sends_total") == 2 && bench.metric("pushfan_retry_queue_records") == 1
    }

    /// The call that was done is told as it ended, with the hub's id, and was not made again.
    private static func checkInPart(_ bench: Bench) throws {
        let results = try bench.resultsByRequest()
        let result = try #require(results["a"])
        #expect(results.count == 1 && result.summary == "sent success - 3")
        let attempts: [[String: Any]] = result["attempts"] ?? []
        for (call, statuses) in [[201], [500, 500, 201]].enumerated() {
            let own = attempts.filter { $0["send"] as? Int == call }
            #expect(own.map { $0["http_status"] as? Int } == statuses && own.map { $0["n"] as? Int } == Array(1...statuses.count))
            #expect(result["sends.\(call).outcome"] == "success" && result["sends.\(call).http_status"] == 201)
        }
        let calls = bench.hub.calls()
        #expect(calls.count { $0.format == "apple" } == 1 && calls.count { $0.format == "fcmv1" } == 3)
        let id: String? = result["sends.0.notification_id"]
        #expect(id != nil && id == calls.first { $0.format == "apple" }?.notificationID)
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

    @Test(arguments: ["", #","ordering_key":"k""#])
    func aWorkerThatStopsHandsOnTheCallThatWaitsOfARequestThatRangInPart(_ key: String) throws {
        let bench = try Self.benchInPart(.quickest, key)
        let first = try bench.startWorker { $0.drainTimeout = .seconds(300) }
        #expect(eventually { Self.isDoneInPart(bench) })
        try first.stop()
        #expect(try bench.readAll(bench.topics.results).isEmpty, "it does not wait for the retry")
        #expect(try bench.readAll(key.isEmpty ? bench.topics.delays[0] : bench.topics.held).count == 1)
        #expect(bench.metric("pushfan_retry_queue_records") == 0)
        let second = try bench.startWorker()
        #expect(bench.passTime(by: .milliseconds(200)) { bench.metric("pushfan_requests_finished_total") == 1 })
        try bench.results(1)
        try second.stop()
        try Self.checkInPart(bench)
    }

    /// It has one call with the hub, whose end nobody awaits any more, and another that waits.
    @Test func aCallWithoutAnAnswerKeepsNoOtherOfItsRequestFromTheNextWorker() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([
            try Fault(parsing: "hang,format=apple,count=1"), try Fault(parsing: "status=500,retry-after=8,format=fcmv1,count=1"),
        ])
        try bench.publish(Self.request("a", platforms: #""windows","apple","fcmv1""#))
        let first = try bench.startWorker { $0.drainTimeout = .seconds(300) }
        #expect(eventually { bench.metric("pushfan_sends_total") == 2 && bench.hub.calls().count == 3 })
        first.askToStop()
        #expect(eventually { bench.logLines.all.contains { $0.contains("what is in flight first") } })
        first.askToStop()
        try first.wait()
        #expect(try bench.readAll(bench.topics.results).isEmpty)
        let second = try bench.startWorker()
        #expect(bench.passTime(by: .milliseconds(200)) { bench.metric("pushfan_requests_finished_total") == 1 })
        try bench.results(1)
        try second.stop()
        let result = try bench.resultsByRequest()["a"]
        let sends: [[String: Any]] = result?["sends"] ?? []
        let outcomes = sends.map { ($0["platform"] as? String ?? "", $0["outcome"] as? String ?? "") }
        #expect(Dictionary(uniqueKeysWithValues: outcomes) == ["windows": "success", "apple": "ambiguous", "fcmv1": "success"])
        #expect(bench.hub.calls().count { $0.format == "fcmv1" } == 2 && bench.hub.calls().count == 4)
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

    /// A member that kept it would hold up the whole group at each join, for as long as its drain may take.
    @Test(.needsKafka)
    func partitionsThatMoveDoNotWaitForARequestThatRangInPart() throws {
        let bench = try Self.benchInPart(.real)
        let change: (inout WorkerConfiguration) -> Void = {
            Bench.takeover(&$0)
            $0.drainTimeout = .seconds(300)
        }
        let first = try bench.startWorker("w1", change: change)
        #expect(eventually { Self.isDoneInPart(bench) })
        let second = try bench.startWorker("w2", change: change)
        #expect(eventually { bench.logLines.all.contains { $0.contains("partitions are taken away") } })
        try #expect(eventually { try !bench.readAll(bench.topics.delays[0]).isEmpty })
        #expect(bench.passTime(by: .milliseconds(200)) { bench.metric("pushfan_requests_finished_total") == 1 })
        try bench.results(1)
        try first.stop()
        try second.stop()
        try Self.checkInPart(bench)
    }
}
