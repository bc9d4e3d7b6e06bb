import EventLoop
public import Kafka
import Synchronization

/// Keeps positions as those of a consumer group for each receiver, which has no members, so that any lag exporter sees them.
///
/// One transaction commits the positions of all receivers: a client for each group would be a handful of threads for each. Its calls block.
/// Any thread may load, and saves follow one another.
public final class GroupPositionKeeper: CallbackPositions {
    /// The longest wait for a transaction. The library waits for ever for a coordinator that is away (page Kafka, "Calls that hang").
    private static let saveLimit = Duration.seconds(20)

    private let configuration: KafkaConfiguration
    private let topics: CallbackTopics
    private let transactionalID: String?
    private let timeout: Duration
    private let calls = LimitedCalls(named: "pushfan-positions", limit: saveLimit, laterLimit: saveLimit)
    /// Has the producer that writes, and is held while it does. Nothing else is locked meanwhile.
    private let producer = Mutex<Producer?>(nil)

    /// A keeper that has asked nothing yet.
    ///
    /// - Parameters:
    ///   - configuration: The brokers and the user's properties.
    ///   - topics: The names of the topics.
    ///   - transactionalID: A name of this process and no other, under which positions are written. Nil for brokers without transactions, where
    ///     each save of a receiver makes a client.
    ///   - timeout: The longest wait for each answer.
    public init(
        _ configuration: KafkaConfiguration, topics: CallbackTopics, transactionalID: String?, timeout: Duration = .seconds(10)
    ) {
        (self.configuration, self.topics, self.transactionalID, self.timeout) = (configuration, topics, transactionalID, timeout)
    }

    /// The place where a receiver goes on in each of the partitions. One that has no position anywhere in the topic of results begins at its
    /// end, which is committed at once for the whole topic. A partition that came later, or of the other topic, begins at its first record.
    public func load(_ receiver: String, _ partitions: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64] {
        let admin = try TopicAdmin(configuration)
        let known = try partitions.allSatisfy { $0.topic != topics.results } ? [] : allResults(admin)
        let others = partitions.filter { !known.contains($0) }
        let group = MemberlessGroup(configuration, id: CallbackTopics.group(of: receiver))
        var found: [TopicPartition: Int64] = [:]
        for offset in try group.committed(known + others, timeout: timeout) { found[offset.partition] = offset.offset }
        if !known.isEmpty, known.allSatisfy({ found[$0] == nil }) {
            var ends: [TopicPartition: Int64] = [:]
            for (partition, end) in zip(known, try admin.ends(of: known, timeout: timeout)) { ends[partition] = end }
            try save(receiver, ends)
            found.merge(ends) { $1 }
        }
        let missing = partitions.filter { found[$0] == nil }
        let firsts = missing.isEmpty ? [] : try admin.beginnings(of: missing, timeout: timeout)
        for (partition, first) in zip(missing, firsts) { found[partition] = first }
        return found.filter { partitions.contains($0.key) }
    }

    private func allResults(_ admin: TopicAdmin) throws(KafkaError) -> [TopicPartition] {
        switch try admin.describe(topics: [topics.results], timeout: timeout).topics.first {
        case .existing(let count):
            return (0..<Int32(clamping: count)).map { TopicPartition(topic: topics.results, partition: $0) }
        case .failed(let error): throw error
        case .missing, nil: throw .unknownTopic(topics.results)
        }
    }

    /// Keeps the positions of a receiver.
    public func save(_ receiver: String, _ offsets: [TopicPartition: Int64]) throws(KafkaError) {
        try save([receiver: offsets])
    }

    /// Keeps the positions of many receivers, all or none of them where brokers have transactions.
    public func save(_ positions: [String: [TopicPartition: Int64]]) throws(KafkaError) {
        let commits = positions.filter { !$0.value.isEmpty }
            .map { receiver, offsets in
                Commit(group: CallbackTopics.group(of: receiver), offsets: offsets.map { OffsetCommit($0.key, offset: $0.value) })
            }
        guard !commits.isEmpty else { return }
        guard let transactionalID else {
            for commit in commits { try MemberlessGroup(configuration, id: commit.group).commit(commit.offsets) }
            return
        }
        try producer.withLock { producer throws(KafkaError) in
            // After any error the next one is a new producer, which settles what this one left open.
            let kept = producer.take()
            let outlet = if let kept { kept } else { try Producer(configuration, transactionalID: transactionalID) }
            try transact(commits, by: outlet, isNew: kept == nil)
            if !outlet.isOutdated { producer = outlet }
        }
    }

    /// Frees the producer. A save afterwards makes another.
    public func close() {
        let last = producer.withLock { $0.take() }
        last?.close(timeout: .zero)
    }
}

extension GroupPositionKeeper {
    /// The positions of a group that are committed together.
    private struct Commit: Sendable {
        let group: String
        let offsets: [OffsetCommit]
    }

    /// Commits in one transaction, in a thread that is left to itself where that takes too long.
    private func transact(_ commits: [Commit], by producer: Producer, isNew: Bool) throws(KafkaError) {
        let result = SharedResult()
        let timeout = timeout
        calls.make {
            result.set { () throws(KafkaError) in
                if isNew { try producer.initTransactions(timeout: timeout) }
                try producer.beginTransaction()
                for commit in commits {
                    let group = try GroupMetadata(withoutMembers: commit.group)
                    try producer.sendOffsets(commit.offsets, group: group, timeout: timeout)
                }
                try producer.commitTransaction(timeout: timeout)
            }
        }
        guard let result = result.value else { throw .overlongTransaction }
        try result.get()
    }
}

/// The result of a call that another thread makes.
private final class SharedResult: Sendable {
    /// Protects the result. Nothing else is locked while it is held.
    private let state = Mutex<Result<Void, KafkaError>?>(nil)

    var value: Result<Void, KafkaError>? { state.withLock { $0 } }

    func set(_ body: () throws(KafkaError) -> Void) {
        let result = Result { () throws(KafkaError) in try body() }
        state.withLock { $0 = result }
    }
}
