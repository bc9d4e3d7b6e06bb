import Delivery
import GroupPositions
import Groups
import JobSupport
import Kafka
import PushModel

/// The topics of one search, the group's positions in them, and the clients that ask for them, which are made with the first question.
/// Belongs to one thread.
final class SearchTopics {
    /// The longest wait for an answer about a topic or a group.
    private static let patience = Duration.seconds(5)
    /// The bytes that a partition gives at a time in a reading of many records.
    private static let portion = 1 << 20
    /// The records of a reading from which on it is one of many.
    private static let manyRecords: Int64 = 20_000

    let context: JobContext
    let terms: GroupTerms
    private var knownAdmin: TopicAdmin?
    /// The readers of few records, and of many.
    private var readers: (few: RangeReader?, many: RangeReader?)
    private var counts: [String: Int] = [:]
    private var knownPositions: [TopicPartition: GroupPosition]?
    private var finished: [TopicPartition: Set<Int64>] = [:]

    init(_ context: JobContext, terms: GroupTerms) {
        self.context = context
        self.terms = terms
    }

    /// The present.
    var now: Timestamp { Timestamp(milliseconds: context.now()) }

    private var limit: Duration { min(context.timeout, Self.patience) }

    private func admin() throws(KafkaError) -> TopicAdmin {
        if let knownAdmin { return knownAdmin }
        let admin = try TopicAdmin(terms.kafka)
        knownAdmin = admin
        return admin
    }

    private func naming<Value>(_ action: JobAction, perform body: () throws(KafkaError) -> Value) throws(JobFailure) -> Value {
        if context.isCancelled() { throw .cancelled }
        return try JobFailure.naming(action, body)
    }

    /// The partitions of some topics. A topic that is missing has none.
    func partitions(of names: [String]) throws(JobFailure) -> [TopicPartition] {
        let unknown = names.filter { counts[$0] == nil }
        if !unknown.isEmpty {
            let described = try naming(.read(topic: unknown[0])) { () throws(KafkaError) in
                try admin().describe(topics: unknown, timeout: limit).topics
            }
            for (name, found) in zip(unknown, described) {
                switch found {
                case .existing(let count): counts[name] = count
                case .missing: counts[name] = 0
                case .failed(let error): throw .kafka(error, .read(topic: name))
                }
            }
        }
        return names.flatMap { name in
            (0..<Int32(clamping: counts[name] ?? 0)).map { TopicPartition(topic: name, partition: $0) }
        }
    }

    /// The offsets that partitions keep, as far as they are committed.
    func kept(of partitions: [TopicPartition]) throws(JobFailure) -> [Range<Int64>] {
        guard let first = partitions.first else { return [] }
        return try naming(.read(topic: first.topic)) { () throws(KafkaError) in
            try admin().watermarks(of: partitions, timeout: limit).map { $0.low..<max($0.low, $0.high) }
        }
    }

    /// The first record of each partition that is not older than a time, or the end of what it keeps.
    func offsets(
        since time: Int64, of partitions: [TopicPartition], within kept: [Range<Int64>]
    ) throws(JobFailure) -> [Int64] {
        guard let first = partitions.first else { return [] }
        let found = try naming(.read(topic: first.topic)) { () throws(KafkaError) in
            try admin().offsets(since: time, of: partitions, timeout: limit)
        }
        return zip(found, kept).map { min(max($0 ?? $1.upperBound, $1.lowerBound), $1.upperBound) }
    }

    /// Reads ranges of offsets, of each partition one at most.
    ///
    /// - Returns: False if the deadline passed before the end.
    @discardableResult
    func read(
        _ parts: [RangeReader.Part], until deadline: Deadline, perform body: (_ index: Int, borrowing ConsumedRecord) -> Bool
    ) throws(JobFailure) -> Bool {
        let count = parts.reduce(Int64(0)) { $0.addingSaturated($1.offsets.upperBound - $1.offsets.lowerBound) }
        guard let first = parts.first(where: { !$0.offsets.isEmpty })?.partition.topic else { return true }
        context.progress(.began(.topic(first), count: count))
        defer { context.progress(.ended) }
        var (left, sinceReport) = (count, 0)
        let isWhole = try naming(.read(topic: first)) { () throws(KafkaError) in
            let reader = try reader(ofMany: count >= Self.manyRecords)
            try reader.learn(topics: Set(parts.map(\.partition.topic)), timeout: limit)
            return try reader.read(parts, timeout: context.timeout, unless: { context.isCancelled() || deadline.hasPassed }) {
                (left, sinceReport) = (left - 1, sinceReport + 1)
                if sinceReport == 4096 {
                    context.progress(.reached(remaining: max(0, left)))
                    sinceReport = 0
                }
                return body($0, $1)
            }
        }
        if context.isCancelled() { throw .cancelled }
        return isWhole
    }

    private func reader(ofMany isMany: Bool) throws(KafkaError) -> RangeReader {
        if let reader = isMany ? readers.many : readers.few { return reader }
        if isMany {
            let reader = try RangeReader(terms.kafka, portion: Self.portion, readAhead: context.readAhead)
            readers.many = reader
            return reader
        }
        let reader = try RangeReader(terms.kafka)
        readers.few = reader
        return reader
    }

    /// The positions of the group in all topics that it reads, asked for once.
    func positions() throws(JobFailure) -> [TopicPartition: GroupPosition] {
        if let knownPositions { return knownPositions }
        let partitions = Dictionary(grouping: try partitions(of: terms.topics), by: \.topic)
        let topics = terms.topics.compactMap { name in partitions[name].map { (topic: name, partitionCount: $0.count) } }
        var brief = context
        brief.timeout = limit
        let found = try naming(.readPositions) { () throws(KafkaError) in
            topics.isEmpty ? [] : try GroupExamination(terms, admin: admin(), context: brief).positions(in: topics)
        }
        let positions = Dictionary(found.map { ($0.partition, $0) }) { first, _ in first }
        knownPositions = positions
        return positions
    }

    /// The offsets that have their outcome although an earlier one has not.
    func finished(in position: GroupPosition) -> Set<Int64> {
        if let known = finished[position.partition] { return known }
        let offsets = Set(position.finishedOffsets)
        finished[position.partition] = offsets
        return offsets
    }

    /// The progress of the group on a record.
    func reading(of offset: Int64, at position: GroupPosition) -> FoundRequest.Reading {
        if offset < position.start || finished(in: position).contains(offset) { return .done }
        return position.marks.map { offset <= $0.last.offset } ?? false ? .read : .unread
    }

    /// Reads what waits in some topics for the group, whatever of it is not finished.
    ///
    /// - Parameters:
    ///   - topics: The topics, in each of which the group has its positions.
    ///   - deadline: The end of reading.
    ///   - body: Looks at a record, and at the position in its partition.
    /// - Returns: False if the deadline passed before the end.
    /// - Throws: A topic cannot be read, or the job was cancelled.
    func readOpen(
        in topics: [String], until deadline: Deadline, perform body: (GroupPosition, borrowing ConsumedRecord) -> Void
    ) throws(JobFailure) -> Bool {
        let positions = try positions()
        let partitions = try partitions(of: topics)
        // To their ends as they are now: what came from a lane since the positions were asked for is there.
        let open = zip(partitions, try kept(of: partitions)).compactMap { partition, kept in
            positions[partition].map { (position: $0, offsets: max($0.start, kept.lowerBound)..<max($0.start, kept.upperBound)) }
        }.filter { !$0.offsets.isEmpty && $0.offsets.lowerBound < $0.offsets.upperBound }
        let parts = open.map { RangeReader.Part($0.position.partition, offsets: $0.offsets) }
        return try read(parts, until: deadline) { index, record in
            let position = open[index].position
            if !finished(in: position).contains(record.offset) { body(position, record) }
            return true
        }
    }
}
