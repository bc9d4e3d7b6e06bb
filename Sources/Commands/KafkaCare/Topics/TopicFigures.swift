import JobSupport
import Kafka

/// The requested partitions and replicas, against those of topics that are there already.
struct TopicFigures {
    private static let keys = "; requests with an ordering key then go to other partitions than those before"

    /// The partitions of a topic of requests and the replicas of each partition, or nil if none were requested.
    let partitions: Int?
    let replication: Int?
    let tool: KafkaTool

    /// True if no number was requested.
    var isEmpty: Bool { partitions == nil && replication == nil }

    /// The differences of a topic from the requested numbers, and the command that changes it. `there` is empty if its partitions
    /// are not known.
    func warnings(_ role: TopicRole, there: [PartitionReplicas]) -> [String] {
        guard !there.isEmpty else { return [] }
        var warnings: [String] = []
        if let wanted = partitions.map(role.partitionCount), wanted != there.count {
            let text = "\(role.name) has \(Counted.text(there.count, "partition", "partitions")), not \(wanted): "
            warnings.append(
                wanted > there.count
                    ? text + "`\(tool.grow(role.name, to: wanted))` adds them" + (role.kind == .requests ? Self.keys : "")
                    : text + "Kafka takes none away, so they stay")
        }
        let copies = there.map(\.count).min() ?? 0
        if let replication, replication != copies {
            warnings.append("\(role.name) has replication \(copies), not \(replication): `\(tool.reassign)` changes it")
        }
        return warnings
    }
}
