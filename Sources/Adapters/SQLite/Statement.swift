import CSQLite

/// A prepared statement: bind its values, then step from row to row.
///
/// Places of values and columns count from 0. Bytes are blobs: they may hold anything, and are compared byte by byte. Texts and blobs are
/// different values, even with the same bytes.
public final class Statement {
    private let pointer: OpaquePointer
    private let database: Database

    init(_ pointer: OpaquePointer, of database: Database) {
        self.pointer = pointer
        self.database = database
    }

    deinit {
        sqlite3_finalize(pointer)
    }

    /// Sets a value. Nil is NULL.
    ///
    /// - Throws: There is no such place, or a row is being looked at.
    public func bind(_ value: Int64?, at index: Int) throws(SQLiteError) {
        let place = Int32(clamping: index + 1)
        let code = value.map { sqlite3_bind_int64(pointer, place, $0) } ?? sqlite3_bind_null(pointer, place)
        try SQLiteError.check(code, in: database.pointer)
    }

    /// Sets a value that is a copy of bytes.
    ///
    /// - Throws: As for numbers, or there are more bytes than SQLite takes.
    public func bind(_ bytes: Span<UInt8>, at index: Int) throws(SQLiteError) {
        let place = Int32(clamping: index + 1)
        let code = bytes.withUnsafeBytes { push_sqlite_bind_blob(pointer, place, $0.baseAddress, UInt64($0.count)) }
        try SQLiteError.check(code, in: database.pointer)
    }

    /// Sets a value that is a copy of bytes. Nil is NULL.
    ///
    /// - Throws: As for bytes in a span.
    public func bind(_ bytes: [UInt8]?, at index: Int) throws(SQLiteError) {
        if let bytes { try bind(bytes.span, at: index) } else { try bind(Int64?.none, at: index) }
    }

    /// Sets a value that is a copy of a text. Nil is NULL.
    ///
    /// - Throws: As for bytes in a span.
    public func bind(_ text: String?, at index: Int) throws(SQLiteError) {
        guard var text else { return try bind(Int64?.none, at: index) }
        let place = Int32(clamping: index + 1)
        let code = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                push_sqlite_bind_text(pointer, place, $0.baseAddress, UInt64($0.count))
            }
        }
        try SQLiteError.check(code, in: database.pointer)
    }

    /// Goes to the next row.
    ///
    /// - Returns: Whether there is one; when there is not, the statement can be carried out again.
    /// - Throws: The statement failed; it can be carried out again.
    public func step() throws(SQLiteError) -> Bool {
        let code = sqlite3_step(pointer)
        if code == SQLITE_ROW { return true }
        let error = code == SQLITE_DONE ? nil : SQLiteError(code, of: database.pointer)
        sqlite3_reset(pointer)
        if let error { throw error }
        return false
    }

    /// Carries out a statement that gives no rows.
    ///
    /// - Throws: The statement failed.
    public func run() throws(SQLiteError) {
        while try step() {}
    }

    /// Ends looking at rows before the last, so that other values can be bound.
    public func reset() {
        sqlite3_reset(pointer)
    }

    /// A whole number of the row, or nil for NULL.
    public func integer(_ column: Int) -> Int64? {
        let column = Int32(clamping: column)
        return sqlite3_column_type(pointer, column) == SQLITE_NULL ? nil : sqlite3_column_int64(pointer, column)
    }

    /// A text of the row, or nil for NULL. Bytes that are no UTF-8 are replaced.
    public func text(_ column: Int) -> String? {
        withBytes(column) { bytes in bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }
    }

    /// A copy of bytes of the row, or nil for NULL.
    public func bytes(_ column: Int) -> [UInt8]? {
        withBytes(column) { bytes in bytes.withUnsafeBufferPointer { Array($0) } }
    }

    /// Lets `body` look at bytes of the row, which are gone when it returns.
    ///
    /// - Returns: What `body` returns; nil for NULL.
    public func withBytes<Result>(_ column: Int, body: (Span<UInt8>) -> Result) -> Result? {
        let column = Int32(clamping: column)
        guard sqlite3_column_type(pointer, column) != SQLITE_NULL else { return nil }
        // In this order: the first converts, the second counts what was converted (sqlite.org, Result Values From A Query).
        let start = sqlite3_column_blob(pointer, column)
        let bytes = UnsafeBufferPointer(
            start: start?.assumingMemoryBound(to: UInt8.self), count: Int(sqlite3_column_bytes(pointer, column)))
        return body(bytes.span)
    }
}
