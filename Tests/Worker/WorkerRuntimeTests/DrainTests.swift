import Basics
import Delivery
import Foundation
import HubEmulator
import Kafka
import Observability
import TestSupport
import Testing
import WorkerRuntime

/// How a worker ends, and how the next one goes on.
@Suite(.serialized, .tags(.waits, .threads))
struct DrainTests {
    private static func request(_ name: String) -> String {
        #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":["apple"],"message":{"title":"T"}}"#
    }

    @Test func stoppingFinishesCallsUnderWayAndCommitsThem() throws {
        let bench = try Bench(.quickest, partitions: 2)
        bench.gate.close()
        // As many as a worker begins at once before the hub has answered.
        let names = (0..<12).map { "n\($0)" }
        try bench.publish(all: names.map(Self.request))
        let worker = try bench.startWorker()
        #expect(eventually { bench.metric("pushfan_inflight_sends") == Double(names.count) })
        worker.askToStop()
        #expect(eventually { !worker.report(.ready).passes })
        bench.gate.open()
        try worker.wait()
        // A commit is confirmed a moment before its records can be seen.
        try bench.results(names.count)
        let results = try bench.resultsByRequest()
        #expect(Set(results.keys) == Set(names))
        #expect(results.values.allSatisfy { $0.summary == "sent success - 1" })
        #expect(bench.hub.calls().count == names.count)
        let positions = try [Int32(0), 1].map { try bench.committed($0)?.offset ?? 0 }
        #expect(positions.reduce(0, +) == Int64(names.count))
    }

    @Test func aSecondStopDoesNotWaitForAHubThatHangs() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: "hang")])
        try bench.publish(Self.request("stuck"))
        let worker = try bench.startWorker()
        #expect(eventually { bench.hub.calls().count == 1 })
        worker.askToStop()
        #expect(eventually { !worker.report(.ready).passes })
        #expect(!worker.hasEnded)
        worker.askToStop()
        try worker.wait()
        #expect(try bench.readAll(bench.topics.results).isEmpty)
        bench.hub.arm([])
        let next = try bench.startWorker()
        #expect(try bench.results(1).first?.summary == "sent success - 1")
        try next.stop()
    }

    @Test func theDrainHasABound() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: "hang")])
        try bench.publish(Self.request("stuck"))
        let worker = try bench.startWorker { $0.drainTimeout = .seconds(1) }
        #expect(eventually { bench.hub.calls().count == 1 })
        let start = bench.clock.monotonic
        try worker.stop()
        #expect(bench.clock.monotonic - start >= 900_000_000)
        #expect(try bench.committed()?.offset ?? 0 == 0)
    }

    @Test func aRestartedWorkerRepeatsNothingThatWasFinished() throws {
        let bench = try Bench(.quickest, partitions: 1)
        // The head fails and waits an hour for its next attempt; everything behind it is finished meanwhile.
        bench.hub.arm([try Fault(parsing: "status=500,retry-after=3600,tags=head")])
        let names = (1...300).map { "n\($0)" }
        try bench.publish(all: [Self.request("head")] + names.map(Self.request), partition: 0)
        let first = try bench.startWorker { $0.topics.delays = [] }
        try bench.results(names.count)
        #expect(bench.metric("pushfan_retry_queue_records") == 1)
        try first.stop()
        #expect(bench.metric("pushfan_retry_queue_records") == 0)
        let position = try bench.committed()
        #expect(position?.offset == 0)
        #expect(try FinishedOffsets(decoding: position?.metadata ?? "").contains(1))

        bench.hub.arm([])
        try bench.publish(Self.request("behind"))
        // What was restored may reach further than a window that was made smaller.
        let second = try bench.startWorker { $0.window = 16 }
        try bench.results(names.count + 2)
        try second.stop()
        let results = try bench.resultsByRequest()
        #expect(Set(results.keys) == Set(names + ["head", "behind"]))
        #expect(results["head"]?.summary == "sent success - 1")
        var calls: [String: Int] = [:]
        for call in bench.hub.calls() { calls[call.tags ?? "", default: 0] += 1 }
        #expect(calls.removeValue(forKey: "head") == 2)
        #expect(calls.count == names.count + 1 && calls.values.allSatisfy { $0 == 1 })
        let end = try bench.committed()
        #expect(end?.offset == Int64(names.count + 2))
        #expect(try FinishedOffsets(decoding: end?.metadata ?? "").bitCount == 0)
    }

    @Test func aFullWindowStopsReadingUntilItsHeadIsDone() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=500,retry-after=300,tags=head,count=1")])
        let names = (1...60).map { "n\($0)" }
        try bench.publish(all: [Self.request("head")] + names.map(Self.request), partition: 0)
        let worker = try bench.startWorker { configuration in
            configuration.window = 16
            configuration.topics.delays = []
        }
        #expect(eventually { bench.hub.calls().count == 16 && bench.hasRetries })
        bench.endRest()
        try bench.results(names.count + 1)
        try worker.stop()
        let tags = bench.hub.calls().map { $0.tags ?? "" }
        #expect(tags.filter { $0 == "head" }.count == 2)
        let second = try #require(tags.lastIndex(of: "head"))
        #expect(second == 16, "the head, the 15 that the window holds beside it, and the head again")
        #expect(tags.count == names.count + 2)
        #expect(try bench.committed()?.offset == Int64(names.count + 1))
    }

    @Test func aWorkerThatIsStoppedAsItStartsEndsAtOnce() throws {
        let bench = try Bench(.quickest, partitions: 1)
        try bench.publish(Self.request("left"))
        let worker = try bench.startWorker()
        worker.askToStop()
        worker.askToStop()
        try worker.wait()
        #expect(bench.hub.calls().isEmpty)
        #expect(try bench.committed()?.offset == nil)
    }

    /// It cannot be handed over, because no lane is there.
    @Test func aRequestThatRangInPartHasItsOneResultWhenTheWorkerStops() throws {
        let bench = try Bench(.quickest, partitions: 1)
        try bench.hub.register(
            EmulatedDevice(id: "d", platform: "apns", handle: String(repeating: "AB", count: 32), tags: ["both"]))
        bench.hub.arm([try Fault(parsing: "status=500,retry-after=3600,format=fcmv1")])
        try bench.publish(
            #"{"id":"both","audience":{"categories":["both"]},"platforms":["apple","fcmv1"],"message":{"title":"T"}}"#)
        let first = try bench.startWorker { configuration in
            configuration.drainTimeout = .seconds(300)
            configuration.topics.delays = []
        }
        // Both answers are taken in, so that none is lost where the drain is over before it comes.
        #expect(eventually { bench.metric("pushfan_sends_total") == 2 && bench.metric("pushfan_retry_queue_records") == 1 })
        first.askToStop()
        #expect(eventually { bench.logLines.all.contains { $0.contains("what is in flight first") } })
        bench.clock.advance(by: .seconds(300))
        try first.wait()
        try bench.results(1)
        let result = try bench.resultsByRequest()["both"]
        #expect(result?.summary == "partial cancelled worker_shutdown 1")
        #expect(result?["sends.0.outcome"] == "success")
        #expect(result?["sends.1.outcome"] == "cancelled")
        #expect(result?["replay_safety"] == "safe", "the part that did not ring may be sent again")
        #expect(bench.metric("pushfan_retry_queue_records") == 0)

        try bench.publish(Self.request("next"))
        let second = try bench.startWorker()
        try bench.results(2)
        try second.stop()
        #expect(try bench.resultsByRequest().count == 2)
        #expect(bench.hub.calls().count == 3)
        #expect(bench.hub.devices().first?.rungCount == 1)
    }

    @Test func aRequestWhoseAnswerWasLostIsTriedAgainByTheWorkerThatStops() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: "reset=after,count=1")])
        try bench.publish(Self.request("lost").dropLast() + #","options":{"on_ambiguous":"retry"}}"#)
        // Without lanes it cannot be handed over.
        let first = try bench.startWorker {
            $0.retry.base = 3000
            $0.topics.delays = []
        }
        #expect(eventually { bench.metric("pushfan_retry_queue_records") == 1 || bench.hub.calls().count == 2 })
        try first.stop()
        try bench.results(1)
        let second = try bench.startWorker()
        try bench.publish(Self.request("next"))
        try bench.results(2)
        try second.stop()
        #expect(try bench.resultsByRequest()["lost"]?.summary == "sent success - 2")
        #expect(bench.hub.calls().count == 3)
    }
}
