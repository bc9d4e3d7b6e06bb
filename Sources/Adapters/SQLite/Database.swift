import Basics
import CSQLite
import Glibc

/// One connection to a database in a file.
///
/// Belongs to one thread; other connections, also those of other processes, may use the file at the same time. Statements keep their
/// database: it is closed when the last of them is gone.
public final class Database {
    let pointer: OpaquePointer
    /// The path of the file.
    public let path: String
    private let patience: Duration
    private var interruption: InterruptionCondition?

    /// Opens a file. One that is not there is made, and only its owner may read it.
    ///
    /// Nothing is read yet: that a file is no database shows in the first statement.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - patience: How long a statement waits for others who write.
    /// - Throws: The file cannot be opened or made.
    public init(path: String, waiting patience: Duration) throws(SQLiteError) {
        // SQLite gives the files beside it the same permissions. A file that is there is not opened here: closing it would end the locks that
        // other connections of this process hold (sqlite.org, How To Corrupt An SQLite Database File, section 2.2).
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 || (errno == EEXIST && access(path, R_OK | W_OK) == 0) else {
            let isFull = errno == ENOSPC || errno == EDQUOT
            throw SQLiteError(
                isFull ? SQLITE_FULL : SQLITE_CANTOPEN, message: "\(path): \(String(cString: strerror(errno)))")
        }
        if file >= 0 { close(file) }
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            let error = SQLiteError(code, of: opened)
            sqlite3_close_v2(opened)
            throw error
        }
        pointer = opened
        self.path = path
        self.patience = patience
        sqlite3_busy_timeout(opened, patience.timeoutMilliseconds)
    }

    deinit {
        sqlite3_close_v2(pointer)
    }

    /// Ends statements that last for too long: they fail, and change nothing. A condition given before is replaced.
    ///
    /// - Parameter isOver: Asked every 1,000 steps of SQLite's machine, which take some 50 µs. True ends the statement that is carried out.
    public func interrupt(when isOver: @escaping () -> Bool) {
        let interruption = InterruptionCondition(isOver)
        sqlite3_progress_handler(pointer, 1000, askForInterruption, Unmanaged.passUnretained(interruption).toOpaque())
        // The one before is let go of once SQLite does not know it any more.
        self.interruption = interruption
    }

    /// Carries out statements that take no values and give none.
    ///
    /// - Parameter sql: One statement or several with semicolons.
    /// - Throws: What SQLite says of the first that fails.
    public func execute(_ sql: String) throws(SQLiteError) {
        try SQLiteError.check(sqlite3_exec(pointer, sql, nil, nil, nil), in: pointer)
    }

    /// Makes a statement that can be carried out again and again.
    ///
    /// - Parameter sql: One statement; `?` stands for each value.
    /// - Returns: The statement.
    /// - Throws: The statement is not right, or the file is none of a database.
    public func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        var prepared: OpaquePointer?
        try SQLiteError.check(sqlite3_prepare_v2(pointer, sql, -1, &prepared, nil), in: pointer)
        guard let prepared else { throw SQLiteError(SQLITE_MISUSE, message: "there is no statement in '\(sql)'") }
        return Statement(prepared, of: self)
    }

    /// Asks for one whole number.
    ///
    /// - Parameter sql: One statement without values.
    /// - Returns: The first value of the first row; nil when there is no row, or it is NULL.
    /// - Throws: The statement fails.
    public func integer(_ sql: String) throws(SQLiteError) -> Int64? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : nil
    }

    /// Carries out all of `body` or, if it throws, nothing. Others read what was there before until it is done, and do not write.
    ///
    /// - Parameter body: What to do.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or SQLite says of the transaction.
    public func write<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        try transaction("BEGIN IMMEDIATE", body: body)
    }

    /// Shows all statements in `body` the same state, whatever others write meanwhile.
    ///
    /// - Parameter body: What to ask.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or SQLite says of the transaction.
    public func read<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        try transaction("BEGIN", body: body)
    }

    private func transaction<Result>(
        _ beginning: String, body: () throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        try execute(beginning)
        do throws(SQLiteError) {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// True from `BEGIN` to the end of the transaction, which some errors bring about themselves (sqlite.org, ROLLBACK).
    public var isInTransaction: Bool { sqlite3_get_autocommit(pointer) == 0 }

    /// Takes back the transaction that has begun, if there is one.
    public func rollBack() {
        if isInTransaction { sqlite3_exec(pointer, "ROLLBACK", nil, nil, nil) }
    }

    /// Works off the write-ahead log and makes its file empty. No other connection writes meanwhile.
    ///
    /// - Parameter patience: The longest wait for others who read what is in the log only. They are not disturbed.
    /// - Returns: False if they still read it. The log keeps its length, and everything else is done.
    /// - Throws: The file cannot be written.
    public func emptyLog(waiting patience: Duration) throws(SQLiteError) -> Bool {
        sqlite3_busy_timeout(pointer, patience.timeoutMilliseconds)
        defer { sqlite3_busy_timeout(pointer, self.patience.timeoutMilliseconds) }
        let code = sqlite3_wal_checkpoint_v2(pointer, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        if code == SQLITE_BUSY { return false }
        try SQLiteError.check(code, in: pointer)
        return true
    }

    /// Empties the database, whatever is in the file, damage included. Others who have it open see that it is empty.
    ///
    /// - Throws: The file cannot be written, or others use it for too long.
    public func reset() throws(SQLiteError) {
        // The steps of sqlite.org, SQLITE_DBCONFIG_RESET_DATABASE; the first lets a write-ahead log stay one.
        sqlite3_exec(pointer, "SELECT count(*) FROM sqlite_schema", nil, nil, nil)
        push_sqlite_allow_reset(pointer, 1)
        defer { push_sqlite_allow_reset(pointer, 0) }
        try execute("VACUUM")
    }
}

/// The condition that SQLite asks about while a statement is carried out.
private final class InterruptionCondition {
    let isOver: () -> Bool

    init(_ isOver: @escaping () -> Bool) { self.isOver = isOver }
}

private func askForInterruption(_ interruption: UnsafeMutableRawPointer?) -> Int32 {
    guard let interruption else { return 0 }
    return Unmanaged<InterruptionCondition>.fromOpaque(interruption).takeUnretainedValue().isOver() ? 1 : 0
}
