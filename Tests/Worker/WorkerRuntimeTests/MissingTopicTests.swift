import Delivery
import HubEmulator
import Kafka
import Observability
import PushModel
import TestSupport
import Testing
import WorkerRuntime

/// Topics that are deleted, or that brokers do not know, while a worker runs.
@Suite(.serialized, .tags(.waits, .threads))
struct MissingTopicTests {
    /// Lets the embedded broker say that lanes are missing, and a commit fail after that, so that the worker asks for them.
    private static func miss(_ lanes: [Int], _ bench: Bench, _ worker: RunningWorker) throws {
        let cluster = try #require(bench.cluster)
        #expect(eventually { worker.report(.ready).passes })
        for lane in lanes { cluster.setTopic(bench.topics.delays[lane], isMissing: true) }
        cluster.failNext(apiKey: 8, codes: [30])
        try bench.publish(Deletion.request("first"))
        try bench.results(1)
    }

    /// A wait of 200 s is for the lane of one minute.
    @Test(.needsKafka, arguments: [[0, 1, 2]])
    func aDelayLaneThatIsDeletedIsReplacedByTheNearest(lanes: [Int]) throws {
        let bench = try Bench(.real, partitions: 1)
        let worker = try bench.startWorker()
        try bench.publish(Deletion.request("before"))
        try bench.results(1)
        try Deletion.delete(lanes.map { bench.topics.delays[$0] }, bench)
        bench.hub.arm([try Fault(parsing: "status=500,retry-after=200,tags=waits,count=1")])
        try bench.publish(Deletion.request("waits"))
        #expect(eventually { bench.hasRetries })
        try bench.publish(Deletion.request("behind"))
        try bench.results(2)
        bench.endRest()
        try bench.results(3)
        try worker.stop()
        #expect(try Deletion.areAllSent(bench))
    }

    /// One of the two lanes has positions that are committed with those of others, and requests are for the other one.
    @Test(.needsKafka)
    func commitsGoOnWhereADelayLaneIsDeletedWhileItIsWrittenTo() throws {
        let bench = try Bench(.real, partitions: 1)
        let worker = try bench.startWorker()
        try bench.publish(Deletion.request("first", Deletion.wait(30_000, bench)))
        #expect(eventually { bench.metric("pushfan_delayed_total") == 1 })
        // What was read of the lane, and has ended there, has a position.
        bench.clock.advance(by: .seconds(31))
        try bench.results(1)
        let names = (0..<60).map { "n\($0)" }
        func publish(_ part: Range<Int>) throws {
            try bench.publish(
                all: part.map { Deletion.request(names[$0], $0 % 3 == 0 ? Deletion.wait(90_000, bench) : "") })
        }
        try publish(0..<3)
        try Deletion.delete([bench.topics.delays[0], bench.topics.delays[1]], bench)
        try publish(3..<60)
        try bench.results(41)
        // The first of them may have been in the lane that is gone, and is lost with it.
        let kept = Set(names.dropFirst())
        #expect(bench.passTime(by: .milliseconds(100)) { kept.isSubset(of: bench.tags) })
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(kept.allSatisfy { results[$0]?["state"] == "sent" })
        #expect(bench.tags.count == Set(bench.tags).count, "nothing is sent twice")
    }

    @Test(.needsKafka)
    func whatWaitsInADelayLaneThatIsDeletedIsGoneAndNothingElse() throws {
        let bench = try Bench(.real, partitions: 1)
        let first = try bench.startWorker()
        try bench.publish(Deletion.request("gone", Deletion.wait(90_000, bench)))
        try bench.publish(Deletion.request("kept", Deletion.wait(30_000, bench)))
        #expect(eventually { bench.metric("pushfan_delayed_total") == 2 })
        try bench.publish(Deletion.request("other"))
        try bench.results(1)
        // Its memory would still have what it has read of the lane.
        try first.stop()
        try Deletion.delete([bench.topics.delays[1]], bench)
        let second = try bench.startWorker()
        try bench.publish(Deletion.request("later", Deletion.wait(90_000, bench)))
        #expect(eventually { bench.metric("pushfan_delayed_total") >= 3 })
        #expect(bench.passTime(by: .milliseconds(100)) { bench.tags.contains("later") })
        try bench.results(3)
        try second.stop()
        // A broker may still give what it is about to delete.
        #expect(Set(try bench.resultsByRequest().keys).subtracting(["gone"]) == ["other", "kept", "later"])
        #expect(try Deletion.areAllSent(bench))
    }

    @Test(.needsKafka)
    func heldRequestsWaitInMemoryWhereTheirTopicHasFewerPartitions() throws {
        let bench = try Bench(.real, partitions: 1)
        let worker = try bench.startWorker()
        try bench.publish(Deletion.request("before"))
        try bench.results(1)
        try Deletion.delete([bench.topics.held], bench)
        try bench.create(bench.topics.held)
        bench.hub.arm([try Fault(parsing: "status=500,retry-after=200,tags=waits,count=1")])
        try bench.publish(Deletion.request("waits", #","ordering_key":"k""#))
        #expect(eventually { bench.hasRetries })
        try bench.publish(Deletion.request("behind", #","ordering_key":"k""#))
        try bench.publish(Deletion.request("other"))
        try bench.results(2)
        bench.endRest()
        try bench.results(4)
        try worker.stop()
        #expect(try Deletion.areAllSent(bench))
        let last = try #require(bench.tags.lastIndex(of: "waits"))
        let next = try #require(bench.tags.firstIndex(of: "behind"))
        #expect(last < next)
    }

    /// The client hears of it while it fetches. To free it took for ever then.
    @Test(.needsKafka, arguments: ["requests", "delays", "all"])
    func aWorkerAtRestWhoseTopicsAreDeletedEndsInTime(_ kind: String) throws {
        let bench = try Bench(.real, partitions: 4)
        let worker = try bench.startWorker()
        try bench.publish(Deletion.request("before"))
        try bench.results(1)
        let (requests, delays) = ([bench.topics.requests, bench.topics.requestsHigh], bench.topics.delays)
        try Deletion.delete(kind == "requests" ? requests : kind == "delays" ? delays : bench.topics.all, bench)
        let lookEnd = ContinuousClock.now + .seconds(10)
        _ = eventually { ContinuousClock.now >= lookEnd || bench.logLines.all.contains { $0.contains("UNKNOWN_T") } }
        let start = ContinuousClock.now
        worker.askToStop()
        // With all topics gone there may be something that it cannot commit.
        _ = Result { try worker.wait() }
        #expect(worker.hasEnded)
        #expect(ContinuousClock.now - start < .seconds(60))
    }

    /// The embedded broker deletes nothing. It only says that topics are missing.
    @Test(arguments: [[1], [1, 2, 3]])
    func aLaneOfWhichBrokersSayThatItIsMissingIsReplacedByTheNearest(lanes: [Int]) throws {
        let bench = try Bench(.embedded, partitions: 1)
        let worker = try bench.startWorker()
        try Self.miss(lanes, bench, worker)
        try bench.publish(Deletion.request("waits", Deletion.wait(120_000, bench)))
        #expect(try bench.read(bench.topics.delays[0], count: 1).count == 1)
        try bench.publish(Deletion.request("other"))
        try bench.results(2)
        try worker.stop()
    }

    @Test func aRequestWaitsInMemoryWhileBrokersSayThatAllLanesAreMissing() throws {
        let bench = try Bench(.embedded, partitions: 1)
        let worker = try bench.startWorker()
        try Self.miss(Array(bench.topics.delays.indices), bench, worker)
        try bench.publish(Deletion.request("waits", Deletion.wait(120_000, bench)))
        try bench.publish(all: (0..<10).map { Deletion.request("other\($0)") })
        try bench.results(11)
        #expect(bench.tags.count == 11)
        try worker.stop()
    }
}
