import PushModel
import ResultQuery
import SQLite

/// A copy of a record of the results topic.
struct IndexedRecord: Equatable {
    let partition: Int32
    let offset: Int64
    /// The time of writing, in milliseconds since 1970.
    let time: Int64
    /// nil for a tombstone.
    let value: [UInt8]?
}

extension ResultIndex {
    /// The number of unused parts of results that may be kept.
    private static let abundance = 10_000

    /// The newest record of a partition, or nil when there is none.
    func newestRecord(of partition: Int32) throws(SQLiteError) -> IndexedRecord? {
        let newest = try database.prepare(
            """
            SELECT pack, place, length, topic_offset, time FROM result
            WHERE topic_partition = ? ORDER BY topic_offset DESC LIMIT 1
            """)
        try newest.bind(Int64(partition), at: 0)
        guard try newest.step(), let offset = newest.integer(3), let time = newest.integer(4) else { return nil }
        var packs = try PackReader(database)
        return IndexedRecord(partition: partition, offset: offset, time: time, value: try packs.record(of: newest))
    }

    /// The number of partitions of which there are records, counted to the last.
    func partitionCount() throws(SQLiteError) -> Int {
        Int(try database.integer("SELECT max(topic_partition) FROM result") ?? -1) + 1
    }

    /// Adds records that follow on the present ones, in the order of their offsets within a partition. Records that another
    /// command has added meanwhile stay as they are. Returns false when another command has rebuilt the index, so that they may
    /// follow on nothing.
    func add(_ rows: IndexRows) throws(SQLiteError) -> Bool {
        try database.write { () throws(SQLiteError) in
            guard try isSame() else { return false }
            var writer = try IndexWriter(database, adding: rows)
            for pack in rows.packs { try writer.add(pack) }
            return true
        }
    }

    /// Removes the records that the topic does not keep any more. Returns false when another command has rebuilt the index.
    func removeRecords(below lows: [Int64]) throws(SQLiteError) -> Bool {
        let oldest = try database.prepare("SELECT min(topic_offset) FROM result WHERE topic_partition = ?")
        var stale: [(partition: Int64, low: Int64)] = []
        for (partition, low) in lows.enumerated() {
            try oldest.bind(Int64(partition), at: 0)
            if try oldest.step(), let offset = oldest.integer(0), offset < low { stale.append((Int64(partition), low)) }
            oldest.reset()
        }
        guard !stale.isEmpty else { return true }
        return try database.write { () throws(SQLiteError) in
            guard try isSame() else { return false }
            for (partition, low) in stale {
                let part = "WHERE topic_partition = \(partition) AND"
                try database.execute(
                    "DELETE FROM pack \(part) last_offset < \(low); DELETE FROM result \(part) topic_offset < \(low)")
            }
            try removeUnusedParts()
            return true
        }
    }

    private func removeUnusedParts() throws(SQLiteError) {
        guard try database.integer("SELECT count(*) FROM facet") ?? 0 > Self.abundance else { return }
        try database.execute(
            """
            DELETE FROM facet WHERE id NOT IN (SELECT ending FROM result WHERE ending IS NOT NULL
                UNION SELECT sender FROM result WHERE sender IS NOT NULL
                UNION SELECT handling FROM result WHERE handling IS NOT NULL)
            """)
    }
}

/// Writes rows in one transaction.
private struct IndexWriter {
    private let rows: IndexRows
    private let newest: Statement
    private let insertPack: Statement
    private let insertResult: Statement
    private let insertPart: Statement
    private let findPart: Statement
    /// The numbers of the parts. Valid for this transaction, in which no command can remove any.
    private var numbers: [Int64?]

    init(_ database: Database, adding rows: IndexRows) throws(SQLiteError) {
        self.rows = rows
        newest = try database.prepare("SELECT max(topic_offset) FROM result WHERE topic_partition = ?")
        insertPack = try database.prepare(
            "INSERT INTO pack(topic_partition, last_offset, content) VALUES (?, ?, ?) RETURNING id")
        let columns = ResultFacet.allCases.map(\.column) + IndexRows.fields.map { "\"\($0.rawValue)\"" }
        let names = ["topic_partition", "topic_offset", "time", "pack", "place", "length", "origin_offset"] + columns
        insertResult = try database.prepare(
            """
            INSERT OR IGNORE INTO result(\(names.joined(separator: ", ")))
            VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
            """)
        insertPart = try database.prepare("INSERT INTO facet(kind, part) VALUES (?, ?) RETURNING id")
        findPart = try database.prepare("SELECT id FROM facet WHERE kind = ? AND part = ?")
        numbers = Array(repeating: nil, count: rows.parts.count)
    }

    /// Adds a pack and its rows, unless they are there.
    mutating func add(_ pack: IndexRows.Pack) throws(SQLiteError) {
        try newest.bind(Int64(pack.partition), at: 0)
        let known = try newest.step() ? newest.integer(0) : nil
        newest.reset()
        if let known, known >= pack.lastOffset { return }
        try insertPack.bind(Int64(pack.partition), at: 0)
        try insertPack.bind(pack.lastOffset, at: 1)
        try insertPack.bind(pack.content, at: 2)
        let id = try insertPack.step() ? insertPack.integer(0) : nil
        insertPack.reset()
        for row in pack.rows { try add(row, packed: id) }
    }

    private mutating func add(_ index: Int, packed id: Int64?) throws(SQLiteError) {
        let row = rows.rows[index]
        try insertResult.bind(Int64(row.partition), at: 0)
        try insertResult.bind(row.offset, at: 1)
        try insertResult.bind(row.time, at: 2)
        try insertResult.bind(row.place == nil ? nil : id, at: 3)
        try insertResult.bind(row.place.map { Int64($0.lowerBound) }, at: 4)
        try insertResult.bind(row.place.map { Int64($0.count) }, at: 5)
        try insertResult.bind(row.originOffset, at: 6)
        for part in row.parts.indices { try insertResult.bind(try number(ofPart: Int(row.parts[part])), at: 7 + part) }
        let first = index * IndexRows.fields.count
        for field in IndexRows.fields.indices {
            let column = 7 + row.parts.count + field
            switch rows.values[first + field] {
            case .none: try insertResult.bind(Int64?.none, at: column)
            case .number(let number): try insertResult.bind(number, at: column)
            case .text(let place): try insertResult.bind(rows.texts.span.extracting(place), at: column)
            }
        }
        try insertResult.run()
    }

    private mutating func number(ofPart index: Int) throws(SQLiteError) -> Int64? {
        guard index >= 0 else { return nil }
        if let number = numbers[index] { return number }
        let part = rows.parts[index]
        var number = try Self.number(of: part, by: findPart)
        if number == nil { number = try Self.number(of: part, by: insertPart) }
        numbers[index] = number
        return number
    }

    private static func number(of part: IndexRows.Part, by statement: Statement) throws(SQLiteError) -> Int64? {
        try statement.bind(part.facet.rawValue, at: 0)
        try statement.bind(part.bytes, at: 1)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : nil
    }
}

extension ResultFacet {
    /// The column that names the part.
    var column: String {
        switch self {
        case .ending: "ending"
        case .sender: "sender"
        case .handling: "handling"
        }
    }
}
