import Delivery
import GroupPositions
import Kafka
import Observability

/// Partitions that begin later than the others of their assignment, because records have to be read first that say where.
extension WorkerLoop {
    /// Reads on in the background until the probes have their answers. What was read before an assignment ended is not read again.
    func probeOn(_ probes: [PartitionProbe]) {
        startProgress = [:]
        guard !probes.isEmpty else { return }
        startProbe = StartProbe(probes, configuration: configuration, clock: clock, wakeUp: control.wakeUp)
        log.info(
            .rebalanced, "records are read that say where partitions begin; the others go on",
            [.count: LogValue(probes.count)])
    }

    /// Ends that: the partitions are given up.
    func endStartProbing() {
        guard let probe = startProbe else { return }
        startProbe = nil
        probe.cancel()
        for (partition, open) in probe.open where open.position.offset == nil { startProgress[partition] = open.next }
    }

    /// Begins the partitions of which it is known where.
    func beginAnswered() {
        guard mode == .running, let probe = startProbe else { return }
        while startProbe === probe, let finding = probe.nextFinding() { begin(finding) }
        if startProbe === probe, probe.isDone { startProbe = nil }
    }

    private func begin(_ finding: StartProbe.Finding) {
        guard let slot = partitions.firstIndex(where: { $0.id == finding.partition && $0.left == .unanswered }) else { return }
        let committed = partitions[slot].committed
        let assigned = AssignmentPlan.Assigned(
            partitions[slot].role.kind, committed: committed, end: finding.end, ruling: finding.ruling)
        let plan = AssignmentPlan(
            [assigned], window: configuration.window, heldWindow: configuration.heldWindow, reach: repetitions?.reach)
        guard let planned = plan.partitions.first else { return }
        do throws(KafkaError) { try moveReading(of: slot, to: planned.start) } catch {
            noteKafkaError(error)
            return beginAssignmentAgain(because: "a partition cannot be read from where it begins")
        }
        for message in plan.messages { note(message, of: [finding.partition]) }
        partitions[slot] = partitionState(planned, of: finding.partition, at: committed)
        noteKnown(offered.begin(&partitions[slot]))
        membership.beganLater(isOpening: partitions[slot].isClosed)
        noteArrivals(in: slot, planned: planned)
        log.info(
            .rebalanced, "it is known where a partition begins",
            [.topic: .string(finding.partition.topic), .partition: LogValue(finding.partition.partition)])
        noteLeft()
        if planned.refusal != nil { noteRefused(AssignmentPlan.RefusedPartitions(of: partitions)) } else { health.joined() }
    }

    /// Has a partition read from where it begins, if that is not where its reading started. One that is not read needs nothing.
    private func moveReading(of slot: Int, to start: AssignmentPlan.Start) throws(KafkaError) {
        guard case .offset(let offset) = start, start != partitions[slot].start else { return }
        guard !partitions[slot].role.hasRequests else { return try consumer.goBack(slot: slot, to: offset) }
        try delayReader.goBack(slot: slot - delayedPartitions.slots.lowerBound, to: offset)
    }

    /// Lets what has come in the partition be read.
    private func noteArrivals(in slot: Int, planned: AssignmentPlan.Partition) {
        switch partitions[slot].role {
        case .requests(let lane): lanes[lane.rawValue].mayHaveRecords = true
        case .delay: delayedPartitions.mayHaveRecords = true
        case .parents: parents.begin(slot, planned: planned)
        case .held: ordered.mayHaveRecords = true
        }
        if planned.isDirty { ordered.isRefreshDue = true }
    }

    /// Says which partitions are left, and how far the records are read that say where some of those begin.
    func noteLeft() {
        let left = LeftPartitions(of: partitions)
        health.left(left, progress: left == nil ? nil : startProgressText)
    }

    /// The progress of that, of the first partition that holds requests up.
    private var startProgressText: String? {
        guard let open = startProbe?.open else { return nil }
        let first = partitions.first { $0.left == .unanswered && $0.role.kind != .delayed }
        return first.flatMap { open[$0.id] }.map { "\($0.partition): \(LoopStatus.Reading($0).text)" }
    }
}
