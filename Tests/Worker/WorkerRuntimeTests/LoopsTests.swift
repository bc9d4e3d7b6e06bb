import Delivery
import HubEmulator
import Observability
import TestSupport
import Testing

@testable import WorkerRuntime

/// Several loops in one process.
@Suite(.serialized, .tags(.threads))
struct LoopsTests {
    private static func requests(_ range: Range<Int>) -> [String] {
        range.map { #"{"id":"n\#($0)","audience":{"categories":["n\#($0)"]},"platforms":["apple"],"message":{"title":"T"}}"# }
    }

    @Test(.needsKafka)
    func loopsOfOneProcessShareThePartitionsAndStopTogether() throws {
        let bench = try Bench(.real, partitions: 6)
        let worker = try bench.startWorker { $0.loops = 3 }
        #expect(
            eventually {
                bench.metric("pushfan_assigned_partitions") == 6 * 9 && worker.report(.ready).passes
            })
        for partition in 0..<6 {
            try bench.publish(all: Self.requests(partition * 100..<partition * 100 + 100), partition: Int32(partition))
        }
        try bench.results(600)
        try worker.stop()
        let results = try bench.resultsByRequest()
        #expect(results.count == 600 && results.values.allSatisfy { $0.summary == "sent success - 1" })
        #expect(Set(results.values.map { $0["worker.id"] ?? "" }) == Set((1...3).map { "\(bench.name)-w1-\($0)" }))
        #expect(bench.hub.calls().count == 600)
    }

    @Test(.needsKafka)
    func aLoopThatCannotGoOnTakesTheOthersWithIt() throws {
        let bench = try Bench(.real, partitions: 2)
        let first = try bench.startWorker("same") { $0.loops = 2 }
        // While the group is still forming, either of two members with one name may win.
        var published = 0
        let isShared = try eventually {
            for partition in 0..<2 {
                try bench.publish(all: Self.requests(published..<published + 5), partition: Int32(partition))
            }
            published += 5
            let workers = try bench.results(published * 2).map { $0["worker.id"] ?? "" }
            return Set(workers).count == 2
        }
        #expect(isShared)
        // A worker that is the second loop fences that loop.
        let second = try bench.startWorker("same-2") { $0.loop = 2 }
        #expect(eventually { first.hasEnded })
        #expect {
            try first.wait()
        } throws: { error in
            guard case .fenced? = error as? WorkerFailure else { return false }
            return true
        }
        try second.stop()
    }

    @Test(.needsKafka)
    func workersWhoseNamesMeetWithThoseOfGroupsAndLoopsLeaveEachOtherAlone() throws {
        let bench = try Bench(.real, partitions: 4)
        let group = bench.name
        let workers = try [(group, "eu-1", 1), (group + "-eu", "1", 1), (group + ".l", "w", 2), (group + ".l", "w-1", 1)].map {
            (name, id, loops) in
            try bench.startWorker {
                $0.groupID = name
                $0.workerID = id
                $0.loops = loops
            }
        }
        #expect(eventually { workers.allSatisfy { $0.report(.ready).passes } })
        for round in 1...5 {
            try bench.publish(all: Self.requests(round * 20 - 20..<round * 20))
            // Each of the three groups sends all of them.
            try bench.results(round * 60)
        }
        #expect(workers.allSatisfy { !$0.hasEnded })
        for worker in workers { try worker.stop() }
        #expect(try bench.readAll(bench.topics.results).count == 300)
    }

    @Test func noTwoMembersHaveOneName() throws {
        let bench = try Bench(.embedded)
        var ids: [String] = []
        for (group, worker, loop) in [
            ("pf", "eu-1", nil), ("pf-eu", "1", nil), ("pf", "eu", 1), ("pf", "eu-1", 1), ("pf-eu", "1", 1),
            ("pf", "eu-1-1", nil),
        ] as [(String, String, Int?)] {
            var configuration = try bench.workerConfiguration()
            configuration.groupID = group
            configuration.workerID = worker + (loop.map { "-\($0)" } ?? "")
            configuration.loop = loop
            ids.append(configuration.transactionalID)
        }
        #expect(ids == ["pf:eu-1", "pf-eu:1", "pf:eu:1", "pf:eu-1:1", "pf-eu:1:1", "pf:eu-1-1"])
    }

    @Test func aGaugeOfSeveralLoopsIsTheirSumOrTheLargest() {
        for (combination, expected) in [(SharedGauge.Combination.sum, "7"), (.largest, "4")] {
            let registry = MetricsRegistry()
            let gauge = registry.gauge("test_gauge", help: "Of loops.")
            let shared = SharedGauge(gauge, loops: 3, combination: combination)
            for (loop, value) in [(0, 2), (1, 9), (2, 1), (1, 4)] { shared.share(of: loop).set(value) }
            var bytes: [UInt8] = []
            registry.write(into: &bytes)
            #expect(String(decoding: bytes, as: UTF8.self).contains("\ntest_gauge \(expected)\n"))
        }
    }

    @Test func aGaugeOfLoopsHasNoValueBeforeOneKnowsItsOwn() {
        for loops in [1, 2] {
            let gauge = Gauge()
            let shared = SharedGauge(gauge, loops: loops, combination: .largest, isKnown: false)
            #expect(gauge.value.isNaN)
            shared.share(of: 0).set(3)
            #expect(gauge.value == 3)
            shared.share(of: loops - 1).set(nil)
            #expect(loops == 1 ? gauge.value.isNaN : gauge.value == 3)
            shared.share(of: 0).set(nil)
            #expect(gauge.value.isNaN)
        }
    }
}
