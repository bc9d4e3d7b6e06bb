import SQLite

/// The tables of a hub's file, and the steps in which those of earlier versions came to them.
struct Schema: Sendable {
    /// Stands in the header of every such file (sqlite.org, Database File Format, section 1.3), so that no other file is written to.
    static let applicationID: Int64 = 0x7066_6862

    /// The layout that this program writes. A step stays as it is once it was released: another goes to the end.
    static let current = Schema(steps: [
        "CREATE TABLE meta(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;" + DeviceTables.sql + MessageTables.sql
    ])

    /// Each leads from the version of its index to the next. The first makes the tables of an empty file.
    let steps: [String]

    /// The version that the last step leads to.
    var version: Int64 { Int64(steps.count) }

    /// The state of a file.
    enum Verdict: Equatable {
        case empty
        /// A file of a hub, at this version.
        case version(Int64)
        case foreign
    }

    /// Looks at a file without writing to it.
    static func verdict(on database: Database) throws(SQLiteError) -> Verdict {
        try database.read { () throws(SQLiteError) in
            if try database.integer("SELECT count(*) FROM sqlite_schema") == 0 { return .empty }
            guard try database.integer("PRAGMA application_id") == applicationID else { return .foreign }
            return .version(try database.integer("PRAGMA user_version") ?? 0)
        }
    }

    /// Moves a file up to this version, all the steps or none.
    func migrate(_ database: Database, from version: Int64) throws(SQLiteError) {
        guard version < self.version else { return }
        try database.write { () throws(SQLiteError) in
            for step in steps.dropFirst(Int(version)) { try database.execute(step) }
            try database.execute("PRAGMA application_id = \(Self.applicationID); PRAGMA user_version = \(self.version)")
        }
    }
}
