import Delivery
import TestSupport
import Testing
import WorkerRuntime

/// Workers whose group gives them partitions of topics that are not theirs.
@Suite(.needsKafka, .tags(.waits, .threads))
struct ForeignTopicTests {
    /// Static membership gives a member that comes back within its session what it had.
    @Test func aWorkerThatComesBackWithOtherTopicsLeavesThoseThatItHad() throws {
        let bench = try Bench(.real, partitions: 1)
        try bench.publish(#"{"id":"mine","audience":{"users":["u"]},"platforms":["apple"],"message":{"title":"T"}}"#)
        let first = try bench.startWorker()
        try bench.results(1)
        try first.stop()
        let others = Topics(requests: bench.topics.requests + "-others")
        for topic in others.all { try bench.create(topic) }
        try bench.publish(#"{"id":"foreign","audience":{"users":["u"]},"platforms":["apple"],"message":{"title":"T"}}"#)
        let second = try bench.startWorker { $0.topics = others }
        #expect(eventually { bench.logLines.all.contains { $0.contains("topics that this worker does not read") } })
        // Its own partitions come when it joins the group again.
        #expect(eventually { bench.status.statuses.contains { $0.partitions.contains { $0.topic == others.requests } } })
        try second.stop()
        #expect(bench.tags.count == 1, "a request of the topics before was sent")
    }
}
