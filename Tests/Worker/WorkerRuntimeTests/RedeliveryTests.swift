import Delivery
import HubEmulator
import Kafka
import Observability
import TestSupport
import Testing
import WorkerRuntime

/// What becomes of requests that a worker before this one may have begun.
@Suite(.needsKafka, .tags(.threads))
struct RedeliveryTests {
    private static func request(_ name: String, _ more: String = "") -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":["apple"],"message":{"title":"T"}\#(more)}"#
    }

    /// What the group's position says of the first partition.
    private static func position(_ bench: Bench) throws -> (offset: Int64?, begun: Int64?) {
        let position = try #require(try bench.committed())
        return (position.offset, try FinishedOffsets(decoding: position.metadata).begun)
    }

    /// A group that stands at the beginning, left by a worker that died, or that said how far it had begun.
    private static func stand(_ bench: Bench, begun: Int64?) throws {
        var finished = FinishedOffsets()
        finished.latest = bench.clock.millisecondsSince1970
        finished.begun = begun
        let consumer = try Consumer(bench.kafka, groupID: bench.name, wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: .seconds(2)) }
        let partition = TopicPartition(topic: bench.topics.requests, partition: 0)
        try consumer.group.commit([OffsetCommit(partition, offset: 0, metadata: finished.encoded())])
    }

    /// Lets the time pass in which an owner of whose end nobody knows may go on: a session.
    private static func endOverlap(_ bench: Bench) { bench.clock.advance(by: .seconds(50)) }

    private static let expired = "expired expired expired_in_queue 0"
    private static let inDoubt = "failed ambiguous expired_in_queue 0"

    @Test(arguments: [(nil, [inDoubt, inDoubt]), (0, [expired, expired]), (1, [inDoubt, expired])] as [(Int64?, [String])])
    func whatExpiresIsInDoubtIfADeadWorkerMayHaveSentIt(begun: Int64?, summaries: [String]) throws {
        let bench = try Bench(.real, partitions: 1)
        let now = bench.clock.millisecondsSince1970
        for name in ["a", "b"] {
            try bench.publish(Array(Self.request(name, #","ttl_seconds":30"#).utf8), at: now - 60_000)
        }
        try Self.stand(bench, begun: begun)
        let worker = try bench.startWorker()
        try bench.results(2)
        Self.endOverlap(bench)
        // What comes later is not.
        try bench.publish(Array(Self.request("c", #","ttl_seconds":30"#).utf8), at: now - 60_000)
        // What nobody can have sent is not, whoever may have read it.
        try bench.results(3)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(["a", "b"].map { results[$0]?.summary } == summaries)
        for (name, summary) in zip(["a", "b"], summaries) {
            #expect(results[name]?["replay_safety"] == (summary == Self.inDoubt ? "ambiguous" : "pointless"))
        }
        #expect(results["c"]?.summary == Self.expired)
        #expect(bench.hub.calls().isEmpty)
    }

    @Test func whatFailsIsInDoubtIfADeadWorkerMayHaveSentIt() throws {
        let bench = try Bench(.real, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=400,tags=refused")])
        for name in ["refused", "sent"] { try bench.publish(Self.request(name)) }
        try bench.publish(Self.request("dry", #","options":{"dry_run":true}"#))
        try Self.stand(bench, begun: nil)
        let worker = try bench.startWorker()
        try bench.results(3)
        Self.endOverlap(bench)
        try bench.publish(Self.request("again").replacing("\"again\"]", with: "\"refused\"]"))
        try bench.results(4)
        try worker.stop()
        let results = try bench.resultsByRequest().mapValues(\.summary)
        #expect(
            results == [
                "refused": "failed ambiguous payload_rejected 1", "sent": "sent success - 1",
                "dry": "cancelled cancelled cancelled 0",
                "again": "failed payload payload_rejected 1",
            ])
    }

    /// An owner may live on that has lost its partition and has not heard of it.
    @Test(arguments: [(nil, "ambiguous"), (0, "payload")] as [(Int64?, String)])
    func whatIsPublishedWhileTheOwnerBeforeMayGoOnIsInDoubt(begun: Int64?, outcome: String) throws {
        let bench = try Bench(.real, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=400")])
        try Self.stand(bench, begun: begun)
        let worker = try bench.startWorker()
        #expect(eventually { worker.report(.ready).passes })
        // The partition was empty as it was assigned.
        try bench.publish(Self.request("a"))
        try bench.results(1)
        Self.endOverlap(bench)
        try bench.publish(Self.request("b"))
        try bench.results(2)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results["a"]?.summary == "failed \(outcome) payload_rejected 1")
        #expect(results["b"]?.summary == "failed payload payload_rejected 1", "by then it has heard of it, or has ended")
    }

    @Test func theDoubtGoesWithARequestThroughADelayLane() throws {
        let bench = try Bench(.real, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=500,retry-after=200,count=1"), try Fault(parsing: "status=400")])
        try bench.publish(Self.request("a"))
        try Self.stand(bench, begun: nil)
        let worker = try bench.startWorker()
        #expect(eventually { bench.hasRetries })
        #expect(eventually { (try? bench.readAll(bench.topics.delays[1]).count) == 1 })
        bench.endRest()
        try bench.results(1)
        try worker.stop()
        #expect(try bench.resultsByRequest()["a"]?.summary == "failed ambiguous payload_rejected 2")
    }

    @Test func thePositionSaysWhileAWorkerIsAtWorkThatRequestsMayHaveBeenBegun() throws {
        let bench = try Bench(.real, partitions: 1)
        try bench.publish(Self.request("first"))
        let first = try bench.startWorker()
        try bench.results(1)
        try first.stop()
        #expect(try Self.position(bench) == (1, 0))

        bench.gate.close()
        try bench.publish(Self.request("second"))
        let second = try bench.startWorker()
        #expect(eventually { bench.metric("pushfan_inflight_sends") == 1 })
        #expect(try Self.position(bench) == (1, 65), "it named the request before the call was made")
        bench.gate.open()
        try bench.results(2)
        try second.stop()
        #expect(try Self.position(bench) == (2, 0))
        #expect(bench.hub.calls().count == 2)
    }

    @Test func aGroupWithoutAPositionHasOneBeforeItsFirstCall() throws {
        let bench = try Bench(.real, partitions: 1)
        bench.gate.close()
        try bench.publish(Self.request("first"))
        let worker = try bench.startWorker()
        #expect(eventually { bench.metric("pushfan_inflight_sends") == 1 })
        #expect(try Self.position(bench) == (0, 64), "whoever comes after a kill knows that it may have been called")
        bench.gate.open()
        try bench.results(1)
        try worker.stop()
        #expect(try Self.position(bench) == (1, 0))
    }

    /// So what is published after its death was begun by none.
    @Test func aWorkerWithoutRequestsSaysThatItBeginsNone() throws {
        let bench = try Bench(.real, partitions: 1)
        try bench.publish(Self.request("first"))
        let worker = try bench.startWorker()
        try bench.results(1)
        bench.clock.advance(by: .seconds(6))
        #expect(eventually { (try? Self.position(bench)).map { $0 == (1, 0) } ?? false })
        bench.gate.close()
        try bench.publish(Self.request("second"))
        #expect(eventually { bench.metric("pushfan_inflight_sends") == 1 })
        #expect(try Self.position(bench) == (1, 65))
        bench.gate.open()
        try bench.results(2)
        try worker.stop()
        #expect(bench.hub.calls().count == 2)
    }

    @Test func aCallThatADrainGivesUpIsInDoubtForTheNextWorker() throws {
        let bench = try Bench(.real, partitions: 1)
        bench.gate.close()
        try bench.publish(Self.request("a"))
        let first = try bench.startWorker { $0.drainTimeout = .seconds(1) }
        #expect(eventually { bench.metric("pushfan_inflight_sends") == 1 })
        first.askToStop()
        #expect(eventually { !first.report(.ready).passes })
        bench.clock.advance(by: .seconds(2))
        try first.wait()
        #expect(try Self.position(bench) == (0, 1))
        bench.gate.open()
        bench.hub.arm([try Fault(parsing: "status=400")])
        let second = try bench.startWorker()
        try bench.publish(Self.request("b"))
        try bench.results(2)
        try second.stop()
        let results = try bench.resultsByRequest().mapValues(\.summary)
        #expect(results == ["a": "failed ambiguous payload_rejected 1", "b": "failed payload payload_rejected 1"])
    }
}
