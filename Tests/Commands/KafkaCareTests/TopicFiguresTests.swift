import Delivery
import Kafka
import Testing

@testable import KafkaCare

/// What `topics create` says of topics that are there with other figures.
@Suite struct TopicFiguresTests {
    private static let tool = KafkaTool(brokers: "b:9092")
    private static let keys = "; requests with an ordering key then go to other partitions than those before"
    private static let reassign = "kafka-reassign-partitions.sh --bootstrap-server b:9092 --reassignment-json-file FILE --execute"

    private static func grow(_ topic: String, _ count: Int) -> String {
        "kafka-topics.sh --bootstrap-server b:9092 --alter --topic \(topic) --partitions \(count)"
    }

    private static func warnings(_ role: String, _ count: Int, wanted: Int?, replication: Int? = nil) throws -> [String] {
        let role = try #require(TopicRole.all(Topics()).first { $0.role == role })
        let there = [PartitionReplicas](repeating: .init(leader: 1, count: 1, inSyncCount: 1), count: count)
        return TopicFigures(partitions: wanted, replication: replication, tool: tool).warnings(role, there: there)
    }

    @Test(
        arguments: [
            ("requests", 12, 12, nil), ("requests", 12, nil, nil), ("held", 36, 12, 1), ("control", 1, 48, nil),
            ("requests", 0, 12, 3),
        ] as [(String, Int, Int?, Int?)])
    func whatIsAsItWasAskedForIsNotWarnedOf(role: String, count: Int, wanted: Int?, replication: Int?) throws {
        #expect(try Self.warnings(role, count, wanted: wanted, replication: replication) == [])
    }

    @Test func otherFiguresAreNamedWithTheCommandThatChangesThem() throws {
        #expect(
            try Self.warnings("requests", 1, wanted: 48) == [
                "push.requests.v1 has 1 partition, not 48: `\(Self.grow("push.requests.v1", 48))` adds them\(Self.keys)"
            ])
        #expect(
            try Self.warnings("held", 36, wanted: 48, replication: 3) == [
                "push.held.v1 has 36 partitions, not 144: `\(Self.grow("push.held.v1", 144))` adds them",
                "push.held.v1 has replication 1, not 3: `\(Self.reassign)` changes it",
            ])
        #expect(
            try Self.warnings("results", 12, wanted: 6) == [
                "push.results.v1 has 12 partitions, not 6: Kafka takes none away, so they stay"
            ])
    }
}
