import Delivery
import GroupPositions
import Jobs
import Kafka
import PushModel
import Settings

/// The beginnings of a group's partitions, as its workers decide them.
struct GroupStarts {
    /// A partition that does not begin at the group's position, or not yet.
    struct Row {
        let position: GroupPosition
        /// The place where it begins, if at all, or nil if another version must continue it.
        let ruling: AssignmentPlan.Ruling?
        /// The reason for which workers leave it, though no operator has to decide, or nil if they do not.
        let left: LeaveCause?
        /// The reason for which workers do not read it before an operator sets its start, or nil if they do.
        let refusal: StartRule.Cause?
    }

    /// The command that sets the start of a group. Requests that have a result are not repeated.
    static let command = "pushfan group start --at finished"

    /// The partitions that do not simply go on, in the order of the positions.
    let rows: [Row]

    /// Plans as a worker would that has all partitions.
    ///
    /// - Parameters:
    ///   - positions: The positions of the group.
    ///   - starts: The starts of its partitions.
    ///   - kind: The kind of a topic's records.
    init(_ positions: [GroupPosition], _ starts: PartitionStarts, kind: (String) -> AssignmentPlan.Kind) {
        let assigned = positions.map { position in
            starts.assigned(
                position.partition, as: kind(position.partition.topic),
                committed: position.committed.map { LedgerCommit(offset: $0, metadata: position.metadata) })
        }
        let plan = AssignmentPlan(assigned, window: 16, heldWindow: 16, reach: nil)
        let planned = plan.partitions.sorted { $0.index < $1.index }
        rows = planned.compactMap { partition in
            let ruling = partition.left == nil ? assigned[partition.index].ruling : nil
            guard ruling != nil || partition.left != nil else { return nil }
            return Row(position: positions[partition.index], ruling: ruling, left: partition.left, refusal: partition.refusal)
        }
    }

    /// Queries Kafka.
    ///
    /// - Parameters:
    ///   - positions: The positions of the group in the topics that its members share.
    ///   - settings: The group, its topics, and what workers do where it has no position.
    ///   - now: Milliseconds since 1970.
    ///   - admin: Asks for offsets.
    ///   - configuration: The brokers.
    ///   - timeout: The time limit of each query.
    /// - Returns: The beginnings of these partitions, and of those of held and of large requests as far as they are known.
    /// - Throws: As `StartFinder.starts` does.
    static func ask(
        among positions: [GroupPosition], _ settings: KafkaSettings, now: Int64, _ admin: TopicAdmin,
        _ configuration: KafkaConfiguration, timeout: Duration
    ) throws(KafkaError) -> GroupStarts {
        let terms = settings.groupTerms(configuration)
        let all =
            positions
            + [terms.held, terms.parents].flatMap {
                GroupPosition.known(of: terms.group, in: $0, admin, configuration, timeout: timeout)
            }
        let consumer = try Consumer(configuration, groupID: terms.group, wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: .seconds(1)) }
        var limits = StartFinder.Limits(all: min(timeout, .seconds(5)))
        limits.answer = timeout
        var finder = StartFinder(terms, group: consumer.group, limits: limits) { Timestamp(milliseconds: now) }
        let starts = try FreshTopics.retrying { () throws(KafkaError) in
            try finder.starts(
                of: all.map { CommittedOffset(partition: $0.partition, offset: $0.committed, metadata: $0.metadata) },
                behindCommit: Set(all.filter(\.isBeyondEnd).map(\.partition)))
        }
        return GroupStarts(all, starts, kind: terms.kind)
    }

    /// The partitions in which something waits that workers do not read before an operator decides.
    var refused: [Row] { rows.filter { $0.refusal != nil && ($0.ruling?.waiting ?? 0) > 0 } }

    /// The reasons why workers do not read partitions, and what an operator does about each.
    var obstacles: [(text: String, command: String)] {
        let refused = refused
        func obstacle(_ cause: StartRule.Cause, _ text: (String) -> String) -> (text: String, command: String)? {
            let rows = refused.filter { $0.refusal == cause }
            guard !rows.isEmpty else { return nil }
            let command = cause == .noPosition ? Self.command : Self.replacement(of: rows.map(\.position.partition))
            return (text(Self.names(rows)) + ": workers leave these partitions until you say where the group begins", command)
        }
        return [
            obstacle(.noPosition) {
                "the group has no position in \($0); requests wait there for more than ten minutes, or may have been sent"
            },
            obstacle(.lostRecord) {
                "the last record that the group had read is gone from \($0); Kafka lost it, or the topic was recreated"
            },
            obstacle(.unknownEnd) {
                "the group's position is beyond the log end in \($0); nothing is read there, as it is unknown what was sent"
            },
        ].compactMap(\.self)
    }

    /// The command that replaces unusable positions of the group. Three partitions are named.
    private static func replacement(of partitions: [TopicPartition]) -> String {
        let names = partitions.prefix(3).map { "\($0.topic):\($0.partition)" }.joined(separator: " ")
        return "\(command) --replace \(names)" + (partitions.count > 3 ? " ..." : "")
    }

    /// The names of three partitions, with what waits there, and the number of the rest.
    static func names(_ rows: [Row]) -> String {
        let names = rows.prefix(3).map { row in
            "\(row.position.partition)" + (row.ruling.map { " (\($0.waiting) wait)" } ?? "")
        }
        return names.joined(separator: ", ") + (rows.count > 3 ? " and \(rows.count - 3) more" : "")
    }
}

extension KafkaSettings {
    /// The terms by which workers decide where partitions begin.
    func groupTerms(_ configuration: KafkaConfiguration) -> GroupTerms {
        let roles = TopicRole.all(topics)
        return GroupTerms(
            kafka: configuration, group: groupID, requests: roles.filter { $0.kind == .requests }.map(\.name),
            delays: topics.delays, held: topics.held, parents: topics.parents, start: start)
    }
}
