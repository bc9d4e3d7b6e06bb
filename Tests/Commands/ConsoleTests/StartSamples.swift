import Delivery
import Groups
import Kafka

@testable import Console
@testable import GroupPositions

/// The facts about partitions, as Kafka would give them.
struct StartSample {
    var kind = AssignmentPlan.Kind.requests
    var rule = StartRule.safe
    /// The first offsets that are young enough, by partition.
    var since: [Int64?] = []
    /// The findings in place of the last and of the first record that was read.
    var last: LogTail.Finding?
    var first: LogTail.Finding?
    /// Whether the group's first record may have been gone on with.
    var mayHaveGoneOn: Bool?
    var isLeaderAway = false

    /// A group whose topics are all of one kind.
    func terms(of topic: String) -> GroupTerms {
        GroupTerms(
            kafka: KafkaConfiguration(bootstrapServers: ""), group: "pushfan", requests: kind == .requests ? [topic] : [],
            delays: kind == .delayed ? [topic] : [], held: kind == .held ? topic : "", parents: kind == .parents ? topic : "",
            start: rule)
    }

    /// The beginnings of partitions of one topic.
    func starts(of positions: [GroupPosition]) -> PartitionStarts {
        let probes = positions.enumerated().map { index, position in
            var probe = PartitionProbe(
                CommittedOffset(partition: position.partition, offset: position.committed, metadata: position.metadata),
                terms: terms(of: position.partition.topic), wasBeyondEnd: position.isBeyondEnd)
            (probe.last, probe.first) = (last, first)
            if let mayHaveGoneOn { probe.mayHaveGoneOn = mayHaveGoneOn }
            guard !isLeaderAway else { return probe }
            (probe.low, probe.end) = (position.low, position.high)
            probe.since = since.indices.contains(index) ? since[index] : nil
            return probe
        }
        return PartitionStarts(probes, rule: rule)
    }

    /// The same as commands see it.
    func groupStarts(of positions: [GroupPosition]) -> GroupStarts {
        GroupStarts(positions, starts(of: positions)) { _ in kind }
    }
}
