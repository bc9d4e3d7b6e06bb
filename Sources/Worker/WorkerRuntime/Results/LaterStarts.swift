import EventLoop
import GroupPositions
import Kafka

/// The partitions that begin later than the others of their assignment, because records have to be read first that say where.
struct LaterStarts {
    /// Reads them in the background. Nil while it is known of all where they begin.
    private var probe: StartProbe?
    /// The progress of reading partitions without a position when that was ended.
    private(set) var progress: [TopicPartition: Int64] = [:]
    /// The slots of the partitions that were unanswered when their assignment began.
    private var slots: [TopicPartition: Int] = [:]

    /// The probes without an answer.
    var open: [TopicPartition: PartitionProbe] { probe?.open ?? [:] }

    /// Reads on in the background until the probes have their answers, of which `wakeUp` tells. What was read before an assignment ended
    /// is not read again. `slots` are those of all partitions that are unanswered.
    mutating func begin(
        _ probes: [PartitionProbe], of slots: [TopicPartition: Int], configuration: WorkerConfiguration, clock: WorkerClock,
        wakeUp: WakeUp
    ) {
        progress = [:]
        self.slots = slots
        if !probes.isEmpty { probe = StartProbe(probes, configuration: configuration, clock: clock, wakeUp: wakeUp) }
    }

    /// Ends that: the partitions are given up.
    mutating func end() {
        slots = [:]
        guard let probe else { return }
        self.probe = nil
        probe.cancel()
        for (partition, open) in probe.open where open.position.offset == nil { progress[partition] = open.next }
    }

    /// Takes the slot of a partition that begins, or nil if it has none any more.
    mutating func takeSlot(of partition: TopicPartition) -> Int? { slots.removeValue(forKey: partition) }

    /// Takes the oldest finding. Nil if there is none.
    mutating func nextFinding() -> StartProbe.Finding? {
        guard let probe else { return nil }
        if let finding = probe.nextFinding() { return finding }
        if probe.isDone { self.probe = nil }
        return nil
    }

    /// The progress of reading a partition, in words. Nil if it is not read.
    func progressText(of partition: TopicPartition?) -> String? {
        partition.flatMap { open[$0] }.map { "\($0.partition): \(LoopStatus.Reading($0).text)" }
    }
}
