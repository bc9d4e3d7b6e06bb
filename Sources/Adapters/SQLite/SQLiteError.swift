import CSQLite

/// A failure, in SQLite's own terms (sqlite.org, Result and Error Codes).
public struct SQLiteError: Error, Sendable, Equatable {
    /// The primary result code.
    public let code: Int32
    /// One sentence for a person, which names no value that was bound.
    public let message: String

    /// An error of `database`, or with the library's own words for the code when there is no database.
    init(_ code: Int32, of database: OpaquePointer? = nil) {
        // The extended codes keep the primary one in their low byte.
        self.code = code & 0xFF
        message = String(cString: database.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
    }

    /// An error with a sentence of this module.
    init(_ code: Int32, message: String) {
        self.code = code
        self.message = message
    }

    /// A fault in the content of a file that SQLite finds in order.
    public static func damage(_ message: String) -> SQLiteError { SQLiteError(SQLITE_CORRUPT, message: message) }

    /// The end of a query that lasted for too long.
    public static let interruption = SQLiteError(SQLITE_INTERRUPT)

    /// The file is no database, or its pages contradict one another.
    public var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

    /// Another connection used the file for longer than the wait.
    public var isBusy: Bool { code == SQLITE_BUSY || code == SQLITE_LOCKED }

    /// The disk is full, or fails.
    public var isOfDisk: Bool { code == SQLITE_FULL || code == SQLITE_IOERR }

    /// The statement lasted for too long.
    public var isInterruption: Bool { code == SQLITE_INTERRUPT }

    /// The file is none of a database, or so damaged that it does not look like one.
    public var isNoDatabase: Bool { code == SQLITE_NOTADB }

    /// The statement itself is not right, or contradicts what is stored. Everything else may be done as before.
    public var isOfStatement: Bool {
        [SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG, SQLITE_RANGE, SQLITE_MISUSE, SQLITE_INTERRUPT]
            .contains(code)
    }

    /// Throws unless `code` says that all is well.
    static func check(_ code: Int32, in database: OpaquePointer?) throws(SQLiteError) {
        guard code == SQLITE_OK else { throw SQLiteError(code, of: database) }
    }
}

extension SQLiteError: CustomStringConvertible {
    /// The sentence.
    public var description: String { message }
}
