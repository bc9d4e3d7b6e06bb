import Delivery
public import Kafka
public import PushModel

/// Asks Kafka where partitions of a group begin, for workers and for whoever foretells what workers do. It writes nothing.
///
/// A partition begins at the group's position, unless it has none or has lost what was read. One without a position whose leader is away
/// holds up no other: it stays undecided. Nor does one whose records do not come soon: it stays unanswered. Belongs to one thread.
public struct StartFinder {
    /// The time that brokers may take.
    public struct Limits: Sendable {
        /// The time for an answer.
        public var answer = Duration.seconds(5)
        /// The time for records that were read before.
        public var marks = Duration.seconds(3)
        /// The time for records of partitions without a position.
        public var waiting = Duration.seconds(1)

        /// Those of an assignment, which waits meanwhile: 5 s, 3 s and 1 s.
        public init() {}

        /// The same for everything.
        public init(all limit: Duration) { (answer, marks, waiting) = (limit, limit, limit) }
    }

    private let terms: GroupTerms
    private let group: ConsumerGroup
    private let limits: Limits
    private let now: () -> Timestamp
    private var reader: ProbeReader

    /// A finder for a group.
    ///
    /// - Parameters:
    ///   - terms: The group.
    ///   - group: Asks for positions.
    ///   - limits: The time that brokers may take. Default: that of an assignment.
    ///   - now: The present.
    public init(_ terms: GroupTerms, group: ConsumerGroup, limits: Limits = Limits(), now: @escaping () -> Timestamp) {
        self.terms = terms
        self.group = group
        self.limits = limits
        self.now = now
        reader = ProbeReader(terms, now: now)
    }

    /// Finds out where partitions begin.
    ///
    /// - Parameters:
    ///   - positions: The group's positions.
    ///   - partitionsBehindCommit: Partitions that were seen to end before their position, whatever they end at now.
    ///   - progress: How far partitions without a position were read before.
    /// - Returns: Their beginnings.
    /// - Throws: It could not be learnt, of a partition that cannot be read before.
    public mutating func starts(
        of positions: [CommittedOffset], behindCommit partitionsBehindCommit: Set<TopicPartition> = [],
        progress: [TopicPartition: Int64] = [:]
    ) throws(KafkaError) -> PartitionStarts {
        var marked = positions.map {
            PartitionProbe($0, terms: terms, wasBeyondEnd: partitionsBehindCommit.contains($0.partition))
        }
        try reader.read(&marked, within: limits.marks)
        let prober = LogProber(terms.kafka, limit: limits.answer)
        var (probes, waiting): ([PartitionProbe], [PartitionProbe]) = ([], [])
        for topic in terms.topics {
            for var probe in try completed(marked.filter { $0.partition.topic == topic }, in: topic, with: prober) {
                probe.beginReading(from: progress[probe.partition])
                if probe.position.offset == nil { waiting.append(probe) } else { probes.append(probe) }
            }
        }
        try reader.read(&waiting, within: limits.waiting)
        return PartitionStarts(probes + waiting, rule: terms.start)
    }

    /// Asks for what is missing about partitions of a topic. A topic of ours that is not there has nothing that could be sent.
    private func completed(
        _ probes: [PartitionProbe], in topic: String, with prober: LogProber
    ) throws(KafkaError) -> [PartitionProbe] {
        let ownCount = probes.count
        var probes = try probes + neighbours(of: probes, in: topic)
        let asked = probes.indices.filter { probes[$0].needsEnd && ($0 < ownCount || probes[$0].position.offset == nil) }
        do throws(KafkaError) {
            for (index, end) in zip(asked, try ends(of: asked.map { probes[$0] }, in: topic, with: prober)) {
                probes[index].end = end
            }
        } catch {
            guard error.isUnknownTopicOrPartition, terms.kind(of: topic) != .requests else { throw error }
            return []
        }
        let open = asked.filter { probes[$0].isOpen }
        var opened = open.map { probes[$0] }
        do throws(KafkaError) {
            try prober.complete(&opened, since: terms.start.time(now: now())?.milliseconds)
        } catch {
            guard error.isLeaderAway, opened.allSatisfy({ $0.position.offset == nil }) else { throw error }
            for index in opened.indices { (opened[index].low, opened[index].end) = (nil, nil) }
        }
        for (index, probe) in zip(open, opened) { probes[index] = probe }
        return probes
    }

    /// The ends of partitions of a topic. Of one that is away nothing is known; if it may begin at its position, it is read when it is back.
    private func ends(
        of probes: [PartitionProbe], in topic: String, with prober: LogProber
    ) throws(KafkaError) -> [Int64?] {
        guard !probes.isEmpty else { return [] }
        let numbers = probes.map(\.partition.partition)
        guard probes.contains(where: \.mustBeDecided) else {
            return (try? prober.connected().ends(of: numbers, in: topic, timeout: .seconds(1))) ?? numbers.map { _ in nil }
        }
        let ends = try prober.ends(of: numbers, in: topic)
        for (probe, end) in zip(probes, ends) where end == nil && probe.isDoubtful && !probe.hasMarks {
            if let failure = prober.failure { throw failure }
        }
        return ends
    }

    /// The partitions of a topic of requests, assigned to other workers, that a decision of `safe` depends on: partition 0, and if the group
    /// has no position there, all in which it has none. Each of those is held back while its worker commits.
    private func neighbours(of probes: [PartitionProbe], in topic: String) throws(KafkaError) -> [PartitionProbe] {
        let unplaced = probes.filter { $0.position.offset == nil }.map(\.partition.partition)
        guard terms.start == .safe, terms.kind(of: topic) == .requests, let last = unplaced.max() else { return [] }
        let first = probes.first { $0.partition.partition == 0 }?.position
        if let first, first.offset != nil { return [] }
        let limit = limits.answer
        if first == nil, let known = try group.committed([TopicPartition(topic: topic, partition: 0)], timeout: limit).first,
            known.offset != nil
        {
            return [PartitionProbe(CommittedOffset(partition: known.partition, offset: known.offset), terms: terms)]
        }
        // What was assigned is there, even if the consumer has not heard of it yet.
        let count = try max(Int(last) + 1, group.partitionCounts(of: [topic], timeout: limit).first ?? 0)
        let own = Set(probes.map(\.partition))
        let others = (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }.filter { !own.contains($0) }
        guard !others.isEmpty else { return [] }
        return try group.committed(others, timeout: limit).filter { $0.offset == nil }.map { PartitionProbe($0, terms: terms) }
    }
}
