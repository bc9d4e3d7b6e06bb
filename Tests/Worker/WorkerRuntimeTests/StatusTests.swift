import Delivery
import Foundation
import HubEmulator
import Observability
import PushModel
import TestSupport
import Testing
import WorkerRuntime

@Suite(.tags(.threads)) struct StatusTests {
    private static func request(_ name: String, _ fields: String = "") -> String {
        #"{"id":"\#(name)","audience":{"categories":["x"]},"platforms":["fcmv1"],"message":{"title":"T"}\#(fields)}"#
    }

    private static func partition(_ bench: Bench, of topic: String) -> LoopStatus.Partition? {
        bench.status.statuses.first?.partitions.first { $0.topic == topic }
    }

    @Test func aPausedHubAgesWhatWaitsAndTheStatusSaysWhy() throws {
        let bench = try Bench(.quickest, partitions: 1)
        bench.hub.arm([try Fault(parsing: "status=429,retry-after=300")])
        let worker = try bench.startWorker { configuration in configuration.maxInFlight = 1 }
        try bench.publish(all: (0..<5).map { Self.request("r\($0)") }, partition: 0)
        #expect(eventually { bench.hasRetries })
        bench.clock.advance(by: .seconds(20))
        // The first was refused and leaves for a delay lane; the second waits for the hub. Until the worker has partitions, all wait.
        var latest: LoopStatus?
        #expect(
            eventually {
                latest = bench.status.statuses.first
                return latest.map { $0.throttledMilliseconds >= 1000 && $0.finishedPerSecond == 0 } ?? false
                    && Self.partition(bench, of: bench.topics.requests)?.oldest?.offset == 1
            })
        // Ages grow with the clock although nothing moves.
        #expect(
            eventually {
                bench.metric("pushfan_oldest_waiting_seconds") >= 20 && bench.metric("pushfan_consumer_lag_seconds") >= 20
            })
        #expect(bench.metric("pushfan_consumer_lag_records") >= 1)
        let status = try #require(latest)
        #expect(status.mode == "running")
        #expect(status.limit == 1)
        #expect(status.throttledUntil ?? status.at > status.at)
        #expect(status.lastRebalance != nil)
        let partition = try #require(Self.partition(bench, of: bench.topics.requests))
        #expect(partition.partition == 0 && partition.inWork >= 1)
        let oldest = try #require(partition.oldest)
        #expect(oldest.offset == 1 && oldest.attempt == 0 && oldest.waitsFor == "turn" && oldest.nextDue == nil)
        func delayed() -> LoopStatus.Oldest? {
            bench.topics.delays.lazy.compactMap { Self.partition(bench, of: $0)?.oldest }.first
        }
        #expect(eventually { delayed() != nil })
        let refused = try #require(delayed())
        #expect(refused.offset == 0 && refused.attempt == 1 && refused.waitsFor == "timer")
        #expect(refused.nextDue ?? status.at > status.at)
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(bench.status.json(version: "v", hub: "demo"))) as? [String: Any])
        let loop = try #require((json["loops"] as? [[String: Any]])?.first)
        #expect(loop["circuit"] as? String == "closed" && loop["throttled_until"] is String)
        #expect(!String(decoding: bench.status.json(version: "v", hub: "demo"), as: UTF8.self).contains("r0"), "no request's id")
        // Every lane has an age of its own.
        try bench.publish(all: (0..<5).map { Self.request("b\($0)") }, partition: 0, to: .bulk)
        bench.clock.advance(by: .seconds(20))
        let bulk = #"topic="\#(bench.topics.requestsBulk)""#
        #expect(eventually { bench.metric("pushfan_consumer_lag_seconds", bulk) >= 20 })
        #expect(
            bench.metric("pushfan_consumer_lag_seconds", bulk)
                < bench.metric("pushfan_consumer_lag_seconds", #"topic="\#(bench.topics.requests)""#))
        #expect(bench.metric("pushfan_consumer_lag_seconds", #"topic="\#(bench.topics.requestsHigh)""#) == 0)
        try worker.stop()
    }

    @Test func whatIsFinishedAndCommittedIsInTheStatus() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker()
        try bench.publish(all: (0..<20).map { Self.request("r\($0)") }, partition: 0)
        // The rate is that of the last ten seconds, so one of the statuses on the way has it.
        var isRateKnown = false
        #expect(
            eventually {
                guard let status = bench.status.statuses.first else { return false }
                isRateKnown = isRateKnown || status.finishedPerSecond > 0
                let partition = Self.partition(bench, of: bench.topics.requests)
                return isRateKnown && status.lastCommit != nil && partition?.committed == 20 && partition?.inWork == 0
            })
        try bench.results(20)
        let status = try #require(bench.status.statuses.first)
        #expect(status.partitions.allSatisfy { $0.oldest == nil })
        try worker.stop()
        #expect(bench.metric("pushfan_oldest_waiting_seconds") == 0)
    }

    @Test func theFirstRequestOfADelayLaneIsShownWithWhenItIsDueAndIsNotLate() throws {
        let bench = try Bench(.quickest, partitions: 1)
        let worker = try bench.startWorker()
        #expect(eventually { worker.report(.ready).passes })
        var moment = ByteWriter()
        let due = Timestamp(milliseconds: bench.clock.millisecondsSince1970 + 3_500_000)
        moment.append(due)
        let later = (0..<3).map { Self.request("l\($0)", #","not_before":"\#(moment.text)""#) }
        try bench.publish(all: (0..<5).map { Self.request("r\($0)") } + later, partition: 0)
        var oldest: LoopStatus.Oldest?
        #expect(
            eventually {
                oldest = Self.partition(bench, of: bench.topics.delays[2])?.oldest
                return oldest != nil
            })
        // Its record in the lane is the first, or after a hop a later one; the one that it was published with is the sixth.
        #expect(oldest?.offset != 5 && oldest?.waitsFor == "timer" && oldest?.nextDue == due && oldest?.attempt == 0)
        // The others have still to be finished, perhaps.
        #expect(
            eventually {
                bench.metric("pushfan_oldest_waiting_seconds") == 0 && bench.metric("pushfan_consumer_lag_seconds") == 0
                    && bench.metric("pushfan_consumer_lag_records", #"topic="\#(bench.topics.delays[2])""#) >= 2
            })
        try worker.stop()
    }
}
