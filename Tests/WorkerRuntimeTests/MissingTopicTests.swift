import HubEmulator
import Kafka
import TestSupport
import Testing
import WorkerRuntime

/// Topics that are deleted, or made anew, while a worker runs.
@Suite(.enabled(if: Bench.Broker.realAddress != nil, "needs PUSHFAN_TEST_KAFKA"))
struct MissingTopicTests {
    private static func request(_ name: String, key: String? = nil) -> String {
        let key = key.map { #","ordering_key":"\#($0)""# } ?? ""
        return #"{"id":"\#(name)","audience":{"categories":["\#(name)"]},"platforms":["apple"],"message":{"title":"T"}\#(key)}"#
    }

    private static func delete(_ topics: [String], _ bench: Bench) throws {
        let failed = try TopicAdmin(bench.kafka).deleteTopics(topics, timeout: farDeadline)
        try #require(failed.isEmpty, "\(failed)")
    }

    /// A wait of 200 s is for the lane of one minute.
    @Test(arguments: [["1m"], ["10s", "1m", "10m"]]) func aDelayLaneThatIsDeletedIsReplacedByTheNearest(lanes: [String]) throws {
        let bench = try Bench(.real, partitions: 1)
        let worker = try bench.startWorker()
        try bench.publish(Self.request("before"))
        try bench.results(1)
        try Self.delete(bench.topics.delays.filter { topic in lanes.contains { topic.hasSuffix($0) } }, bench)
        bench.hub.arm([try Fault(parsing: "status=500,retry-after=200,tags=waits,count=1")])
        try bench.publish(Self.request("waits"))
        #expect(eventually { bench.hasRetries })
        try bench.publish(Self.request("behind"))
        try bench.results(2)
        bench.endRest()
        try bench.results(3)
        try worker.stop()
        #expect(try bench.resultsByRequest().values.allSatisfy { $0["state"] == "sent" })
    }

    @Test func heldRequestsWaitInMemoryWhereTheirTopicHasFewerPartitions() throws {
        let bench = try Bench(.real, partitions: 1)
        let worker = try bench.startWorker()
        try bench.publish(Self.request("before"))
        try bench.results(1)
        try Self.delete([bench.topics.held], bench)
        #expect(
            try eventually {
                let new = NewTopic(name: bench.topics.held, partitionCount: 1, replicationFactor: 1)
                return try TopicAdmin(bench.kafka).createTopics([new], timeout: farDeadline) == [.created]
            })
        bench.hub.arm([try Fault(parsing: "status=500,retry-after=200,tags=waits,count=1")])
        try bench.publish(Self.request("waits", key: "k"))
        #expect(eventually { bench.hasRetries })
        try bench.publish(Self.request("behind", key: "k"))
        try bench.publish(Self.request("other"))
        try bench.results(2)
        bench.endRest()
        try bench.results(4)
        try worker.stop()
        #expect(try bench.resultsByRequest().values.allSatisfy { $0["state"] == "sent" })
        let tags = bench.tags
        #expect(tags.lastIndex(of: "waits") ?? 0 < tags.firstIndex(of: "behind") ?? 0)
    }
}
