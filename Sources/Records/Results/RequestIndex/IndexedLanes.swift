import Basics
import Delivery
import JobSupport
import Kafka
import PushModel
import SQLite

/// The partitions of the lanes, and the places between which an index reads them.
struct IndexedLanes {
    struct Slot {
        let partition: TopicPartition
        let lane: (number: Int, isOwn: Bool)
        /// The place where reading goes on.
        let start: IndexPosition
        /// The end at the beginning of the reading.
        let end: Int64
    }

    /// The topics of the lanes, by their numbers. A name that two lanes have stands once.
    let topics: [String]
    /// The number of partitions of each topic, 0 for one that is missing.
    let counts: [Int]
    private(set) var slots: [Slot] = []

    /// Finds the places where reading goes on: where the index ends, or from a moment on if all since then is read again. Throws a flaw if
    /// the index is not one of these topics.
    init(
        _ store: RequestStore, keep: Duration, refillingFrom moment: Int64?, by admin: TopicAdmin, in context: JobContext
    ) throws(IndexFailure) {
        let topics = Self.topics(context.topics)
        self.topics = topics
        let found = try IndexFailure.kafka { () throws(KafkaError) in
            try admin.describe(topics: topics, timeout: context.timeout)
        }
        guard let counts = Self.counts(found) else {
            let errors = found.topics.compactMap { if case .failed(let error) = $0 { error } else { nil } }
            throw .job(.kafka(errors.first ?? .unknownTopic(topics[0]), .describeTopics))
        }
        self.counts = counts
        let partitions = zip(topics, counts).flatMap { topic, count in
            (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
        }
        guard !partitions.isEmpty else { throw .job(.kafka(.unknownTopic(topics[0]), .describeTopics)) }
        try Self.check(found.clusterID ?? "", against: store, since: context.now().addingSaturated(-keep.wholeMilliseconds))
        let known = try IndexFailure.database { () throws(SQLiteError) in try store.positions() }
        let (bounds, starts) = try Self.bounds(
            partitions, known: known, since: store.floor, refillingFrom: moment, by: admin, in: context)
        for (number, partition) in partitions.enumerated() {
            var start = IndexPosition(next: starts[number])
            if let position = known[partition] {
                guard position.next <= bounds[number].high else { throw .flaw(.otherRecords) }
                if moment == nil || position.next <= start.next {
                    start = position.next >= bounds[number].low ? position : IndexPosition(next: bounds[number].low)
                }
            }
            let lane = topics.firstIndex(of: partition.topic) ?? 0
            slots.append(
                Slot(
                    partition: partition, lane: (lane, partition.topic == context.topics.requestsOwn), start: start,
                    end: bounds[number].high))
        }
    }

    /// The topics of the lanes, each once.
    static func topics(_ topics: Topics) -> [String] {
        Lane.allCases.map { topics.requests(of: $0) }.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The number of partitions of each topic, or nil where that is not known of one.
    static func counts(_ description: ClusterDescription) -> [Int]? {
        var counts: [Int] = []
        for topic in description.topics {
            switch topic {
            case .existing(let count): counts.append(count)
            case .missing: counts.append(0)
            case .failed: return nil
            }
        }
        return counts
    }

    /// Compares the cluster with that of the index. Begins one that is empty.
    private static func check(_ cluster: String, against store: RequestStore, since moment: Int64) throws(IndexFailure) {
        let known = try IndexFailure.database { () throws(SQLiteError) in try store.cluster() }
        guard let known else {
            return try IndexFailure.database { () throws(SQLiteError) in
                try store.begin(cluster: cluster, since: max(0, moment))
            }
        }
        guard known == Array(cluster.utf8) else { throw .flaw(.otherSource) }
    }

    /// The beginnings and ends of partitions, and the places where those are begun that are not read yet, or are read again.
    private static func bounds(
        _ partitions: [TopicPartition], known: [TopicPartition: IndexPosition], since floor: Int64, refillingFrom moment: Int64?,
        by admin: TopicAdmin, in context: JobContext
    ) throws(IndexFailure) -> ([Watermarks], starts: [Int64]) {
        try IndexFailure.kafka { () throws(KafkaError) in
            let bounds = try admin.watermarks(of: partitions, timeout: context.timeout)
            let since = moment ?? floor
            let isAllKnown = moment == nil && partitions.allSatisfy { known[$0] != nil }
            guard since > 0, !isAllKnown else { return (bounds, bounds.map(\.low)) }
            let found = try admin.offsets(since: since, of: partitions, timeout: context.timeout)
            return (bounds, zip(found, bounds).map { $0 ?? $1.high })
        }
    }
}
