import EventLoop
public import Kafka
import Synchronization

/// Keeps positions as those of a consumer group for each receiver, which has no members, so that any lag exporter sees them.
///
/// One transaction commits the positions of all receivers, as long as no group fails: a client for each group would be a handful of threads for each. Its calls block.
/// Any thread may load, and saves follow one another.
public final class GroupPositionKeeper: CallbackPositions {
    /// The longest wait for a transaction. The library waits for ever for a coordinator that is away (page Kafka, "Calls that hang").
    private static let saveLimit = Duration.seconds(20)
    /// The time for which questions fail after one that brokers did not answer.
    private static let failureLimit = Duration.seconds(5)
    /// The time for which the partitions of the topics are known.
    private static let topicsLimit = Duration.seconds(30)

    private let configuration: KafkaConfiguration
    private let topics: CallbackTopics
    private let transactionalID: String?
    private let timeout: Duration
    private let begun: ReceiverMemory
    private let report: @Sendable (String, CallbackStart) -> Void
    private let calls = LimitedCalls(named: "pushfan-positions", limit: saveLimit, laterLimit: saveLimit)
    /// Protects what was learnt by earlier questions. Nothing else is locked while it is held.
    private let memory = Mutex(Memory())
    /// Protects the way to write, and is held while it is used. Nothing else is locked meanwhile.
    private let outlet = Mutex(Outlet())

    /// A keeper that has asked nothing yet.
    ///
    /// - Parameters:
    ///   - configuration: The brokers and the user's properties.
    ///   - topics: The names of the topics.
    ///   - transactionalID: A name of this process and no other, under which positions are written. Nil for brokers without transactions, where
    ///     each save of a receiver makes a client, as it does on the embedded cluster.
    ///   - timeout: The longest wait for each answer.
    ///   - report: Gets each receiver that begins somewhere, on the thread that loads.
    public init(
        _ configuration: KafkaConfiguration, topics: CallbackTopics, transactionalID: String?, timeout: Duration = .seconds(10),
        report: @escaping @Sendable (_ receiver: String, CallbackStart) -> Void = { _, _ in }
    ) {
        (self.configuration, self.topics, self.transactionalID, self.timeout) = (configuration, topics, transactionalID, timeout)
        begun = ReceiverMemory(configuration, topic: topics.states, timeout: timeout)
        self.report = report
    }

    /// The place where a receiver goes on in each of the partitions.
    ///
    /// Where it has no position in the topic of results, it begins for the whole of both topics: one that is new at the end of results and
    /// the beginning of what is sent once more, one whose positions brokers have forgotten the other way around. A partition that came later
    /// begins at its first record. What is found so is committed at once.
    ///
    /// Where brokers do not answer, the next questions fail at once for some seconds, so that those for many receivers do not add up.
    public func load(_ receiver: String, in partitions: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64] {
        if let failure = memory.withLock({ $0.failure }), ContinuousClock.now < failure.end { throw failure.error }
        do throws(KafkaError) {
            return try find(receiver, in: partitions)
        } catch {
            if error.isUnreachable { memory.withLock { $0.failure = (error, ContinuousClock.now + Self.failureLimit) } }
            throw error
        }
    }

    private func find(_ receiver: String, in partitions: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64] {
        let all = try allPartitions()
        let others = partitions.filter { !all.contains($0) }
        let group = MemberlessGroup(configuration, id: CallbackTopics.group(of: receiver))
        var found: [TopicPartition: Int64] = [:]
        for offset in try group.committed(all + others, timeout: timeout) { found[offset.partition] = offset.offset }
        let isBlank = !found.keys.contains { $0.topic == topics.results }
        let hasBegun = isBlank ? try begun.contains(receiver) : true
        let missing = (isBlank ? all + others : partitions).filter { found[$0] == nil }
        if !missing.isEmpty {
            let topicAtEnd = !isBlank ? nil : hasBegun ? topics.replays : topics.results
            let starts = try starts(
                atEnd: missing.filter { $0.topic == topicAtEnd }, atBeginning: missing.filter { $0.topic != topicAtEnd })
            try save(receiver, at: starts)
            found.merge(starts) { $1 }
            report(receiver, !isBlank ? .added(missing) : hasBegun ? .forgotten : .new)
        }
        // One that is not remembered now is by a later load.
        try? begun.note(receiver)
        return found.filter { partitions.contains($0.key) }
    }

    private func starts(
        atEnd new: [TopicPartition], atBeginning late: [TopicPartition]
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        let admin = try TopicAdmin(configuration)
        // A client that knows no leaders waits long for the answers.
        _ = try admin.describe(topics: Array(Set((new + late).map(\.topic))), timeout: timeout)
        let ends = new.isEmpty ? [] : try admin.ends(of: new, timeout: timeout)
        let firsts = late.isEmpty ? [] : try admin.beginnings(of: late, timeout: timeout)
        return Dictionary(zip(new + late, ends + firsts)) { first, _ in first }
    }

    private func allPartitions() throws(KafkaError) -> [TopicPartition] {
        if let known = memory.withLock({ $0.all }), ContinuousClock.now < known.end { return known.partitions }
        let names = [topics.results, topics.replays]
        var partitions: [TopicPartition] = []
        for (name, state) in zip(names, try TopicAdmin(configuration).describe(topics: names, timeout: timeout).topics) {
            switch state {
            case .existing(let count):
                partitions += (0..<Int32(clamping: count)).map { TopicPartition(topic: name, partition: $0) }
            case .failed(let error): throw error
            case .missing: if name == topics.results { throw .unknownTopic(name) }
            }
        }
        memory.withLock { $0.all = (partitions, ContinuousClock.now + Self.topicsLimit) }
        return partitions
    }

    /// Keeps the positions of a receiver.
    public func save(_ receiver: String, at offsets: [TopicPartition: Int64]) throws(KafkaError) {
        try save([receiver: offsets])
    }

    /// Keeps the positions of many receivers, together where brokers have transactions. Where that fails, it keeps those of one after another.
    public func save(_ positions: [String: [TopicPartition: Int64]]) throws(KafkaError) {
        var commits: [String: [OffsetCommit]] = [:]
        for (receiver, offsets) in positions where !offsets.isEmpty {
            commits[CallbackTopics.group(of: receiver)] = offsets.map { OffsetCommit($0.key, offset: $0.value) }
        }
        guard !commits.isEmpty else { return }
        try outlet.withLock { outlet throws(KafkaError) in
            let id = transactionalID == nil ? nil : try isEmbedded(&outlet) ? nil : transactionalID
            var order = outlet.order
            defer { outlet.order = order }
            let end = ContinuousClock.now + Self.saveLimit
            // Each comes first at some time, for there may not be time for all.
            try order.run(commits.keys.shuffled(), unless: { ContinuousClock.now >= end }) { groups throws(KafkaError) in
                let found = groups.map { Commit(group: $0, offsets: commits[$0] ?? []) }
                try write(found, as: id, by: &outlet.producer)
            }
        }
    }

    private func write(_ commits: [Commit], as id: String?, by known: inout Producer?) throws(KafkaError) {
        guard let id else {
            for commit in commits { try MemberlessGroup(configuration, id: commit.group).commit(commit.offsets) }
            return
        }
        // After any error the next one is a new producer, which settles what this one left open.
        let kept = known.take()
        let producer = if let kept { kept } else { try Producer(configuration, transactionalID: id) }
        try transact(commits, by: producer, isNew: kept == nil)
        if !producer.isOutdated { known = producer }
    }

    /// Frees the producer. A save afterwards makes another.
    public func close() {
        let last = outlet.withLock { $0.producer.take() }
        last?.close(timeout: .zero)
        begun.close()
    }
}

extension GroupPositionKeeper {
    /// The answers to earlier questions, each until it is out of date.
    private struct Memory {
        var all: (partitions: [TopicPartition], end: ContinuousClock.Instant)?
        var failure: (error: KafkaError, end: ContinuousClock.Instant)?
    }

    /// The way to write.
    private struct Outlet {
        var producer: Producer?
        /// True for the embedded cluster. Nil while that is not known.
        var isEmbedded: Bool?
        var order = CommitOrder()
    }

    /// True for the embedded cluster, which confirms transactions and keeps nothing of them.
    private func isEmbedded(_ outlet: inout Outlet) throws(KafkaError) -> Bool {
        if let known = outlet.isEmbedded { return known }
        let id = try TopicAdmin(configuration).describe(topics: [], timeout: timeout).clusterID
        outlet.isEmbedded = id.map { MockCluster.isEmbedded(clusterID: $0) }
        return outlet.isEmbedded ?? false
    }

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
