import HubServer
import SQLite

/// A value of a statement or a row.
enum RowValue {
    case number(Int64?)
    case bytes([UInt8]?)
}

extension HubConnection {
    /// Carries out a statement that gives no rows.
    func run(_ sql: StaticString, with values: [RowValue]) throws(RefusedCall) {
        let statement = try statement(sql)
        try storing { () throws(SQLiteError) in
            try statement.bind(values)
            try statement.run()
        }
    }

    /// The first row, as `read` takes it, or nil for none.
    func row<Row>(
        _ sql: StaticString, with values: [RowValue], read: (Statement) throws(RefusedCall) -> Row
    ) throws(RefusedCall) -> Row? {
        let statement = try statement(sql)
        defer { statement.reset() }
        let isThere = try storing { () throws(SQLiteError) in
            try statement.bind(values)
            return try statement.step()
        }
        return isThere ? try read(statement) : nil
    }

    /// Every row, as `read` takes it.
    func rows<Row>(
        _ sql: StaticString, with values: [RowValue], read: (Statement) throws(RefusedCall) -> Row
    ) throws(RefusedCall) -> [Row] {
        let statement = try statement(sql)
        defer { statement.reset() }
        try storing { () throws(SQLiteError) in try statement.bind(values) }
        var rows: [Row] = []
        while try storing({ () throws(SQLiteError) in try statement.step() }) { rows.append(try read(statement)) }
        return rows
    }
}

extension Statement {
    /// Sets the values, from the first place on.
    func bind(_ values: [RowValue]) throws(SQLiteError) {
        for (index, value) in values.enumerated() {
            switch value {
            case .number(let number): try bind(number, at: index)
            case .bytes(let bytes): try bind(bytes, at: index)
            }
        }
    }

    /// A whole number that is never missing.
    func number(_ column: Int) throws(RefusedCall) -> Int64 {
        guard let number = integer(column) else { throw .unreadable }
        return number
    }

    /// Bytes that are never missing.
    func blob(_ column: Int) throws(RefusedCall) -> [UInt8] {
        guard let bytes = bytes(column) else { throw .unreadable }
        return bytes
    }
}
