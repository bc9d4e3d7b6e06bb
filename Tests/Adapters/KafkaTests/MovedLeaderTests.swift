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

    @Test func partitionsAreSortedByTheirLeaders() throws {
        let cluster = try MockCluster(brokers: 2)
        defer { cluster.close() }
        for topic in ["a", "b"] {
            try cluster.createTopic(topic, partitions: 3)
            for number in 0..<3 as Range<Int32> {
                cluster.setLeader(of: TopicPartition(topic: topic, partition: number), to: number == 1 ? 1 : 2)
            }
        }
        cluster.setLeader(of: TopicPartition(topic: "b", partition: 2), to: nil)
        let admin = try TopicAdmin(cluster.configuration)
        let asked = ["b", "a"].flatMap { topic in (0..<4).map { TopicPartition(topic: topic, partition: $0) } }
        let found = try admin.partitionsByLeader(asked, timeout: farDeadline)
        #expect(found.map { $0.map(\.description) } == [["b[1]", "a[1]"], ["b[0]", "a[0]", "a[2]"]])
    }
}
