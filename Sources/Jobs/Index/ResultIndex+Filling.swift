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
            SELECT topic_offset, time, value FROM result LEFT JOIN record USING (id)
            WHERE topic_partition = ? ORDER BY topic_offset DESC LIMIT 1
            """)
        try newest.bind(Int64(partition), at: 0)
        guard try newest.step(), let offset = newest.integer(0), let time = newest.integer(1) else { return nil }
        return IndexedRecord(partition: partition, offset: offset, time: time, value: newest.bytes(2))
    }

    /// The number of partitions of which there are records, counted to the last.
    func partitionCount() throws(SQLiteError) -> Int {
        Int(try database.integer("SELECT max(topic_partition) FROM result") ?? -1) + 1
    }

    /// Adds records that follow on the present ones, in the order of their offsets within a partition. Records that another
    /// command has added meanwhile stay as they are. Returns false when another command has rebuilt the index, so that they may
    /// follow on nothing.
    func add(_ records: [IndexedRecord]) throws(SQLiteError) -> Bool {
        guard !records.isEmpty else { return true }
        return try database.write { () throws(SQLiteError) in
            guard try isSame() else { return false }
            var writer = try IndexWriter(database)
            for record in records { try writer.add(record) }
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
                let rows = "FROM result WHERE topic_partition = \(partition) AND topic_offset < \(low)"
                try database.execute("DELETE FROM record WHERE id IN (SELECT id \(rows)); DELETE \(rows)")
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

/// Writes the rows of one transaction.
private struct IndexWriter {
    private let insertResult: Statement
    private let insertRecord: Statement
    private let insertPart: Statement
    private let findPart: Statement
    /// The numbers of parts, by their kind and bytes. Valid for this transaction, in which no command can remove any.
    private var known: [[UInt8]: Int64] = [:]
    private var document = JSONDocument()
    private var part = ByteWriter()

    init(_ database: Database) throws(SQLiteError) {
        let columns = ResultFacet.allCases.map(\.column) + ResultField.singular.map { "\"\($0.rawValue)\"" }
        let names = ["topic_partition", "topic_offset", "time"] + columns + ["origin_offset"]
        insertResult = try database.prepare(
            """
            INSERT OR IGNORE INTO result(\(names.joined(separator: ", ")))
            VALUES (\(names.map { _ in "?" }.joined(separator: ", "))) RETURNING id
            """)
        insertRecord = try database.prepare("INSERT INTO record VALUES (?, ?)")
        insertPart = try database.prepare("INSERT INTO facet(kind, part) VALUES (?, ?) RETURNING id")
        findPart = try database.prepare("SELECT id FROM facet WHERE kind = ? AND part = ?")
    }

    mutating func add(_ record: IndexedRecord) throws(SQLiteError) {
        for (index, number) in [Int64(record.partition), record.offset, record.time].enumerated() {
            try insertResult.bind(number, at: index)
        }
        // A record that is no result is kept as well, because counts of records include it.
        let isResult = record.value.map { document.readResult($0.span) } ?? false
        var index = 3
        for facet in ResultFacet.allCases {
            try insertResult.bind(isResult ? try number(of: facet) : nil, at: index)
            index += 1
        }
        for field in ResultField.singular {
            try bind(isResult ? field.value(in: document) : nil, isText: field.values == .text, at: index)
            index += 1
        }
        try insertResult.bind(isResult ? originOffset : nil, at: index)
        guard try insertResult.step(), let id = insertResult.integer(0) else { return }
        insertResult.reset()
        try insertRecord.bind(id, at: 0)
        try insertRecord.bind(record.value, at: 1)
        try insertRecord.run()
    }

    /// The offset of the request in its partition.
    private var originOffset: Int64? {
        document.member("origin", of: document.root).flatMap { document.text("offset", of: $0) }.flatMap { Int64($0) }
    }

    /// Binds what a filter on the field could ask for: text of a field of texts, and whole numbers of others.
    private func bind(_ node: JSONDocument.Node?, isText: Bool, at index: Int) throws(SQLiteError) {
        guard let node else { return try insertResult.bind(Int64?.none, at: index) }
        guard isText else { return try insertResult.bind(document.integer(at: node), at: index) }
        guard document.kind(of: node) == .string else { return try insertResult.bind(Int64?.none, at: index) }
        try insertResult.bind(document.span(document.text(of: node)), at: index)
    }

    private mutating func number(of facet: ResultFacet) throws(SQLiteError) -> Int64? {
        part.removeAll()
        part.append(UInt8(truncatingIfNeeded: facet.rawValue))
        facet.write(of: document, to: &part)
        let key = part.bytes
        if let number = known[key] { return number }
        let bytes = Array(key.dropFirst())
        var number = try Self.number(findPart, facet, bytes)
        if number == nil { number = try Self.number(insertPart, facet, bytes) }
        known[key] = number
        return number
    }

    private static func number(
        _ statement: Statement, _ facet: ResultFacet, _ bytes: [UInt8]
    ) throws(SQLiteError) -> Int64? {
        try statement.bind(facet.rawValue, at: 0)
        try statement.bind(bytes, at: 1)
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
