import CRDKafka
import TestSupport
import Testing

@testable import Kafka

/// The library's own questions for topics, on its embedded cluster.
@Suite(.tags(.threads, .c)) struct MetadataRefreshesTests {
    /// A topic that goes away is looked for by the library itself.
    @Test func aTopicThatIsMissingIsLookedFor() throws {
        let cluster = try MockCluster(brokers: 2)
        defer { cluster.close() }
        try cluster.createTopic("t", partitions: 1)
        let partition = TopicPartition(topic: "t", partition: 0)
        let reader = try PartitionReader(cluster.configuration, wakeUpFileDescriptor: -1)
        defer { reader.stop() }
        try reader.start([(partition, .beginning)])
        #expect(eventually { if case .endOfPartition = reader.read(slot: 0, perform: { _ in }) { true } else { false } })
        _ = reader.takeRefreshes()
        cluster.setLeader(of: partition, to: 2)
        #expect(eventually { reader.takeRefreshes() })
    }

    /// What its owner asks for is no refresh of the library's, however often it is asked.
    @Test func whatTheOwnerAsksForIsNone() throws {
        let refreshes = MetadataRefreshes()
        let cluster = try MockCluster()
        defer { cluster.close() }
        let settings = try ClientSettings(cluster.configuration, defaults: [], fixed: [])
        let client = try ClientHandle(RD_KAFKA_CONSUMER, settings: settings, inbox: nil, refreshes: refreshes)
        _ = try ClusterSnapshot(of: client, timeout: farDeadline) { nil }
        _ = refreshes.take()
        for _ in 0..<5 { _ = try ClusterSnapshot(of: client, timeout: farDeadline) { nil } }
        #expect(!refreshes.take())
    }
}
