package import Delivery
package import GroupPositions
import Kafka

/// The beginnings of a group's partitions, as its workers decide them.
package struct GroupStarts: Sendable {
    /// A partition that does not begin at the group's position, or not yet.
    package struct Row: Sendable {
        /// The position of the partition.
        package let position: GroupPosition
        /// The place where it begins, if at all, or nil if another version must continue it.
        package let ruling: AssignmentPlan.Ruling?
        /// The reason for which workers leave it, though no operator has to decide, or nil if they do not.
        package let left: LeaveCause?
        /// The reason for which workers do not read it before an operator sets its start, or nil if they do.
        package let refusal: StartRule.Cause?
    }

    /// The partitions that do not simply go on, in the order of the positions.
    package let rows: [Row]

    /// Plans as a worker would that has all partitions.
    package init(_ positions: [GroupPosition], _ starts: PartitionStarts, kind: (String) -> AssignmentPlan.Kind) {
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

    /// The partitions in which something waits that workers do not read before an operator decides.
    package var refused: [Row] { rows.filter { $0.refusal != nil && ($0.ruling?.waiting ?? 0) > 0 } }
}
