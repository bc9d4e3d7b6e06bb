import Delivery
package import GroupPositions
import Groups
package import JobSupport
package import Kafka

/// The state that a former consumer group has left, and its move to the group of the settings.
///
/// Moved are its positions in topics that have one reader for each record, and the requests that wait for it in topics that groups share.
/// Both groups must have no members, so no worker moves their positions. Each transaction holds requests that were rewritten for the new
/// group, and the old group's position behind them. So a run that dies anywhere is begun again and repeats nothing. One call at a time.
package final class GroupAdoption {
    /// The result for one topic.
    package struct Row: Sendable {
        /// The topic.
        package let topic: String
        /// The partitions whose position the new group has from the old one.
        package fileprivate(set) var positions = 0
        /// The requests and polls that waited for the old group, and wait for the new one now.
        package fileprivate(set) var moved = 0
        /// The partitions where the old group has no position, or one of another program, so what it has done is unknown.
        package fileprivate(set) var unknown = 0
    }

    /// The most records and bytes of one transaction.
    private static let batchCount = 500
    private static let batchByteCount = 1 << 20
    /// The most bytes of positions in one commit, about half of what a broker takes by default.
    private static let positionsByteCount = 1 << 19
    /// The header with the group whose record waits (`DelayRecorder`).
    private static let owner = Array("pushfan-group".utf8)

    /// The work that was done, or would be, in each topic.
    package private(set) var rows: [Row] = []
    /// True if the old group has a position anywhere. Without one it does not exist, or was forgotten, and nothing is taken over.
    package private(set) var hasPositions = false

    private let old: GroupExamination
    private let new: GroupExamination
    private let admin: TopicAdmin
    private let context: JobContext
    /// Nil when nothing may be written.
    private let session: TransactionalSession?

    /// Fences an adoption of the same group that another process has begun.
    package init(of old: String, to terms: GroupTerms, isDry: Bool, context: JobContext) throws(KafkaError) {
        var former = terms
        former.group = old
        admin = try TopicAdmin(terms.kafka)
        self.old = GroupExamination(former, admin: admin, context: context)
        new = GroupExamination(terms, admin: admin, context: context)
        self.context = context
        session =
            isDry
            ? nil
            : try TransactionalSession(
                terms.kafka, id: "pushfan-adopt-\(old)", timeout: context.timeout, isCancelled: context.isCancelled)
        try session?.fence()
    }

    /// The number of members of both groups together. While there are any, nothing must be moved.
    package func memberCount() throws(KafkaError) -> Int {
        try old.description().members.count + new.description().members.count
    }

    /// Does it. After an error the same command continues.
    package func run() throws(KafkaError) {
        let topics = try existing(new.terms.topics)
        let partitions = topics.flatMap { topic, count in
            (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
        }
        let theirs = try old.committed(partitions, within: context.timeout)
        let ours = try new.committed(partitions, within: context.timeout)
        hasPositions = theirs.contains { $0.offset != nil }
        let moved = partitions.filter { [.delayed, .held].contains(new.terms.kind(of: $0.topic)) }
        let ends = Dictionary(
            uniqueKeysWithValues: zip(moved, moved.isEmpty ? [] : try admin.ends(of: moved, timeout: context.timeout)))
        let fetcher = try RecordFetcher(context.kafka, readAhead: 8 << 20)
        defer { fetcher.stop() }
        var first = 0
        for (topic, count) in topics {
            defer { first += count }
            var row = Row(topic: topic)
            let waiting = (first..<first + count).map { Waiting(theirs[$0], end: ends[theirs[$0].partition]) }
            // The new group has nothing to read in front of the records that waited for the old one.
            try adopt(zip(waiting, ours[first...]).filter { $0.isKnown && $1.offset == nil }.map(\.0.position), &row)
            for waiting in waiting where waiting.end != nil { try moveWaiting(waiting, fetcher, &row) }
            rows.append(row)
        }
    }

    /// Those of some topics that are there, with their numbers of partitions.
    private func existing(_ topics: [String]) throws(KafkaError) -> [(topic: String, partitionCount: Int)] {
        zip(topics, try admin.describe(topics: topics, timeout: context.timeout).topics).compactMap { topic, description in
            if case .existing(let count) = description { (topic, count) } else { nil }
        }
    }

    /// Gives the new group the old one's positions, with the finished offsets behind them, so many at once as a broker takes.
    private func adopt(_ positions: [CommittedOffset], _ row: inout Row) throws(KafkaError) {
        row.positions += positions.count
        guard let session else { return }
        var (offsets, byteCount) = ([OffsetCommit](), 0)
        for (index, position) in positions.enumerated() {
            offsets.append(OffsetCommit(position.partition, offset: position.offset ?? 0, metadata: position.metadata))
            byteCount += position.metadata.utf8.count + position.partition.topic.utf8.count + new.terms.group.utf8.count + 64
            guard byteCount >= Self.positionsByteCount || index == positions.count - 1 else { continue }
            try session.producer.beginTransaction()
            try session.producer.sendOffsets(
                offsets, group: GroupMetadata(withoutMembers: new.terms.group), timeout: context.timeout)
            try session.commit()
            (offsets, byteCount) = ([], 0)
        }
    }

    /// Writes again what waits for the old group in one partition.
    private func moveWaiting(_ waiting: Waiting, _ fetcher: RecordFetcher, _ row: inout Row) throws(KafkaError) {
        let (their, end) = (waiting.position, waiting.end ?? 0)
        guard let start = their.offset, let finished = waiting.finished else {
            // A group without a position in the partition has not written anything there either, as long as it is empty.
            if end > 0 { row.unknown += 1 }
            return
        }
        var batch = Batch()
        var offset = start
        while offset < end, let record = try fetcher.firstRecord(from: offset, of: their.partition, timeout: context.timeout),
            record.offset < end
        {
            offset = record.offset + 1
            let distance = record.offset - start
            let isFinished = distance < Int64(finished.bitCount) && finished.contains(Int(distance))
            guard !isFinished, Self.isOwned(record, by: old.terms.group) else { continue }
            row.moved += 1
            guard let session else { continue }
            if batch.count == 0 { try session.producer.beginTransaction() }
            batch.add(try write(record, to: their.partition, session.producer))
            guard batch.count >= Self.batchCount || batch.byteCount >= Self.batchByteCount else { continue }
            try finish(&batch, at: offset, from: start, finished, their.partition, session)
        }
        if let session, batch.count > 0 { try finish(&batch, at: offset, from: start, finished, their.partition, session) }
        if context.isCancelled() { throw .invalidArgument("interrupted; the same command goes on") }
    }

    /// A partition that the old group has read.
    private struct Waiting {
        let position: CommittedOffset
        /// The partition's end, or nil if nothing that waits in it is moved.
        let end: Int64?
        /// The finished offsets, or nil if another program wrote them, or nothing is moved.
        let finished: FinishedOffsets?

        init(_ position: CommittedOffset, end: Int64?) {
            (self.position, self.end) = (position, end)
            finished = end == nil ? nil : try? FinishedOffsets(decoding: position.metadata)
        }

        /// True if the new group can go on at the position.
        var isKnown: Bool { position.offset != nil && (end == nil || finished != nil) }
    }

    private struct Batch {
        var count = 0
        var byteCount = 0

        mutating func add(_ bytes: Int) {
            count += 1
            byteCount += bytes
        }
    }

    private static func isOwned(_ record: FetchedRecord, by group: String) -> Bool {
        record.headers.last { $0.name == owner }?.value == Array(group.utf8)
    }

    /// Writes a record again into its partition, as the new group's.
    private func write(_ record: FetchedRecord, to partition: TopicPartition, _ producer: Producer) throws(KafkaError) -> Int {
        let headers = record.headers.map { name, value -> (name: [UInt8], value: [UInt8]?) in
            (name, name == Self.owner ? Array(new.terms.group.utf8) : value)
        }
        let topic = try producer.topic(named: partition.topic)
        try producer.write(key: record.key, value: record.value, headers: headers, to: topic, partition: partition.partition)
        let byteCount = (record.key?.count ?? 0) + (record.value?.count ?? 0)
        return headers.reduce(byteCount) { $0 + $1.name.count + ($1.value?.count ?? 0) }
    }

    /// Commits a batch, and with it the old group's position behind the rewritten records. Offsets that it has finished further
    /// behind stay finished.
    private func finish(
        _ batch: inout Batch, at offset: Int64, from start: Int64, _ finished: FinishedOffsets, _ partition: TopicPartition,
        _ session: TransactionalSession
    ) throws(KafkaError) {
        let rest = finished.rest(above: offset - start)
        let position = OffsetCommit(partition, offset: offset, metadata: rest.encoded())
        try session.producer.sendOffsets(
            [position], group: GroupMetadata(withoutMembers: old.terms.group), timeout: context.timeout)
        try session.commit()
        batch = Batch()
    }
}
