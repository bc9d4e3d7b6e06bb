import Delivery
import Testing

@testable import GroupPositions
@testable import Kafka

/// Partitions whose records have answered, perhaps many of them at once.
struct LateStartsTests {
    private static let terms = GroupTerms(
        kafka: KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), group: "g", requests: ["requests"], delays: ["delay"],
        held: "held", parents: "parents", start: .beginning)

    private static func partition(_ number: Int32, of topic: String = "requests") -> TopicPartition {
        TopicPartition(topic: topic, partition: number)
    }

    /// A partition that ends before its position, if `isLost`.
    private static func probe(_ number: Int32, of topic: String = "requests", isLost: Bool) -> PartitionProbe {
        PartitionProbe(
            CommittedOffset(partition: partition(number, of: topic), offset: 5), terms: terms, wasBeyondEnd: isLost)
    }

    @Test(arguments: [1, 400]) func manyTakeTwoQuestions(count: Int32) {
        let brokers = FakeBrokers()
        brokers.usualBounds = 1..<3
        let lateStarts = LateStarts(rule: .beginning, asking: LogProber(limit: .seconds(5)) { brokers })
        let starts = lateStarts.starts(of: (0..<count).map { Self.probe($0, isLost: true) })
        #expect(brokers.questions == [.ends(Int(count)), .beginnings(Int(count))])
        #expect(starts.count == Int(count) && starts.allSatisfy { $0?.end == 3 && $0?.ruling?.decision == .offset(1) })
        #expect(lateStarts.starts(of: (0..<count).map { Self.probe($0, isLost: false) }).allSatisfy { $0?.ruling == nil })
        #expect(brokers.questions.count == 2, "what has lost nothing begins at its position")
    }

    @Test func oneThatIsAwayHoldsUpNoOther() {
        let brokers = FakeBrokers()
        brokers.usualBounds = 1..<3
        brokers.leaderless = [Self.partition(7)]
        let lateStarts = LateStarts(rule: .beginning, asking: LogProber(limit: .seconds(5)) { brokers })
        let probes = (0..<32).map { Self.probe($0, isLost: $0 != 9) }
        #expect(lateStarts.starts(of: probes).map { $0 == nil } == (0..<32).map { $0 == 7 })
        brokers.leaderless = []
        brokers.forbidden = ["requests"]
        #expect(lateStarts.starts(of: probes).map { $0 != nil } == (0..<32).map { $0 == 9 })
        brokers.forbidden = []
        #expect(lateStarts.starts(of: [probes[7]]).first??.end == 3, "it is asked about again")
    }

    @Test func aTopicThatHasGoneHoldsUpNoOther() {
        let brokers = FakeBrokers()
        brokers.usualBounds = 1..<3
        brokers.missing = ["delay"]
        let lateStarts = LateStarts(rule: .beginning, asking: LogProber(limit: .seconds(5)) { brokers })
        let starts = lateStarts.starts(of: [Self.probe(0, of: "delay", isLost: true), Self.probe(0, isLost: true)])
        #expect(starts.map { $0?.end } == [nil, 3])
    }
}
