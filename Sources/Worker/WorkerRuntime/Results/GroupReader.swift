import Delivery
import GroupPositions
import Kafka
import PushModel

/// Reads the facts of the group and its topics: committed positions, where topics end, and which partitions have no consumer.
///
/// Lives on the committer's thread, and writes nothing.
struct GroupReader {
    private let configuration: WorkerConfiguration
    private let group: ConsumerGroup
    private var finder: StartFinder
    /// The same for partitions in doubt, which wait alone.
    private var examiner: StartFinder
    /// The numbers of partitions of which every one had a consumer, so that the group need not be asked again.
    private var surveyed: [Int] = []
    /// The partitions without a position whose leaders were away when an assignment began, of this worker and of others.
    private var away: [TopicPartition] = []
    /// The partitions without a position that other workers had to begin before, when an assignment began.
    private var awaited: [TopicPartition] = []

    init(_ configuration: WorkerConfiguration, group: ConsumerGroup, clock: WorkerClock) {
        self.configuration = configuration
        self.group = group
        finder = StartFinder(configuration.groupTerms, group: group) { clock.wallTime }
        examiner = StartFinder(configuration.groupTerms, group: group, limits: .init(all: .seconds(1))) { clock.wallTime }
    }

    /// The committed positions, asked for 10 s at most. Throws an error with `isTimeout` also when an open transaction holds them
    /// back.
    func positions(of partitions: [TopicPartition]) throws(KafkaError) -> [CommittedOffset] {
        try group.committed(partitions, timeout: .seconds(10))
    }

    /// Asks the group for anything. Returns nil if it answered, or else why it did not.
    func probe(_ partitions: [TopicPartition]) -> KafkaError? {
        do throws(KafkaError) {
            _ = try group.committed(partitions, timeout: .seconds(5))
            return nil
        } catch {
            return error
        }
    }

    /// The partitions of which it is known what they hold.
    struct Findings: Sendable {
        /// Those that hold what was read of them.
        var same: [TopicPartition] = []
        /// Those that do not.
        var changed: [TopicPartition] = []
        /// Those that are not there.
        var missing: [TopicPartition] = []
    }

    /// Finds out whether partitions still hold what was read of them. Of one that is not there, or does not answer, nothing is known.
    mutating func examine(_ positions: [CommittedOffset]) -> Findings {
        var findings = Findings()
        for (topic, own) in Dictionary(grouping: positions, by: \.partition.topic) {
            guard let count = try? group.partitionCounts(of: [topic], timeout: .seconds(1)).first else { continue }
            let there = own.filter { $0.partition.partition < count }
            findings.missing += own.map(\.partition).filter { $0.partition >= count }
            guard !there.isEmpty, let starts = try? examiner.starts(of: there) else { continue }
            for partition in there.map(\.partition) where starts.unanswered[partition] == nil {
                if starts.rulings[partition] == nil {
                    findings.same.append(partition)
                } else {
                    findings.changed.append(partition)
                }
            }
        }
        return findings
    }

    /// The number of partitions of one leader that are asked about to learn whether one is back, about.
    private static let triedOfLeader = 4

    /// The partitions without a consumer, or `awaiting` if what those wait for is there. The group is asked when numbers
    /// have changed only, so that it costs an idle fleet little.
    mutating func survey(awaiting: [TopicPartition]) throws(KafkaError) -> [TopicPartition] {
        if !awaiting.isEmpty, try canBegin(awaiting) { return awaiting }
        let topics = configuration.topics.shared
        let counts = try group.partitionCounts(of: topics, timeout: .seconds(1))
        guard counts != surveyed else { return [] }
        let all = zip(topics, counts).flatMap { topic, count in
            (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
        }
        let unread = try group.unread(of: all, timeout: .seconds(1))
        if unread.isEmpty { surveyed = counts }
        return unread
    }

    /// True if a leader is back that partitions wait for, or all others have begun that they wait for.
    private func canBegin(_ awaiting: [TopicPartition]) throws(KafkaError) -> Bool {
        guard away.isEmpty, !awaited.isEmpty else { return try isOneBack(of: away.isEmpty ? awaiting : away) }
        return try group.committed(awaited, timeout: .seconds(1)).allSatisfy { $0.offset != nil }
    }

    /// True if a partition has a leader that answers, asked for 2 s at most. However many are away, each leader is asked about a few of its
    /// own: a question about one that is not back makes the client ask for all of its topic, and brokers that have just got many
    /// partitions need their time for those.
    private func isOneBack(of partitions: [TopicPartition]) throws(KafkaError) -> Bool {
        let admin = try TopicAdmin(configuration.kafka, seesUncommitted: true)
        let deadline = ContinuousClock.now + .seconds(2)
        for own in try admin.partitionsByLeader(partitions, timeout: .seconds(1)) {
            for place in stride(from: 0, to: own.count, by: max(1, own.count / Self.triedOfLeader)) {
                let left = min(Duration.seconds(1), deadline - .now)
                guard left > .zero else { return false }
                if (try? admin.ends(of: [own[place]], timeout: left)) != nil { return true }
            }
        }
        return false
    }

    /// Asks the group again at the next survey: an assignment has begun.
    mutating func forgetSurvey() {
        surveyed = []
        (away, awaited) = ([], [])
    }

    /// The partitions of held requests that belong to partitions of requests, among the `count` that are there.
    func heldPartitions(of partitions: [TopicPartition], count: Int32) -> [TopicPartition] {
        partitions.compactMap { partition in
            guard let lane = Lane.allCases.first(where: { configuration.topics.requests(of: $0) == partition.topic }) else {
                return nil
            }
            guard let number = HeldRules.heldPartition(of: partition.partition, in: lane) else { return nil }
            return number < count ? TopicPartition(topic: configuration.topics.held, partition: number) : nil
        }
    }

    /// Finds out where partitions begin, and where topics end. Throws where that could not be learnt of a partition that cannot
    /// be read before.
    mutating func ends(
        of positions: [CommittedOffset], behindCommit partitionsBehindCommit: Set<TopicPartition>, held: [TopicPartition],
        progress: [TopicPartition: Int64], using writer: OutcomeWriter
    ) throws(KafkaError) -> Committer.PartitionEnds {
        var ends = Committer.PartitionEnds()
        ends.starts = try finder.starts(of: positions, behindCommit: partitionsBehindCommit, progress: progress)
        (away, awaited) = (ends.starts.away, ends.starts.awaited)
        ends.control = try controlEnd(writer)
        for partition in held { ends.held[partition.partition] = ends.starts.ends[partition] }
        ends.partitionCounts = partitionCounts(of: Set(positions.lazy.map(\.partition.topic)))
        ends.requestCount = requestCount()
        return ends
    }

    /// The number of all partitions of requests. A topic that is not there has none. Nothing waits for it.
    private func requestCount() -> Int? {
        let topics = Lane.allCases.map { configuration.topics.requests(of: $0) }
        return try? group.partitionCounts(of: topics, timeout: .seconds(1)).reduce(0, +)
    }

    /// The numbers of partitions of those of some topics that publishers write to. Nothing waits for them.
    private func partitionCounts(of topics: Set<String>) -> [String: Int32] {
        let open = topics.sorted().filter {
            PartitionRole(of: TopicPartition(topic: $0, partition: 0), in: configuration.topics).isOpen
        }
        guard !open.isEmpty, let counts = try? group.partitionCounts(of: open, timeout: .seconds(1)) else { return [:] }
        return Dictionary(uniqueKeysWithValues: zip(open, counts.map { Int32(clamping: $0) }))
    }

    /// The present end of the control topic. One whose leader is away, or that may not be read, holds up no assignment, but its requests.
    func controlEnd(_ writer: OutcomeWriter) throws(KafkaError) -> ControlEnd {
        let topic = configuration.topics.control
        switch try writer.answers(on: [topic], timeout: .seconds(5))[topic] {
        case .missing: return .missing
        case .partitions(0): return .forbidden
        case nil, .unclear: return .unknown
        case .partitions: break
        }
        let partition = TopicPartition(topic: topic, partition: CancelRecord.partition)
        do throws(KafkaError) {
            return .at(try group.end(of: partition, timeout: .seconds(5)))
        } catch {
            if error.isAuthorization { return .forbidden }
            if error.isUnknownTopicOrPartition { return .missing }
            guard error.isLeaderAway else { throw error }
            return .unknown
        }
    }
}
