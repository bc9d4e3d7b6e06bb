import Delivery
import JobSupport
import Kafka
import PushModel
import SQLite

/// Adds the records that come to an index, by one reader, for some minutes.
struct IndexTail {
    /// Records are added so often, or when they are many, or when no other comes for a while.
    private static let step = Duration.milliseconds(300)
    private static let silence = Duration.milliseconds(50)
    /// New partitions are looked for so often, which shows as well that the topic and its brokers are there.
    private static let partitionInterval = Duration.seconds(10)
    /// The index is compared with the topic so often, and what retention took is removed.
    private static let length = Duration.seconds(240)
    private static let readAhead = 32 << 20

    private let index: ResultIndex
    private let context: JobContext
    private let reader: TopicReader
    /// The next offset of each partition.
    private var next: OffsetOrder
    private var pending = RecordBatch()
    /// The records of the index, less the number of its newest row, which grows with each that any process adds.
    private let base: Int
    private let end = Deadline(after: length)
    private var nextRefresh = Deadline(after: partitionInterval)

    /// Begins to read where a catching up has ended.
    init(_ index: ResultIndex, from positions: [Int32: Int64], in context: JobContext) throws(IndexFailure) {
        self.index = index
        self.context = context
        next = OffsetOrder(positions)
        base = try IndexFailure.database { () throws(SQLiteError) in try index.recordCount() - index.newestRow() }
        reader = try IndexFailure.kafka { () throws(KafkaError) in
            try TopicReader(
                context.kafka, topic: context.topics.results, start: .offsets(positions), timeout: context.timeout,
                readAhead: Self.readAhead)
        }
    }

    /// Stops reading.
    func close() { reader.close() }

    /// The records of the index, and those that are missing of what was there at the beginning.
    func counts() throws(IndexFailure) -> (records: Int, behind: Int) {
        let row = try IndexFailure.database { () throws(SQLiteError) in try index.newestRow() }
        return (base + row, Int(clamping: reader.remainingCount))
    }

    /// Reads for a step, and adds what has come. Returns false when it is time to end.
    mutating func readOn() throws(IndexFailure) -> Bool {
        let deadline = Deadline(after: Self.step)
        while !deadline.hasPassed, !pending.isFull, !context.isCancelled() {
            var isInOrder = true
            var isFound = false
            let wait = pending.isEmpty ? deadline.step : min(deadline.step, Self.silence)
            let result = reader.read(timeout: wait) { record in
                isFound = true
                isInOrder = next.take(record.offset, of: record.partition)
                if isInOrder { pending.append(record) }
            }
            if case .error(let error) = result, error.isOutdated { return false }
            if case .error(let error) = result, error.isAuthorization || error.isFatal || error.isUnknownTopicOrPartition {
                throw .job(.kafka(error, .read(topic: reader.topic)))
            }
            guard isInOrder else { throw .flaw(.otherRecords) }
            if !isFound, result == .empty, !pending.isEmpty { break }
        }
        guard !isMissing() else { return false }
        let isSame = try IndexFailure.database { () throws(SQLiteError) in
            if pending.isEmpty { return true }
            return try index.add(IndexRows(pending))
        }
        guard isSame else { throw .absence(.rebuiltByAnother) }
        pending = RecordBatch()
        if nextRefresh.hasPassed { try refreshPartitions() }
        return !end.hasPassed
    }

    /// True once the library has said that a partition is missing: the topic may be there again, and be another.
    private func isMissing() -> Bool {
        var isMissing = false
        while let event = reader.nextEvent() {
            if case .log(let line) = event, line.missingPartition?.topic == reader.topic { isMissing = true }
        }
        return isMissing
    }

    private mutating func refreshPartitions() throws(IndexFailure) {
        nextRefresh = Deadline(after: Self.partitionInterval)
        try IndexFailure.kafka { () throws(KafkaError) in _ = try reader.refreshPartitions(timeout: context.timeout) }
    }
}

/// The order of the offsets of each partition. Offsets only grow, unless the topic was made again or has lost its end.
struct OffsetOrder {
    private var next: [Int32: Int64]

    /// The next offset of each partition. Partitions that are not named begin at any.
    init(_ next: [Int32: Int64]) { self.next = next }

    /// Takes an offset. Returns false if it should have come before.
    mutating func take(_ offset: Int64, of partition: Int32) -> Bool {
        guard offset >= next[partition] ?? 0 else { return false }
        next[partition] = offset.addingSaturated(1)
        return true
    }
}
