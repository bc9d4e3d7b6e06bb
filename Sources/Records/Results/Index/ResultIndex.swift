import JobSupport
import ResultQuery
import SQLite

/// The results of one topic in a database on this machine, so that a query need not read them all again.
///
/// It is a cache: everything in it is in Kafka, and it is rebuilt whenever there is a doubt. Each record of the topic has a row, complete
/// from the oldest record of each partition to the newest one in the index. The next reading goes on behind that. What many
/// results have alike (`ResultFacet`) is kept once, and rows name it by a number. The records themselves are packed, some of a partition
/// together. Several commands may use one file at the same time: rows
/// are added, and partitions cleared of what retention has removed, in transactions, and never changed. One value of this class belongs
/// to one thread at a time.
final class ResultIndex {
    /// The layout of the tables. A file with another one is rebuilt.
    private static let version = 4
    /// The longest wait for another command that writes.
    private static let patience = Duration.seconds(2)

    private static let tables = """
        CREATE TABLE source(cluster BLOB NOT NULL, topic BLOB NOT NULL, epoch INTEGER NOT NULL);
        CREATE TABLE facet(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, part BLOB NOT NULL, UNIQUE (kind, part));
        CREATE TABLE result(
            id INTEGER PRIMARY KEY, topic_partition INTEGER NOT NULL, topic_offset INTEGER NOT NULL, time INTEGER NOT NULL,
            ending INTEGER, sender INTEGER, handling INTEGER, "request" BLOB, "attempts" INTEGER, "took" INTEGER,
            "queued" INTEGER, "partition" INTEGER, "root" BLOB, "parent" BLOB, origin_offset INTEGER,
            pack INTEGER, place INTEGER, length INTEGER,
            UNIQUE (topic_partition, topic_offset));
        CREATE TABLE pack(
            id INTEGER PRIMARY KEY, topic_partition INTEGER NOT NULL, last_offset INTEGER NOT NULL, content BLOB NOT NULL);
        CREATE INDEX by_end ON pack(topic_partition, last_offset);
        CREATE INDEX by_root ON result("root") WHERE "root" IS NOT NULL;
        CREATE INDEX by_parent ON result("parent") WHERE "parent" IS NOT NULL;
        """

    /// Made when the first reading is done, which takes half the time then. The first two are enough for most queries.
    private static let indices =
        [
            "by_time": "time, topic_partition, topic_offset, ending, sender, handling",
            "by_ending": "ending, time, sender, handling",
            "by_request": "\"request\"",
            "by_origin": "origin_offset, \"partition\"",
        ] as KeyValuePairs

    let database: Database
    /// A number that no other making of this index has.
    private(set) var epoch: Int64 = 0
    /// The reason for which the whole content of the file was given up, or nil if nothing was.
    private(set) var flaw: IndexFlaw?

    /// Opens the index of a topic, and makes it where there is none.
    init(path: String, cluster: String, topic: String) throws(SQLiteError) {
        database = try Self.open(path)
        let (cluster, topic) = (Array(cluster.utf8), Array(topic.utf8))
        flaw = try findFlaw(cluster, topic)
        if flaw != nil { try database.reset() }
        try make(cluster, topic)
    }

    /// Opens an index of the given epoch to query it. Nothing is made, and `ask` finds out whether it is the one.
    init(asking path: String, epoch: Int64) throws(SQLiteError) {
        database = try Self.open(path)
        self.epoch = epoch
    }

    private static func open(_ path: String) throws(SQLiteError) -> Database {
        let database = try Database(path: path, waiting: patience)
        // Temporary tables and sorting stay in memory. The log grows to 64 MiB before it is worked off, for the first reading's sake.
        // A page holds one pack. Larger ones make the first reading 3 % cheaper, and a small addition writes twice as much.
        try database.execute(
            """
            PRAGMA page_size = 8192; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -65536;
            PRAGMA wal_autocheckpoint = 8192; PRAGMA journal_size_limit = 1048576;
            CREATE TEMP TABLE IF NOT EXISTS wanted(id INTEGER PRIMARY KEY);
            CREATE TEMP TABLE IF NOT EXISTS chosen(id INTEGER PRIMARY KEY);
            """)
        try database.define("has_pattern") { pattern, text in text.matches(pattern) }
        return database
    }

    /// Empties a file that `init` or a query found damaged.
    static func reset(path: String) throws(SQLiteError) {
        let database = try Database(path: path, waiting: patience)
        try database.reset()
        // It stays recognisable as an index.
        try database.execute("PRAGMA application_id = \(IndexLocation.applicationID)")
    }

    /// True if no command has rebuilt the index since it was opened. Called in the transaction that relies on it.
    func isSame() throws(SQLiteError) -> Bool {
        try database.integer("SELECT epoch FROM source") == epoch
    }

    /// Makes the indices that queries need, unless they exist.
    ///
    /// - Parameter note: Gets the progress before each, and at the end.
    /// - Throws: What SQLite says.
    func finishFilling(_ note: (ReadingProgress) -> Void = { _ in }) throws(SQLiteError) {
        let count = try database.integer("SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
        guard count != 7 else { return }
        defer { note(.sorting(done: Self.indices.count, of: Self.indices.count)) }
        for (number, (name, columns)) in Self.indices.enumerated() {
            note(.sorting(done: number, of: Self.indices.count))
            try database.execute("CREATE INDEX IF NOT EXISTS \(name) ON result(\(columns))")
        }
    }

    /// The reason for which the file is of no use, or nil when it is usable or empty.
    private func findFlaw(_ cluster: [UInt8], _ topic: [UInt8]) throws(SQLiteError) -> IndexFlaw? {
        try database.read { () throws(SQLiteError) in
            if try database.integer("SELECT count(*) FROM sqlite_schema") == 0 { return nil }
            guard try database.integer("PRAGMA application_id") == Int64(IndexLocation.applicationID),
                try database.integer("PRAGMA user_version") == Int64(Self.version)
            else { return .otherVersion }
            let source = try database.prepare("SELECT cluster, topic FROM source")
            let isOurs = try source.step() && source.bytes(0) == cluster && source.bytes(1) == topic
            source.reset()
            return isOurs ? nil : .otherSource
        }
    }

    private func make(_ cluster: [UInt8], _ topic: [UInt8]) throws(SQLiteError) {
        try database.write { () throws(SQLiteError) in
            // Another command may have been quicker.
            guard try database.integer("SELECT count(*) FROM sqlite_schema") == 0 else { return }
            try database.execute(Self.tables)
            let source = try database.prepare("INSERT INTO source VALUES (?, ?, random())")
            try source.bind(cluster, at: 0)
            try source.bind(topic, at: 1)
            try source.run()
            try database.execute(
                "PRAGMA application_id = \(IndexLocation.applicationID); PRAGMA user_version = \(Self.version)")
        }
        // It cannot change while others use the file, and then it is what they made it.
        do { try database.execute("PRAGMA journal_mode = WAL") } catch  where error.isBusy {}
        epoch = try database.integer("SELECT epoch FROM source") ?? 0
    }
}
