import Kafka

/// Asks where partitions of any topics begin and end, and finds out which of them have a leader that is away. Belongs to one thread.
///
/// Partitions of all topics are asked about in one question, up to a thousand. Where that fails because a leader is away, those of each leader
/// are, so that it takes as many questions as there are brokers.
final class LogProber {
    /// The answers about some partitions.
    struct Answers<Value> {
        /// An answer for each, in order, or nil where the leader did not answer in time.
        var values: [Value?] = []
        /// The reason that there was no answer for all of them at once, or nil if there was.
        var failure: KafkaError?
    }

    /// The longest time that a leader may take which is asked by itself, and that all of these may take.
    private static let leaderLimit = (each: Duration.seconds(1), all: Duration.seconds(3))

    /// The time that a question for all partitions may take.
    let limit: Duration

    /// The most partitions of a question. To put an answer together takes the library the square of their number
    /// (`rd_kafka_topic_partition_list_update`, librdkafka 2.0.2).
    private let most: Int

    private let make: () throws(KafkaError) -> any OffsetSource
    /// Made with the first question, because some have none.
    private var source: (any OffsetSource)?

    /// A prober that asks nothing yet. Its client sees open transactions, as a position may lie behind one.
    convenience init(_ kafka: KafkaConfiguration, limit: Duration) {
        self.init(limit: limit, making: { () throws(KafkaError) in try TopicAdmin(kafka, seesUncommitted: true) })
    }

    /// A prober that makes what it asks when it has a question.
    init(limit: Duration, most: Int = 1000, making make: @escaping () throws(KafkaError) -> any OffsetSource) {
        self.limit = limit
        self.most = most
        self.make = make
    }

    /// The next offsets of partitions. All of them at once may take `limit`, or else that of the prober.
    func ends(of partitions: [TopicPartition], within limit: Duration? = nil) throws(KafkaError) -> Answers<Int64> {
        try answers(about: partitions, within: limit ?? self.limit) { (source, partitions, limit) throws(KafkaError) in
            try source.ends(of: partitions, timeout: limit)
        }
    }

    /// The next offsets that can be learnt, nil for all others. Where a topic is missing or forbidden, each is asked about by itself.
    func knownEnds(of partitions: [TopicPartition], within limit: Duration? = nil) -> [Int64?] {
        if let answers = try? ends(of: partitions, within: limit) { return answers.values }
        var known: [TopicPartition: Int64] = [:]
        for own in Dictionary(grouping: partitions, by: \.topic).values {
            guard let answers = try? ends(of: own, within: limit) else { continue }
            for (partition, end) in zip(own, answers.values) { known[partition] = end }
        }
        return partitions.map { known[$0] }
    }

    /// Asks for what probes whose ends are known need beside: the first offset that is retained, and the first one since a time in
    /// milliseconds since 1970, if it matters.
    ///
    /// - Returns: The reason that a leader did not answer, or nil if all did. The probes of its partitions have no end any more.
    func complete(_ probes: inout [PartitionProbe], since time: Int64?) throws(KafkaError) -> KafkaError? {
        let lows = try answers(about: probes.map(\.partition), within: limit) { (source, partitions, limit) throws(KafkaError) in
            try source.beginnings(of: partitions, timeout: limit)
        }
        for (index, low) in lows.values.enumerated() { probes[index].low = low }
        var failure = lows.failure
        if let time {
            let dated = probes.indices.filter { probes[$0].low != nil && probes[$0].needsTime }
            let found = try answers(about: dated.map { probes[$0].partition }, within: limit) {
                (source, partitions, limit) throws(KafkaError) in
                try source.offsets(since: time, of: partitions, timeout: limit)
            }
            for (index, offset) in zip(dated, found.values) {
                if let offset { probes[index].since = offset } else { probes[index].low = nil }
            }
            failure = failure ?? found.failure
        }
        for index in probes.indices where probes[index].low == nil { probes[index].end = nil }
        return failure
    }

    private func answers<Value>(
        about partitions: [TopicPartition], within limit: Duration,
        ask: (any OffsetSource, [TopicPartition], Duration) throws(KafkaError) -> [Value]
    ) throws(KafkaError) -> Answers<Value> {
        guard !partitions.isEmpty else { return Answers() }
        guard partitions.count <= most else {
            var all = Answers<Value>()
            for start in stride(from: 0, to: partitions.count, by: most) {
                let part = Array(partitions[start..<min(start + most, partitions.count)])
                // A leader that is away takes the whole of it, so later parts have less.
                let left = all.failure == nil ? limit : min(limit, Self.leaderLimit.each)
                let found = try answers(about: part, within: left, ask: ask)
                all.values += found.values
                all.failure = all.failure ?? found.failure
            }
            return all
        }
        let source = try connected()
        let failure: KafkaError
        do throws(KafkaError) {
            return Answers(values: try ask(source, partitions, limit))
        } catch {
            guard error.isLeaderAway else { throw error }
            failure = error
        }
        let deadline = ContinuousClock.now + Self.leaderLimit.all
        var known: [TopicPartition: Value] = [:]
        for own in (try? source.partitionsByLeader(partitions, timeout: Self.leaderLimit.each)) ?? [] {
            let left = min(limit, Self.leaderLimit.each, deadline - .now)
            guard left > .zero else { break }
            guard let found = try? ask(source, own, left) else { continue }
            for (partition, value) in zip(own, found) { known.updateValue(value, forKey: partition) }
        }
        return Answers(values: partitions.map { known[$0] }, failure: failure)
    }

    private func connected() throws(KafkaError) -> any OffsetSource {
        if let source { return source }
        let made = try make()
        source = made
        return made
    }
}
