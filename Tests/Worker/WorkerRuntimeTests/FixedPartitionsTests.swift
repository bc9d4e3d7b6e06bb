import Delivery
import HubEmulator
import Kafka
import Observability
import TestSupport
import Testing
import WorkerRuntime

/// A worker that takes its partitions by itself.
@Suite(.serialized, .tags(.threads))
struct FixedPartitionsTests {
    private static func takeAll(_ configuration: inout WorkerConfiguration) {
        configuration.fixedPartitions = configuration.topics.shared.flatMap { topic in
            (0..<4).map { TopicPartition(topic: topic, partition: $0) }
        }
    }

    @Test func aWorkerWithoutAGroupSendsAndTheNextOneGoesOnWhereItEnded() throws {
        let bench = try Bench(.embedded)
        let first = try bench.startWorker(change: Self.takeAll)
        #expect(eventually { first.report(.ready).passes })
        try bench.publish(all: GroupTests.requests(0..<20))
        try bench.results(20)
        try first.stop()
        let second = try bench.startWorker("w2", change: Self.takeAll)
        try bench.publish(all: GroupTests.requests(20..<40))
        try bench.results(40)
        try second.stop()
        #expect(try bench.resultsByRequest().count == 40)
        #expect(bench.hub.calls().count == 40)
    }
}
