import Delivery
import GroupPositions
import Groups
import JobSupport
import Kafka
import TestSupport
import Testing

@testable import KafkaCare

@Suite struct RetentionSurveyTests {
    private static let now: Int64 = 1_795_262_400_000
    private static let hour: Int64 = 3_600_000
    private static let day = [
        TopicSetting(name: "cleanup.policy", value: "delete"), TopicSetting(name: "retention.ms", value: "86400000"),
    ]

    /// Records of two topics: in each partition of the first one of 20 hours ago, one of 10 and one of an hour ago.
    private static func outlooks(committed: [Int64?]) throws -> [RetentionOutlook] {
        let cluster = try MockCluster()
        defer { cluster.close() }
        let names = ["waiting", "idle"]
        for name in names { try cluster.createTopic(name, partitions: committed.count) }
        let producer = try Producer(cluster.configuration, transactionalID: nil)
        defer { producer.close(timeout: .zero) }
        let topic = try producer.warmUp(topics: [names[0]], timeout: farDeadline)[0]
        for hours in [20, 10, 1] as [Int64] {
            for partition in committed.indices {
                let value = Array("\(hours)".utf8)
                try producer.produce(
                    to: topic, partition: Int32(partition), key: nil, value: value.span, timestamp: now - hours * hour)
            }
        }
        try producer.flush(timeout: farDeadline)
        let context = JobContext(kafka: cluster.configuration, topics: Topics(), timeout: farDeadline, now: { now })
        let terms = GroupTerms(kafka: cluster.configuration, group: "g", topics: Topics(), start: .safe)
        let positions = committed.enumerated().map {
            GroupPosition(TopicPartition(topic: names[0], partition: Int32($0)), low: 0, high: 3, committed: $1)
        }
        return try RetentionSurvey(context, terms: terms).outlooks([names[0]: day, names[1]: day], positions: positions)
    }

    private static let samples: [(committed: [Int64?], left: Int64)] = [
        ([3, 3], 24), ([0, 3], 4), ([2, 1], 14), ([1, nil], 14), ([nil, nil], 24),
    ]

    /// Of a topic in which nothing waits all is left, and a partition without a position says nothing.
    @Test(arguments: samples)
    func theOldestRecordWithoutAResultCounts(committed: [Int64?], left: Int64) throws {
        let found = try Self.outlooks(committed: committed)
        #expect(found.map(\.topic) == ["idle", "waiting"])
        #expect(found.map(\.left) == [24 * Self.hour, left * Self.hour])
    }
}
