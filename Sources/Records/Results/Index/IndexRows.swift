import EventLoop
import LZ4
import PushModel
import ResultQuery
import Synchronization

/// A batch of records as an index keeps it: rows, the parts that they have alike, and packs of the records themselves.
///
/// It is made without a database, so that other threads can make it.
struct IndexRows: Sendable {
    /// Records of one partition that are packed together.
    struct Pack: Sendable {
        let partition: Int32
        let lastOffset: Int64
        /// The rows of its records, and of tombstones between them.
        let rows: Range<Int>
        /// The records one behind the other, packed. Nil for more than can be packed, which no table takes.
        let content: [UInt8]?
    }

    struct Row: Sendable {
        let partition: Int32
        let offset: Int64
        let time: Int64
        /// The parts, in the order of `ResultFacet.allCases`, by their place in `parts`. Empty for a record that is no result.
        var parts: [3 of Int32] = [-1, -1, -1]
        /// The offset of the request in its partition.
        var originOffset: Int64?
        /// The place of the record in the text of its pack, or nil for a tombstone.
        let place: Range<Int>?
    }

    /// The value of a singular field.
    enum Value: Sendable {
        case none
        case number(Int64)
        /// The place of a text in `texts`.
        case text(Range<Int>)
    }

    struct Part: Sendable {
        let facet: ResultFacet
        let bytes: [UInt8]
    }

    static let fields = ResultField.singular
    private static let isText = fields.map { $0.values == .text }

    /// A pack has about so many bytes of text at most. To see one record, all before it are unpacked.
    private static let packSize = 60_000

    private(set) var packs: [Pack] = []
    private(set) var rows: [Row] = []
    private(set) var parts: [Part] = []
    /// For each row, one value for each of `fields`.
    private(set) var values: [Value] = []
    private(set) var texts = ByteWriter()

    /// The rows of a batch.
    init(_ batch: RecordBatch) {
        var maker = IndexRowMaker()
        rows.reserveCapacity(batch.entries.count)
        values.reserveCapacity(batch.entries.count * Self.fields.count)
        // A stable order: the records of a partition stay as they came.
        let order = batch.entries.indices.sorted { (batch.entries[$0].partition, $0) < (batch.entries[$1].partition, $1) }
        var text = ByteWriter(capacity: Self.packSize)
        var start = 0
        for (number, index) in order.enumerated() {
            let entry = batch.entries[index]
            var place: Range<Int>?
            if let value = entry.value {
                place = text.count..<text.count + value.count
                text.append(batch.text.span.extracting(value))
            }
            var row = Row(partition: entry.partition, offset: entry.offset, time: entry.time, place: place)
            // A record that is no result is kept as well, because counts of records include it.
            if let value = entry.value, maker.result.read(batch.text.span.extracting(value)) {
                addResult(&maker, to: &row)
            } else {
                for _ in Self.fields { values.append(.none) }
            }
            rows.append(row)
            let next = number + 1 < order.count ? batch.entries[order[number + 1]] : nil
            guard next?.partition != entry.partition || text.count + (next?.value?.count ?? 0) > Self.packSize else { continue }
            packs.append(
                Pack(
                    partition: entry.partition, lastOffset: entry.offset, rows: start..<rows.count,
                    content: try? LZ4Block.pack(text.span)))
            text.removeAll()
            start = rows.count
        }
    }

    private mutating func addResult(_ maker: inout IndexRowMaker, to row: inout Row) {
        for (index, facet) in ResultFacet.allCases.enumerated() { row.parts[index] = maker.number(of: facet, in: &parts) }
        for index in Self.fields.indices { values.append(value(ofField: index, in: maker.result)) }
        row.originOffset = maker.result.originOffset
    }

    /// The value that a filter on the field could ask for: text of a field of texts, and whole numbers of others.
    private mutating func value(ofField index: Int, in result: borrowing ResultMembers) -> Value {
        guard let node = result.value(ofSingular: index) else { return .none }
        let document = result.document
        guard Self.isText[index] else { return document.integer(at: node).map { .number($0) } ?? .none }
        guard document.kind(of: node) == .string else { return .none }
        let start = texts.count
        texts.append(document.span(document.text(of: node)))
        return .text(start..<texts.count)
    }
}

/// The room in which the rows of one batch are made.
private struct IndexRowMaker {
    var result = ResultMembers()
    private var part = ByteWriter()
    /// The places of parts, by the hash of their bytes.
    private var known: [Int: Int32] = [:]

    /// The place of a result's part among those of the batch.
    mutating func number(of facet: ResultFacet, in parts: inout [IndexRows.Part]) -> Int32 {
        part.removeAll()
        facet.write(of: result, to: &part)
        var hasher = Hasher()
        hasher.combine(facet)
        part.span.withUnsafeBytes { hasher.combine(bytes: $0) }
        var hash = hasher.finalize()
        while let number = known[hash] {
            let known = parts[Int(number)]
            if known.facet == facet, part.span.equals(known.bytes.span) { return number }
            hash &+= 1
        }
        let number = Int32(truncatingIfNeeded: parts.count)
        known[hash] = number
        parts.append(IndexRows.Part(facet: facet, bytes: part.bytes))
        return number
    }
}

/// Makes the rows of batches on threads of their own, some at once.
struct IndexRowMaking {
    private final class Task: Sendable {
        let thread = ServiceThread()
        let content: Mutex<(batch: RecordBatch, rows: IndexRows?)>

        init(_ batch: RecordBatch) { content = Mutex((batch, nil)) }
    }

    /// So many batches are in the making. Each takes some 15 MB.
    private static let limit = 3

    private var tasks: [Task] = []
    /// Batches of which the rows are made. New memory for each would cost more than the copying into it.
    private var spares: [RecordBatch] = []

    /// It is time to take rows before another batch is begun.
    var isFull: Bool { tasks.count >= Self.limit }
    /// Nothing is in the making.
    var isEmpty: Bool { tasks.isEmpty }

    /// Begins to make the rows of a batch, and leaves an empty one in its place.
    mutating func begin(_ batch: inout RecordBatch) {
        let task = Task(batch)
        task.thread.start(named: "index") {
            let rows = IndexRows(task.content.withLock { $0.batch })
            task.content.withLock { $0.rows = rows }
        }
        tasks.append(task)
        batch = spares.popLast() ?? RecordBatch(willBeFull: true)
    }

    /// Takes the rows of the batch that was begun first, as soon as they are made. Returns nil when there is none.
    mutating func takeFirst() -> IndexRows? {
        guard !tasks.isEmpty else { return nil }
        let task = tasks.removeFirst()
        task.thread.waitForEnd()
        return task.content.withLock { content in
            var batch = RecordBatch()
            swap(&batch, &content.batch)
            spares.append(RecordBatch(reusing: batch))
            return content.rows
        }
    }
}
