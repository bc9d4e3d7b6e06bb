package import HubServer
package import SQLite

/// One connection to a hub's file, within one reading or change.
package final class HubConnection {
    package let database: Database
    package let seal: HandleSeal
    /// The statements, by the address of their text.
    private var statements: [UInt: Statement] = [:]
    /// The first error of the present reading or change that is not of a statement alone.
    private(set) var failure: SQLiteError?

    init(_ database: Database, seal: HandleSeal) { (self.database, self.seal) = (database, seal) }

    /// A statement that is prepared once, at its beginning. Its values are those of the last time until others are bound.
    ///
    /// - Parameter sql: One statement.
    /// - Returns: The same statement for the same text, so its rows are looked at to their end before it is asked for again.
    /// - Throws: 503.
    package func statement(_ sql: StaticString) throws(RefusedCall) -> Statement {
        let address = UInt(bitPattern: sql.utf8Start)
        if let statement = statements[address] {
            statement.reset()
            return statement
        }
        let statement = try storing { () throws(SQLiteError) in try database.prepare("\(sql)") }
        statements[address] = statement
        return statement
    }

    /// Uses the database. An error of it becomes a refusal, and one of the disk ends the whole change.
    package func storing<Result>(_ body: () throws(SQLiteError) -> Result) throws(RefusedCall) -> Result {
        do throws(SQLiteError) { return try body() } catch {
            if !error.isOfStatement, failure == nil { failure = error }
            throw Self.refusal(error.message)
        }
    }

    /// The value of a name, or nil.
    package func value(_ name: String) throws(RefusedCall) -> [UInt8]? {
        let statement = try statement("SELECT value FROM meta WHERE name = ?")
        defer { statement.reset() }
        return try storing { () throws(SQLiteError) in
            try statement.bind(name, at: 0)
            return try statement.step() ? statement.bytes(0) : nil
        }
    }

    /// Keeps a value by its name.
    package func setValue(_ name: String, to bytes: [UInt8]) throws(RefusedCall) {
        let statement = try statement("INSERT OR REPLACE INTO meta VALUES (?, ?)")
        try storing { () throws(SQLiteError) in
            try statement.bind(name, at: 0)
            try statement.bind(bytes, at: 1)
            try statement.run()
        }
    }

    /// Carries out a reading in a transaction of its own.
    func snapshot<Result>(_ body: (HubConnection) throws(RefusedCall) -> Result) throws(RefusedCall) -> Result {
        failure = nil
        try storing { () throws(SQLiteError) in try database.execute("BEGIN") }
        defer {
            resetStatements()
            database.rollBack()
        }
        return try body(self)
    }

    /// Carries out a change within the transaction that has begun. Throws the error that ends all of the transaction.
    ///
    /// - Returns: The refusal of the change, after which nothing of it is there.
    func perform(_ body: (HubConnection) throws(RefusedCall) -> Void) throws(SQLiteError) -> RefusedCall? {
        failure = nil
        try database.execute("SAVEPOINT change")
        var refusal: RefusedCall?
        do throws(RefusedCall) { try body(self) } catch { refusal = error }
        resetStatements()
        if let failure { throw failure }
        if refusal != nil { try database.execute("ROLLBACK TO change") }
        try database.execute("RELEASE change")
        return refusal
    }

    /// Writes for the sake of writing, and takes it back: it shows if there is room again.
    func attempt() throws(SQLiteError) {
        try database.execute("INSERT OR REPLACE INTO meta VALUES ('attempt', zeroblob(65536))")
        try database.execute("DELETE FROM meta WHERE name = 'attempt'")
    }

    /// Ends all looking at rows, which would hold on to the state that they show.
    private func resetStatements() {
        for statement in statements.values { statement.reset() }
    }

    /// The refusal of a call while a file cannot be used.
    static func refusal(_ reason: String) -> RefusedCall { .unavailable("The hub's file cannot be used now: \(reason)") }
}
