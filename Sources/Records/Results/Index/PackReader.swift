import LZ4
import Publishing
import SQLite

/// Unpacks the records of rows. Rows that are asked for one after another often have their records in few packs, which are kept.
struct PackReader {
    private static let keptCount = 32

    private let content: Statement
    private var kept: [Int64: [UInt8]] = [:]

    /// Nothing is read yet.
    init(_ database: Database) throws(SQLiteError) {
        content = try database.prepare("SELECT content FROM pack WHERE id = ?")
    }

    /// The record of a row that begins with the columns `pack`, `place` and `length`. Nil for a tombstone.
    mutating func record(of row: Statement) throws(SQLiteError) -> [UInt8]? {
        guard let id = row.integer(0), let place = row.integer(1), let length = row.integer(2) else { return nil }
        let text = try text(of: id)
        let (start, count) = (Int(clamping: place), Int(clamping: length))
        guard start >= 0, count >= 0, count <= text.count - start else { throw .damage("a record is not in its pack") }
        return Array(text[start..<start + count])
    }

    /// The result of such a row in which the partition, the offset and the time follow. Nil when its record cannot be read.
    mutating func result(of row: Statement) throws(SQLiteError) -> ResultRecord? {
        guard let json = try record(of: row), let partition = row.integer(3), let offset = row.integer(4),
            let time = row.integer(5)
        else { return nil }
        return ResultRecord(json: json, partition: Int32(clamping: partition), offset: offset, timestamp: time)
    }

    private mutating func text(of id: Int64) throws(SQLiteError) -> [UInt8] {
        if let text = kept[id] { return text }
        try content.bind(id, at: 0)
        defer { content.reset() }
        guard try content.step(), let text = content.withBytes(0, body: { try? LZ4Block.unpack($0) }) ?? nil else {
            throw .damage("a pack of records cannot be read")
        }
        if kept.count == Self.keptCount { kept.removeAll(keepingCapacity: true) }
        kept[id] = text
        return text
    }
}
