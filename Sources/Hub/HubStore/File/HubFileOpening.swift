import Crypto
import SQLite

/// The way from a path to connections that may be used. There are none to a file that is not a hub's.
struct HubFileOpening: Sendable {
    /// Longest wait for a lock of SQLite, which checks and backups by other processes hold for moments.
    static let patience = Duration.seconds(5)
    /// Pages of the log from which on each commit tries to work it off.
    private static let logPageCount = 1000
    /// The length to which a log that has grown longer is cut when it begins from the start again.
    private static let keptLogByteCount = 16 << 20

    /// The path, without symbolic links.
    let path: String
    let seal: HandleSeal
    private let schema: Schema

    /// A way to a file.
    ///
    /// - Parameters:
    ///   - path: The path, without symbolic links.
    ///   - key: The key that seals its handles, or nil.
    ///   - schema: Its tables.
    /// - Throws: `.unusable` for a key of another length.
    init(_ path: String, key: [UInt8]?, schema: Schema) throws(HubFileError) {
        guard key?.count ?? AES256GCM.keyByteCount == AES256GCM.keyByteCount else {
            throw .unusable(path: path, reason: "the key of its handles has not \(AES256GCM.keyByteCount) bytes")
        }
        do throws(CryptoError) { seal = try HandleSeal(key: key) } catch {
            throw .unusable(path: path, reason: error.description)
        }
        (self.path, self.schema) = (path, schema)
    }

    /// The connection that writes. The file is made, or moved up to the present version, where need be.
    func writer(cacheByteCount: Int) throws(HubFileError) -> sending HubConnection {
        let database = try open(cacheByteCount: cacheByteCount)
        let version = try version(of: database)
        if version > 0 { try checkSeal(in: database) }
        try useLog(of: database)
        // Each commit waits for the disk, so a power failure takes nothing back that was acknowledged. Rows that are removed are overwritten.
        try use { () throws(SQLiteError) in
            try database.execute(
                """
                PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
                PRAGMA wal_autocheckpoint = \(Self.logPageCount); PRAGMA journal_size_limit = \(Self.keptLogByteCount);
                """)
        }
        do throws(SQLiteError) { try schema.migrate(database, from: version) } catch {
            guard !error.isDamage, !error.isOfDisk else { throw HubFileError(error, of: path) }
            throw .unusable(path: path, reason: "it cannot be moved up to version \(schema.version): \(error.message)")
        }
        try use { () throws(SQLiteError) in
            let insert = try database.prepare("INSERT OR IGNORE INTO meta VALUES ('seal', ?)")
            try insert.bind(seal.check, at: 0)
            try insert.run()
        }
        return HubConnection(database, seal: seal)
    }

    /// Lets the file have a write-ahead log, without which readings and changes would wait for one another.
    private func useLog(of database: Database) throws(HubFileError) {
        let mode = try use { () throws(SQLiteError) -> String? in
            let choice = try database.prepare("PRAGMA journal_mode = WAL")
            defer { choice.reset() }
            return try choice.step() ? choice.text(0) : nil
        }
        guard mode == "wal" else { throw .unusable(path: path, reason: "its file system allows no write-ahead log") }
    }

    /// A connection that reads.
    func reader(cacheByteCount: Int) throws(HubFileError) -> sending HubConnection {
        let database = try open(cacheByteCount: cacheByteCount)
        // It opens the log here, not later, when another may be at its place.
        _ = try version(of: database)
        try use { () throws(SQLiteError) in try database.execute("PRAGMA query_only = ON") }
        return HubConnection(database, seal: seal)
    }

    /// A connection for a command beside the process that has the file open, which may also be none.
    func visitor() throws(HubFileError) -> sending HubConnection {
        guard FileSet.isThere(path) else { throw .unusable(path: path, reason: "there is no such file") }
        let database = try open(cacheByteCount: 4 << 20)
        let version = try version(of: database)
        guard version == schema.version else {
            throw .unusable(path: path, reason: "it is of version \(version), which pushfan hub moves up when it starts")
        }
        try use { () throws(SQLiteError) in try database.execute("PRAGMA query_only = ON") }
        return HubConnection(database, seal: seal)
    }

    private func open(cacheByteCount: Int) throws(HubFileError) -> sending Database {
        do throws(SQLiteError) {
            let database = try Database(path: path, waiting: Self.patience)
            try database.execute("PRAGMA temp_store = MEMORY; PRAGMA cache_size = -\(cacheByteCount >> 10)")
            return database
        } catch {
            throw HubFileError(error, of: path)
        }
    }

    /// The version of a file of a hub, 0 for an empty one.
    private func version(of database: Database) throws(HubFileError) -> Int64 {
        switch try use({ () throws(SQLiteError) in try Schema.verdict(on: database) }) {
        case .foreign: throw .foreign(path: path)
        case .version(let found) where found > schema.version: throw .newer(path: path, version: found)
        case .version(let found): return found
        case .empty: return 0
        }
    }

    /// Compares the key with the one that the file was made with.
    func checkSeal(in database: Database) throws(HubFileError) {
        let kept = try use { () throws(SQLiteError) -> [UInt8] in
            let select = try database.prepare("SELECT value FROM meta WHERE name = 'seal'")
            defer { select.reset() }
            return try select.step() ? select.bytes(0) ?? [] : seal.check
        }
        guard kept != seal.check else { return }
        if kept.isEmpty { throw .unusable(path: path, reason: "its handles are plain, and the settings have a key for them") }
        if seal.isSealing { throw .wrongKey(path: path) }
        throw .unusable(path: path, reason: "its handles are sealed, and the settings have no key for them")
    }

    private func use<Result>(_ body: () throws(SQLiteError) -> Result) throws(HubFileError) -> Result {
        do throws(SQLiteError) { return try body() } catch { throw HubFileError(error, of: path) }
    }
}
