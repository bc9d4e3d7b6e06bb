import JobSupport
import PushModel
import SQLite

/// The requests of one hour in a file of their own, so that removing them is removing the file.
///
/// The words of requests are an inverted index (sqlite.org, FTS5), in which rows have the ids of the requests. Ids grow with time, so that
/// the newest come first and times are ranges. One value belongs to one thread at a time.
final class RequestBucket {
    /// A request of the hour.
    struct Found {
        let lane: Int
        let partition: Int32
        let offset: Int64
        /// The moment under which it was found, and that of its publication.
        let time: Int64
        let published: Int64
        let json: [UInt8]
    }

    /// Requests that were found, and the moment down to which all were looked at, or nil for all of the hour.
    struct Part {
        var found: [Found] = []
        var reached: Int64?
    }

    /// The waits for others: of questions for a transaction, and of that for a question, which lasts for 10 s at most.
    private static let (readPatience, writePatience) = (Duration.seconds(2), Duration.seconds(15))
    /// The rows that a question looks at in a row. Between them what is added gets its turn.
    private static let turn = 1000
    /// The pages that a connection keeps, in KiB.
    private static let cache = 512
    /// A pack has about so many bytes of facts at most. To see those of one request, all are unpacked.
    private static let packSize = 24_000
    /// The packs that are kept unpacked during one question.
    private static let keptPacks = 32

    private static let tables = """
        CREATE TABLE source(epoch INTEGER NOT NULL, records INTEGER NOT NULL);
        CREATE TABLE pack(id INTEGER PRIMARY KEY, content BLOB NOT NULL);
        CREATE TABLE request(
            id INTEGER PRIMARY KEY, lane INTEGER NOT NULL, part INTEGER NOT NULL, place INTEGER NOT NULL,
            is_due INTEGER NOT NULL, published INTEGER, pack INTEGER NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL,
            UNIQUE (lane, part, place, is_due));
        CREATE VIRTUAL TABLE word USING fts5(w, content='', columnsize=0, detail=none, tokenize='ascii');
        """

    private static let columns = "r.lane, r.part, r.place, r.id, r.published, r.pack, r.start, r.length"

    private let database: Database
    private let secrets: IndexSecrets
    /// The texts of packs. Valid for one question, during which nothing is removed.
    private var packs: [Int64: [UInt8]] = [:]

    /// Opens a file of the index that has a number. The tables are made in an empty one if `isMade`. A file of another index counts as
    /// damaged.
    init(path: String, epoch: Int64, secrets: IndexSecrets, isMade: Bool) throws(SQLiteError) {
        database = try Database(path: path, waiting: isMade ? Self.writePatience : Self.readPatience)
        self.secrets = secrets
        // Additions stay in memory until their transaction is written, so that questions have to wait for that alone.
        try database.execute(
            "PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -\(Self.cache); PRAGMA cache_spill = OFF"
        )
        if isMade, try database.integer("SELECT count(*) FROM sqlite_schema") == 0 {
            try database.write { () throws(SQLiteError) in
                try database.execute(Self.tables + "INSERT INTO source VALUES (\(epoch), 0)")
            }
        }
        guard try database.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'source'") == 1,
            try database.integer("SELECT epoch FROM source") == epoch
        else { throw .damage("\(path) belongs to another index") }
    }

    /// The number of its rows.
    func count() throws(SQLiteError) -> Int { Int(try database.integer("SELECT records FROM source") ?? 0) }

    /// Adds some of the rows, which are in the order of their times, but those that are there. Returns how many it has added.
    func add(_ numbers: [Int], of rows: borrowing RequestRows) throws(SQLiteError) -> Int {
        try database.write { () throws(SQLiteError) in
            var writer = try BucketWriter(database, secrets: secrets)
            for number in numbers { try writer.add(rows.rows[number], of: rows) }
            try writer.finish()
            return writer.count
        }
    }

    /// Ends questions that last for too long.
    func interrupt(when isOver: @escaping () -> Bool) { database.interrupt(when: isOver) }

    /// Forgets what was unpacked.
    func forgetPacks() { packs.removeAll() }

    /// Finds the newest requests: at least so many as `limit`, if there are, and all of the last millisecond.
    ///
    /// - Parameters:
    ///   - expression: The tokens in FTS5's grammar, or nil for all requests.
    ///   - moments: The moments under which they stand, in milliseconds since 1970.
    ///   - isDue: True to find them by the moment at which they are due, false by that of publication.
    ///   - limit: The number that is wanted.
    ///   - deadline: The end of looking, but for some rows, so that each question comes on.
    ///   - isWanted: Looks at each by its place.
    /// - Returns: The requests, newest first.
    /// - Throws: The failure of the database.
    func rows(
        _ expression: [UInt8]?, in moments: ClosedRange<Int64>, isDue: Bool, limit: Int, until deadline: Deadline,
        where isWanted: (Found) -> Bool = { _ in true }
    ) throws(SQLiteError) -> Part {
        let source =
            expression == nil
            ? "request r WHERE ? IS NULL AND r.id"
            : "word CROSS JOIN request r ON r.id = word.rowid WHERE word MATCH CAST(? AS TEXT) AND word.rowid"
        let order = expression == nil ? "r.id" : "word.rowid"
        let statement = try database.prepare(
            "SELECT \(Self.columns) FROM \(source) BETWEEN ? AND ? AND r.is_due = ? ORDER BY \(order) DESC LIMIT \(Self.turn)")
        let ids = IndexHour.ids(of: moments)
        var last = ids.upperBound
        var part = Part()
        while last >= ids.lowerBound {
            // A moment is looked at to its end.
            let stop = last < ids.upperBound && deadline.hasPassed ? IndexHour.time(ofID: last + 1) : nil
            try statement.bind(expression, at: 0)
            try statement.bind(ids.lowerBound, at: 1)
            try statement.bind(last, at: 2)
            try statement.bind(isDue ? 1 : 0, at: 3)
            defer { statement.reset() }
            var count = 0
            while try statement.step() {
                guard let id = statement.integer(3) else { throw .damage("a request has no moment") }
                let time = IndexHour.time(ofID: id)
                let end = part.found.count >= limit ? part.found.last?.time : stop
                if let end, time != end {
                    part.reached = end
                    return part
                }
                (last, count) = (id - 1, count + 1)
                let row = try request(in: statement)
                if isWanted(row) { part.found.append(row) }
            }
            if count < Self.turn { break }
        }
        return part
    }

    /// The request whose record stands at a place, or nil.
    func row(lane: Int, partition: Int32, offset: Int64) throws(SQLiteError) -> Found? {
        let statement = try database.prepare(
            "SELECT \(Self.columns) FROM request r WHERE r.lane = ? AND r.part = ? AND r.place = ? AND r.is_due = 0")
        try statement.bind(Int64(lane), at: 0)
        try statement.bind(Int64(partition), at: 1)
        try statement.bind(offset, at: 2)
        defer { statement.reset() }
        return try statement.step() ? request(in: statement) : nil
    }

    private func request(in row: Statement) throws(SQLiteError) -> Found {
        let numbers = (0..<8).map { row.integer($0) }
        guard let lane = numbers[0], let part = numbers[1], let place = numbers[2], let id = numbers[3], let pack = numbers[5],
            let start = numbers[6], let length = numbers[7]
        else { throw .damage("a request has no place") }
        let text = try text(of: pack)
        let (first, count) = (Int(clamping: start), Int(clamping: length))
        guard first >= 0, count >= 0, first <= text.count, count <= text.count - first else {
            throw .damage("the facts of a request are not in their pack")
        }
        let time = IndexHour.time(ofID: id)
        return Found(
            lane: Int(lane), partition: Int32(clamping: part), offset: place, time: time, published: numbers[4] ?? time,
            json: Array(text[first..<first + count]))
    }

    private func text(of pack: Int64) throws(SQLiteError) -> [UInt8] {
        if let text = packs[pack] { return text }
        let content = try database.prepare("SELECT content FROM pack WHERE id = ?")
        try content.bind(pack, at: 0)
        guard try content.step(), let text = content.withBytes(0, body: { secrets.unpack($0) }) ?? nil else {
            throw .damage("a pack of facts cannot be read")
        }
        if packs.count == Self.keptPacks { packs.removeAll(keepingCapacity: true) }
        packs[pack] = text
        return text
    }

    /// Writes rows in one transaction.
    private struct BucketWriter {
        /// The rows that were added.
        private(set) var count = 0

        private let database: Database
        private let secrets: IndexSecrets
        private let insertRow: Statement
        private let insertWords: Statement
        private let insertPack: Statement
        private let newest: Statement
        private var pack: Int64
        private var text: [UInt8] = []
        /// The last id that was given in this transaction.
        private var last: Int64 = -1

        init(_ database: Database, secrets: IndexSecrets) throws(SQLiteError) {
            (self.database, self.secrets) = (database, secrets)
            insertRow = try database.prepare("INSERT OR IGNORE INTO request VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id")
            insertWords = try database.prepare("INSERT INTO word(rowid, w) VALUES (?, CAST(? AS TEXT))")
            insertPack = try database.prepare("INSERT INTO pack VALUES (?, ?)")
            newest = try database.prepare("SELECT max(id) FROM request WHERE id BETWEEN ? AND ?")
            pack = (try database.integer("SELECT max(id) FROM pack") ?? 0) + 1
        }

        mutating func add(_ row: RequestRows.Row, of rows: borrowing RequestRows) throws(SQLiteError) {
            let id = try nextID(at: row.time)
            let values = [
                id, Int64(row.lane), Int64(row.partition), row.offset, row.isDue ? 1 : 0, row.published, pack, Int64(text.count),
                Int64(row.facts.count),
            ]
            for (index, value) in values.enumerated() { try insertRow.bind(value, at: index) }
            let isNew = try insertRow.step()
            insertRow.reset()
            guard isNew else { return }
            (last, count) = (id, count + 1)
            try insertWords.bind(id, at: 0)
            try insertWords.bind(rows.tokens.span.extracting(row.tokens), at: 1)
            try insertWords.run()
            rows.facts.span.extracting(row.facts).withUnsafeBufferPointer { text.append(contentsOf: $0) }
            if text.count >= packSize { try endPack() }
        }

        mutating func finish() throws(SQLiteError) {
            try endPack()
            try database.execute("UPDATE source SET records = records + \(count)")
        }

        /// An id that no row has, of the moment or, where too many share that, of one behind it.
        private func nextID(at time: Int64) throws(SQLiteError) -> Int64 {
            var time = time
            while true {
                let ids = IndexHour.ids(of: time...time)
                if last >= ids.lowerBound, last < ids.upperBound { return last + 1 }
                try newest.bind(ids.lowerBound, at: 0)
                try newest.bind(ids.upperBound, at: 1)
                let known = try newest.step() ? newest.integer(0) : nil
                newest.reset()
                guard let known else { return ids.lowerBound }
                if known < ids.upperBound { return known + 1 }
                time += 1
            }
        }

        private mutating func endPack() throws(SQLiteError) {
            guard !text.isEmpty else { return }
            // Only a machine without memory cannot pack. The transaction is taken back then, and tried again.
            guard let content = secrets.pack(text.span) else { throw .interruption }
            try insertPack.bind(pack, at: 0)
            try insertPack.bind(content, at: 1)
            try insertPack.run()
            text.removeAll(keepingCapacity: true)
            pack += 1
        }
    }
}
