import Kafka
import PushModel

/// Records that are added to an index at once, in the order in which they were read. All values stand in one piece of memory.
struct RecordBatch: Sendable {
    /// A record, of which the value stands in the batch.
    struct Entry: Sendable {
        let partition: Int32
        let offset: Int64
        /// The time of writing, in milliseconds since 1970.
        let time: Int64
        /// The place of the value, or nil for a tombstone.
        let value: Range<Int>?
    }

    private static let countLimit = 10_000
    private static let byteLimit = 8 << 20

    private(set) var entries: [Entry] = []
    private(set) var text: ByteWriter

    /// So many are added at once.
    var isFull: Bool { entries.count >= Self.countLimit || text.count >= Self.byteLimit }
    /// It has no record.
    var isEmpty: Bool { entries.isEmpty }

    /// An empty batch: one that will be full soon, or one of few records.
    init(willBeFull: Bool = false) {
        text = ByteWriter(capacity: willBeFull ? Self.byteLimit + Self.byteLimit / 64 : 0)
    }

    /// An empty batch in the room of another, unless a rare giant made that large.
    init(reusing batch: consuming RecordBatch) {
        entries = batch.entries
        text = batch.text.room.count > 2 * Self.byteLimit ? ByteWriter() : batch.text
        entries.removeAll(keepingCapacity: true)
        text.removeAll()
    }

    /// Takes a record.
    mutating func append(_ record: borrowing ConsumedRecord) {
        var value: Range<Int>?
        if let bytes = record.value { value = append(bytes) }
        entries.append(
            Entry(partition: record.partition, offset: record.offset, time: record.timestamp ?? 0, value: value))
    }

    /// Takes a record that was copied.
    mutating func append(_ record: IndexedRecord) {
        var value: Range<Int>?
        if let bytes = record.value { value = append(bytes.span) }
        entries.append(Entry(partition: record.partition, offset: record.offset, time: record.time, value: value))
    }

    private mutating func append(_ value: Span<UInt8>) -> Range<Int> {
        let start = text.count
        text.append(value)
        return start..<text.count
    }
}
