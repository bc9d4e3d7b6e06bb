import JobSupport
import Kafka
import SQLite

/// Reads the records since an index was filled last, and removes those that the topic does not keep any more.
///
/// Of each partition the newest record of the index is read again: if it stands where it stood, everything before it does too, because
/// records never change. If it does not, the topic was recreated, or its records were replaced by others.
struct IndexCatchUp {
    enum Ending {
        case done
        /// The index has other records than the topic.
        case topicIsAnother
        /// Another command has rebuilt the index.
        case indexIsAnother
        case failed(SQLiteError)
    }

    private let index: ResultIndex
    /// The newest record of each partition that was not met yet.
    private var witnesses: [Int32: IndexedRecord] = [:]
    private var pending = RecordBatch()
    private var making = IndexRowMaking()
    private var ending = Ending.done

    private var isGoingOn: Bool { if case .done = ending { true } else { false } }

    /// Nothing is read yet.
    init(_ index: ResultIndex) {
        self.index = index
    }

    /// Fills the index up to the ends that the reader has found.
    mutating func run(_ reader: TopicReader, _ scan: TopicScan) throws(JobFailure) -> Ending {
        attempt { catchUp throws(SQLiteError) in try catchUp.prepare(reader.bounds) }
        guard isGoingOn else { return ending }
        do throws(KafkaError) { try reader.begin(at: witnesses.mapValues(\.offset)) } catch { throw scan.failure(error) }
        try scan.readOn(reader) { take($0) }
        if isGoingOn, !witnesses.isEmpty { ending = .topicIsAnother }
        while let rows = making.takeFirst() { add(rows) }
        if !pending.isEmpty { add(IndexRows(pending)) }
        if isGoingOn { attempt { catchUp throws(SQLiteError) in try catchUp.index.finishFilling { scan.report($0) } } }
        return ending
    }

    private mutating func prepare(_ bounds: [Range<Int64>]) throws(SQLiteError) {
        guard try index.partitionCount() <= bounds.count else { return ending = .topicIsAnother }
        for (partition, bounds) in bounds.enumerated() {
            guard let newest = try index.newestRecord(of: Int32(clamping: partition)), newest.offset >= bounds.lowerBound
            else { continue }
            guard newest.offset < bounds.upperBound else { return ending = .topicIsAnother }
            witnesses[newest.partition] = newest
        }
        if try !index.removeRecords(below: bounds.map(\.lowerBound)) { ending = .indexIsAnother }
    }

    /// Takes a record. Returns true to go on.
    private mutating func take(_ record: borrowing ConsumedRecord) -> Bool {
        if !witnesses.isEmpty, let witness = witnesses.removeValue(forKey: record.partition) {
            if witness != IndexedRecord(record) { ending = .topicIsAnother }
            return isGoingOn
        }
        pending.append(record)
        if pending.isFull { beginPending() }
        return isGoingOn
    }

    private mutating func beginPending() {
        if making.isFull, let rows = making.takeFirst() { add(rows) }
        making.begin(&pending)
    }

    private mutating func add(_ rows: IndexRows) {
        guard isGoingOn else { return }
        attempt { catchUp throws(SQLiteError) in
            if try !catchUp.index.add(rows) { catchUp.ending = .indexIsAnother }
        }
    }

    private mutating func attempt(_ body: (inout IndexCatchUp) throws(SQLiteError) -> Void) {
        do throws(SQLiteError) { try body(&self) } catch { ending = .failed(error) }
    }
}

extension IndexedRecord {
    init(_ record: borrowing ConsumedRecord) {
        partition = record.partition
        offset = record.offset
        time = record.timestamp ?? 0
        if let bytes = record.value { value = bytes.withUnsafeBufferPointer { Array($0) } } else { value = nil }
    }
}
