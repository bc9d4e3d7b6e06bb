public import Delivery
public import Kafka

/// The beginnings of partitions: the one place where they are decided, from facts alone.
public struct PartitionStarts: Sendable {
    /// The decisions about partitions that do not begin at the group's position.
    public private(set) var rulings: [TopicPartition: AssignmentPlan.Ruling] = [:]
    /// The ends of partitions, open transactions included, as far as they are known: those of requests and of held ones.
    public private(set) var ends: [TopicPartition: Int64] = [:]
    /// The partitions whose records have to be read further before it is known where they begin. A ruling of one is what is likely.
    public private(set) var unanswered: [TopicPartition: PartitionProbe] = [:]
    /// The partitions without a position whose leaders are away, those of other workers included.
    public private(set) var away: [TopicPartition] = []
    /// The partitions of other workers that partition 0 of their topic waits for, as they have no position.
    public private(set) var awaited: [TopicPartition] = []

    /// Nothing is known.
    public init() {}

    /// Decides where partitions begin.
    ///
    /// - Parameters:
    ///   - probes: The facts. But with `StartRule.beginning`, of a topic of requests in which the group has no position in partition 0: of
    ///     all its partitions.
    ///   - rule: The rule for partitions without a position that says where they begin.
    public init(_ probes: [PartitionProbe], rule: StartRule) {
        for probe in probes where probe.kind != .requests { take(probe, decision: probe.decision(rule), by: rule) }
        let requests = probes.filter { $0.kind == .requests }
        for topic in Dictionary(grouping: requests, by: { $0.partition.topic }).values {
            let ordered = topic.sorted { $0.partition.partition < $1.partition.partition }
            let decisions = rule.decisions(in: ordered.map(\.content))
            for (probe, decision) in zip(ordered, decisions) { take(probe, decision: decision, by: rule) }
            if decisions.first == .undecided {
                awaited += ordered.filter { $0.isOther && $0.position.offset == nil }.map(\.partition)
            }
        }
    }

    private mutating func take(_ probe: PartitionProbe, decision: StartRule.Decision?, by rule: StartRule) {
        let partition = probe.partition
        ends[partition] = probe.end
        if !probe.isAnswered || probe.isDoubtful && probe.end == nil { unanswered[partition] = probe }
        guard probe.position.offset == nil, let decision else {
            rulings[partition] = probe.ruling(rule)
            return
        }
        if probe.end == nil { away.append(partition) }
        if probe.wasForgotten, let low = probe.low, let end = probe.end {
            rulings[partition] = AssignmentPlan.Ruling(.offset(low), because: .recreated, end: end, waiting: max(0, end - low))
            return
        }
        let (low, end) = (probe.low ?? 0, probe.end ?? 0)
        rulings[partition] = AssignmentPlan.Ruling(decision, because: .noPosition, end: end, waiting: max(0, end - low))
    }

    /// The facts of a partition that its beginning is planned by. The group's position is nil if it has none.
    public func assigned(
        _ partition: TopicPartition, as kind: AssignmentPlan.Kind, committed: LedgerCommit?
    ) -> AssignmentPlan.Assigned {
        AssignmentPlan.Assigned(
            kind, committed: committed, end: kind == .requests ? ends[partition] : nil, ruling: rulings[partition],
            isUnanswered: unanswered[partition] != nil)
    }
}
