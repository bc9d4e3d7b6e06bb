import Kafka
import PushModel
import Testing

@testable import Console
@testable import Groups
@testable import KafkaCare

@Suite struct GroupStartsTests {
    private static let now: Int64 = 1_795_262_400_000

    private static func position(_ number: Int32, low: Int64 = 0, high: Int64, committed: Int64? = nil) -> GroupPosition {
        GroupPosition(TopicPartition(topic: "t", partition: number), low: low, high: high, committed: committed)
    }

    @Test func partitionsThatWorkersLeaveAreNamedWithWhatWaits() {
        let topic = [Self.position(0, high: 0), Self.position(1, low: 2, high: 9), Self.position(2, high: 4)]
        let starts = StartSample(since: [nil, nil, 0]).groupStarts(of: topic)
        #expect(starts.refused.map(\.position) == [topic[1]], "the empty one before it waits as well, but nothing waits in it")
        #expect(starts.obstacles.first?.text.hasPrefix("the group has no position in t[1] (7 wait); requests") == true)
        #expect(StartSample().groupStarts(of: []).obstacles.isEmpty)
        let many = StartSample().groupStarts(of: (0..<5).map { Self.position($0, high: 3) })
        #expect(many.obstacles.first?.text.contains("t[2] (3 wait) and 2 more") == true)
        let grown = [Self.position(0, high: 5, committed: 5), Self.position(1, high: 9)]
        #expect(StartSample().groupStarts(of: grown).refused.isEmpty, "a partition that was added begins by itself")
    }

    @Test func doctorAndStatusSayTheCommand() throws {
        let refused = [Self.position(0, high: 5)]
        let starts = StartSample().groupStarts(of: refused)
        let group = GroupDescription(state: .empty, members: [])
        let facts = GroupFacts(
            id: "pushfan", positions: .success(refused), description: .success(group), starts: .success(starts))
        let finding = try #require(GroupFindings.of(facts, tool: KafkaTool(brokers: "b:9092")).first)
        #expect(finding.state == .failed && finding.text.contains("t[0] (5 wait)"))
        #expect(finding.remedy == "stop the group's workers, then: pushfan group start --at finished")
        let report = StatusReport(
            now: .init(milliseconds: Self.now), groupID: "pushfan", group: .success(group), partitions: [], workers: [],
            starts: starts)
        let reason = try #require(report.reasons.first)
        #expect(reason.isStuck && reason.text.contains("t[0] (5 wait)"))
        #expect(reason.text.hasSuffix(": `pushfan group start --at finished` sends what has no result"))
    }
}
