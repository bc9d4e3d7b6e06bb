import Delivery
import Kafka
import Observability

/// Partitions that begin later than the others of their assignment, because records have to be read first that say where.
extension WorkerLoop {
    /// Begins the partitions of which it is known where.
    func beginAnswered() {
        guard mode == .running else { return }
        var plans: [AssignmentPlan.Partition] = []
        while let finding = laterStarts.nextFinding() {
            guard let slot = laterStarts.takeSlot(of: finding.partition), partitions[slot].left == .unanswered else { continue }
            guard let plan = begin(slot, finding: finding) else { return }
            plans.append(plan)
        }
        guard !plans.isEmpty else { return }
        noteLeft()
        let isRefused = plans.contains { $0.refusal != nil }
        if isRefused { noteRefused(AssignmentPlan.RefusedPartitions(of: partitions)) } else { health.joined() }
    }

    /// Begins a partition. Returns its plan, or nil if the assignment is begun again, because it cannot be read from there.
    private func begin(_ slot: Int, finding: StartProbe.Finding) -> AssignmentPlan.Partition? {
        let committed = partitions[slot].committed
        let assigned = AssignmentPlan.Assigned(
            partitions[slot].role.kind, committed: committed, end: finding.end, ruling: finding.ruling)
        let plan = AssignmentPlan(
            [assigned], window: configuration.window, heldWindow: configuration.heldWindow, reach: desk.repetitions?.reach)
        guard let planned = plan.partitions.first else { return nil }
        do throws(KafkaError) { try moveReading(of: slot, to: planned.start) } catch {
            noteKafkaError(error)
            beginAssignmentAgain(because: "a partition cannot be read from where it begins")
            return nil
        }
        for message in plan.messages { log.error(.kafkaError, message.meaning, message.fields(of: [finding.partition])) }
        partitions[slot] = partitionState(
            planned, of: finding.partition, at: committed, siblings: partitions[slot].siblingCount)
        noteKnown(partitions[slot].findKnown(in: &offered.known))
        membership.beganLater(isOpening: partitions[slot].isClosed)
        marks.begin(slot, as: partitions[slot])
        if partitions[slot].role == .parents { parents.begin(slot, planned: planned) }
        noteArrivals(in: slot)
        if planned.isDirty { scheduler.isRefreshDue = true }
        log.info(
            .rebalanced, "it is known where a partition begins",
            [.topic: .string(finding.partition.topic), .partition: LogValue(finding.partition.partition)])
        return planned
    }

    /// Has a partition read from where it begins, if that is not where its reading started. One that is not read needs nothing.
    private func moveReading(of slot: Int, to start: AssignmentPlan.Start) throws(KafkaError) {
        guard case .offset(let offset) = start, start != partitions[slot].start else { return }
        try goBack(slot, to: offset)
    }
}
