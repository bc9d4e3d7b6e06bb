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
    private let makeProber: () -> LogProber
    private var reader: ProbeReader

    /// A finder for a group.
    ///
    /// - Parameters:
    ///   - terms: The group.
    ///   - group: Asks for positions.
    ///   - limits: The time that brokers may take. Default: that of an assignment.
    ///   - now: The present.
    public init(_ terms: GroupTerms, group: ConsumerGroup, limits: Limits = Limits(), now: @escaping () -> Timestamp) {
        self.init(terms, group: group, limits: limits, now: now) { LogProber(terms.kafka, limit: limits.answer) }
    }

    init(
        _ terms: GroupTerms, group: ConsumerGroup, limits: Limits, now: @escaping () -> Timestamp,
        makeProber: @escaping () -> LogProber
    ) {
        self.terms = terms
        self.group = group
        self.limits = limits
        self.now = now
        self.makeProber = makeProber
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
        let byTopic = Dictionary(grouping: marked, by: \.partition.topic)
        var (probes, waiting): ([PartitionProbe], [PartitionProbe]) = ([], [])
        for var probe in try completed(terms.topics.flatMap { byTopic[$0] ?? [] }) {
            probe.beginReading(from: progress[probe.partition])
            if probe.position.offset == nil { waiting.append(probe) } else { probes.append(probe) }
        }
        try reader.read(&waiting, within: limits.waiting)
        return PartitionStarts(probes + waiting, rule: terms.start)
    }

    /// Asks for what is missing about partitions, of all topics at once. A topic of ours that is not there has nothing that could be sent.
    private func completed(_ probes: [PartitionProbe]) throws(KafkaError) -> [PartitionProbe] {
        let prober = makeProber()
        let ownCount = probes.count
        var probes = try probes + neighbours(of: probes)
        let asked = probes.indices.filter { probes[$0].needsEnd && ($0 < ownCount || probes[$0].position.offset == nil) }
        let undecided = Set(asked.lazy.filter { probes[$0].mustBeDecided }.map { probes[$0].partition.topic })
        let needed = asked.filter { undecided.contains(probes[$0].partition.topic) }
        let (ends, missing) = try ends(of: needed.map { probes[$0] }, with: prober)
        for (index, end) in zip(needed, ends) { probes[index].end = end }
        let wished = asked.filter { !undecided.contains(probes[$0].partition.topic) }
        let others = prober.knownEnds(of: wished.map { probes[$0].partition }, within: .seconds(1))
        for (index, end) in zip(wished, others) { probes[index].end = end }
        let open = asked.filter { probes[$0].isOpen }
        var opened = open.map { probes[$0] }
        if let failure = try prober.complete(&opened, since: terms.start.time(now: now())?.milliseconds),
            opened.contains(where: { $0.end == nil && $0.position.offset != nil })
        {
            throw failure
        }
        for (index, probe) in zip(open, opened) { probes[index] = probe }
        return missing.isEmpty ? probes : probes.filter { !missing.contains($0.partition.topic) }
    }

    /// The ends of partitions of topics in which some must be decided, and the topics that are not there. Of a partition that is away nothing
    /// is known. If it may begin at its position, it is read when it is back.
    private func ends(
        of probes: [PartitionProbe], with prober: LogProber
    ) throws(KafkaError) -> (ends: [Int64?], missing: Set<String>) {
        var answers: LogProber.Answers<Int64>
        var missing: Set<String> = []
        do throws(KafkaError) {
            answers = try prober.ends(of: probes.map(\.partition))
        } catch {
            guard error.isUnknownTopicOrPartition else { throw error }
            (answers, missing) = try endsByTopic(of: probes, with: prober)
        }
        for (probe, end) in zip(probes, answers.values) where end == nil && probe.isDoubtful && !probe.hasMarks {
            if let failure = answers.failure { throw failure }
        }
        return (answers.values, missing)
    }

    /// The same, asked topic by topic because one of them is not there.
    private func endsByTopic(
        of probes: [PartitionProbe], with prober: LogProber
    ) throws(KafkaError) -> (answers: LogProber.Answers<Int64>, missing: Set<String>) {
        var (answers, missing) = (LogProber.Answers<Int64>(), Set<String>())
        var ends: [TopicPartition: Int64] = [:]
        var limit = limits.answer
        for (topic, own) in Dictionary(grouping: probes.map(\.partition), by: \.topic) {
            do throws(KafkaError) {
                let found = try prober.ends(of: own, within: limit)
                // A leader that is away takes the whole of it, so later topics have less.
                if found.failure != nil { (answers.failure, limit) = (found.failure, min(limit, .seconds(1))) }
                for (partition, end) in zip(own, found.values) { ends[partition] = end }
            } catch {
                guard error.isUnknownTopicOrPartition, terms.kind(of: topic) != .requests else { throw error }
                missing.insert(topic)
            }
        }
        answers.values = probes.map { ends[$0.partition] }
        return (answers, missing)
    }

    /// The partitions of topics of requests, assigned to other workers, that a decision depends on: partition 0, and if the group
    /// has no position there, all of the topic in which it has none. Each of those is held back while its worker commits.
    private func neighbours(of probes: [PartitionProbe]) throws(KafkaError) -> [PartitionProbe] {
        guard terms.start != .beginning else { return [] }
        let requests = Dictionary(grouping: probes.lazy.filter { $0.kind == .requests }.map(\.position), by: \.partition.topic)
        let unplaced = requests.filter { $0.value.contains { $0.offset == nil } }
        let unseen = unplaced.filter { !$0.value.contains { $0.partition.partition == 0 } }.keys
        let firsts = try committed(unseen.map { TopicPartition(topic: $0, partition: 0) })
        let placed = firsts.filter { $0.offset != nil }
        let first = Set(placed.map(\.partition.topic))
        let open = unplaced.filter { topic, own in
            !first.contains(topic) && !own.contains { $0.partition.partition == 0 && $0.offset != nil }
        }
        let others = try partitions(of: open)
        return try (placed + committed(others).filter { $0.offset == nil }).map {
            PartitionProbe(CommittedOffset(partition: $0.partition, offset: $0.offset), terms: terms, isOther: true)
        }
    }

    /// The partitions of topics beside those of which the positions are known.
    private func partitions(of known: [String: [CommittedOffset]]) throws(KafkaError) -> [TopicPartition] {
        let topics = Array(known.keys)
        guard !topics.isEmpty else { return [] }
        return zip(topics, try group.partitionCounts(of: topics, timeout: limits.answer)).flatMap { topic, count in
            let own = Set((known[topic] ?? []).map(\.partition.partition))
            // What was assigned is there, even if the consumer has not heard of it yet.
            return (0..<max(Int32(clamping: count), (own.max() ?? 0) + 1)).filter { !own.contains($0) }
                .map { TopicPartition(topic: topic, partition: $0) }
        }
    }

    private func committed(_ partitions: [TopicPartition]) throws(KafkaError) -> [CommittedOffset] {
        partitions.isEmpty ? [] : try group.committed(partitions, timeout: limits.answer)
    }
}
