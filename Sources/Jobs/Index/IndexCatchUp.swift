import Kafka
import ResultQuery
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
    private var pending = PendingRecords()
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
        addPending()
        if isGoingOn { attempt { catchUp throws(SQLiteError) in try catchUp.index.finishFilling() } }
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
        let copy = IndexedRecord(record)
        if let witness = witnesses.removeValue(forKey: copy.partition) {
            if witness != copy { ending = .topicIsAnother }
            return isGoingOn
        }
        pending.append(copy)
        if pending.isFull { addPending() }
        return isGoingOn
    }

    private mutating func addPending() {
        guard isGoingOn else { return }
        attempt { catchUp throws(SQLiteError) in
            if try !catchUp.index.add(catchUp.pending.records) { catchUp.ending = .indexIsAnother }
            catchUp.pending.removeAll()
        }
    }

    private mutating func attempt(_ body: (inout IndexCatchUp) throws(SQLiteError) -> Void) {
        do throws(SQLiteError) { try body(&self) } catch { ending = .failed(error) }
    }
}

/// Records that are added to an index at once.
struct PendingRecords {
    private static let countLimit = 5000
    private static let byteLimit = 16 << 20

    private(set) var records: [IndexedRecord] = []
    private var byteCount = 0

    /// So many are added at once.
    var isFull: Bool { records.count >= Self.countLimit || byteCount >= Self.byteLimit }

    /// Takes a record.
    mutating func append(_ record: IndexedRecord) {
        records.append(record)
        byteCount += record.value?.count ?? 0
    }

    /// Forgets those that were added.
    mutating func removeAll() {
        records.removeAll(keepingCapacity: true)
        byteCount = 0
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
