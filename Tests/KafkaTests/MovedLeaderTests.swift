import Kafka
import TestSupport
import Testing

/// Questions for offsets while leaders are away or move, on the library's embedded cluster.
@Suite(.tags(.threads, .c)) struct MovedLeaderTests {
    private static let partition = TopicPartition(topic: "t", partition: 0)

    /// Two brokers, the first of which leads the topic's partition and is known for it.
    private static func stage() throws -> (cluster: MockCluster, consumer: Consumer) {
        let cluster = try MockCluster(brokers: 2)
        try cluster.createTopic("t", partitions: 1)
        cluster.setLeader(of: partition, to: 1)
        let consumer = try Consumer(cluster.configuration, groupID: "g", wakeUpFileDescriptor: -1)
        #expect(eventually { (try? consumer.group.end(of: partition, timeout: .seconds(1))) == 0 })
        return (cluster, consumer)
    }

    /// It no longer leads, and says so.
    @Test func aLeaderThatMovedIsAskedWithinOneQuestion() throws {
        let (cluster, consumer) = try Self.stage()
        defer { cluster.close() }
        defer { consumer.close(timeout: .seconds(5)) }
        cluster.setLeader(of: Self.partition, to: 2)
        #expect(try consumer.group.end(of: Self.partition, timeout: farDeadline) == 0)
    }

    /// It is away while another one leads: the library would ask it again and again.
    @Test func aLeaderThatIsGoneIsNotAskedForEver() throws {
        let (cluster, consumer) = try Self.stage()
        defer { cluster.close() }
        defer { consumer.close(timeout: .seconds(5)) }
        cluster.setBroker(1, isUp: false)
        #expect(throws: KafkaError.self) { try consumer.group.end(of: Self.partition, timeout: .milliseconds(500)) }
        cluster.setLeader(of: Self.partition, to: 2)
        #expect(eventually { (try? consumer.group.end(of: Self.partition, timeout: .seconds(1))) == 0 })
    }

    /// Without a leader a question ends with its time, and the next one finds the leader that there is by then.
    @Test func withoutALeaderAQuestionEndsWithItsTime() throws {
        let (cluster, consumer) = try Self.stage()
        defer { cluster.close() }
        defer { consumer.close(timeout: .seconds(5)) }
        cluster.setLeader(of: Self.partition, to: nil)
        let error = #expect(throws: KafkaError.self) {
            try consumer.group.end(of: Self.partition, timeout: .milliseconds(500))
        }
        #expect(error?.isLeaderAway == true, "\(String(describing: error))")
        cluster.setLeader(of: Self.partition, to: 2)
        #expect(eventually { (try? consumer.group.end(of: Self.partition, timeout: .seconds(1))) == 0 })
    }
}
