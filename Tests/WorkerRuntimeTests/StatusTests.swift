import Foundation
import HubEmulator
import TestSupport
import Testing
import WorkerRuntime

@Suite struct StatusTests {
    private static func request(_ name: String) -> String {
        #"{"id":"\#(name)","audience":{"categories":["x"]},"platforms":["fcmv1"],"message":{"title":"T"}}"#
    }

    @Test func aPausedHubAgesWhatWaitsAndTheStatusSaysWhy() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=429,retry-after=200")])
        let worker = try bench.startWorker { configuration in configuration.maxInFlight = 1 }
        try bench.publish(all: (0..<5).map { Self.request("r\($0)") }, partition: 0)
        // Ages of 3 s: they grow with the clock although nothing moves.
        #expect(
            eventually(within: .seconds(40)) {
                bench.metric("pushfan_oldest_waiting_seconds") >= 3 && bench.metric("pushfan_consumer_lag_seconds") >= 3
            })
        #expect(bench.metric("pushfan_consumer_lag_records") >= 1)
        let status = try #require(bench.status.statuses.first)
        #expect(status.mode == "running")
        #expect(status.limit == 1 && status.finishedPerSecond == 0)
        #expect(status.throttledUntil ?? status.at > status.at)
        #expect(status.throttledMilliseconds >= 1000)
        #expect(status.lastRebalance != nil && status.lastCommit == nil)
        let partition = try #require(status.partitions.first)
        #expect(partition.topic == bench.topics.requests && partition.partition == 0)
        #expect(partition.inWork >= 1 && partition.committed == nil)
        let oldest = try #require(partition.oldest)
        #expect(oldest.offset == 0 && oldest.attempt == 1 && oldest.waitsFor == "timer")
        #expect(oldest.nextDue ?? status.at > status.at)
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(bench.status.json(version: "v", hub: "demo"))) as? [String: Any])
        let loop = try #require((json["loops"] as? [[String: Any]])?.first)
        #expect(loop["circuit"] as? String == "closed" && loop["throttled_until"] is String)
        #expect(!String(decoding: bench.status.json(version: "v", hub: "demo"), as: UTF8.self).contains("r0"), "no request's id")
        try worker.stop()
    }

    @Test func whatIsFinishedAndCommittedIsInTheStatus() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker()
        try bench.publish(all: (0..<20).map { Self.request("r\($0)") }, partition: 0)
        try bench.results(20)
        #expect(
            eventually(within: .seconds(30)) {
                let status = bench.status.statuses.first
                return status?.lastCommit != nil && status?.partitions.first?.committed == 20
                    && status?.partitions.first?.inWork == 0
            })
        let status = try #require(bench.status.statuses.first)
        #expect(status.finishedPerSecond > 0)
        #expect(status.partitions.first?.oldest == nil)
        try worker.stop()
        #expect(bench.metric("pushfan_oldest_waiting_seconds") < 30)
    }
}
