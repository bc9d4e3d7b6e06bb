import SQLite

/// The publication of the oldest request that stands in each hour because it is due then. To read such an hour again, reading has to
/// begin there.
struct DueOrigins {
    /// The table, in the file of positions.
    static let table = "CREATE TABLE due(hour INTEGER PRIMARY KEY, oldest INTEGER NOT NULL);"

    private let state: Database
    private var oldest: [Int64: Int64] = [:]

    /// Those that are kept.
    init(_ state: Database) throws(SQLiteError) {
        self.state = state
        let rows = try state.prepare("SELECT hour, oldest FROM due")
        while try rows.step() { if let hour = rows.integer(0) { oldest[hour] = rows.integer(1) } }
    }

    /// The moment since which an hour's requests were published, in milliseconds since 1970.
    func beginning(of hour: Int64) -> Int64 { min(IndexHour.start(of: hour), oldest[hour] ?? .max) }

    /// Notes rows that are added to an hour, before they are.
    mutating func note(_ numbers: [Int], of rows: borrowing RequestRows, hour: Int64) throws(SQLiteError) {
        var first = Int64.max
        for number in numbers where rows.rows[number].isDue {
            first = min(first, rows.rows[number].published ?? rows.rows[number].time)
        }
        guard first < oldest[hour] ?? .max else { return }
        try state.execute("INSERT OR REPLACE INTO due VALUES (\(hour), \(first))")
        oldest[hour] = first
    }

    /// Forgets an hour that does not come again.
    mutating func forget(_ hour: Int64) throws(SQLiteError) {
        guard oldest.removeValue(forKey: hour) != nil else { return }
        try state.execute("DELETE FROM due WHERE hour = \(hour)")
    }
}
