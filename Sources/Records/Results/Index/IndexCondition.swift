import PushModel
import ResultQuery
import SQLite

/// A filter as a condition on the rows of the index.
///
/// Terms about parts are evaluated on each part once. The numbers of the parts that fit stand in the table `wanted`. Terms about
/// numbers and ids become SQL, in which `has_pattern` compares with `*` as filters do.
struct IndexCondition {
    private enum Value {
        case number(Int64)
        case bytes([UInt8])
    }

    /// Goes behind `WHERE`.
    private(set) var sql: String
    /// It names ids, so there are few such rows, and an index leads to them.
    private(set) var namesIDs = false
    private var values: [Value] = []

    /// Rows of results, or of any records, that were written in the filter's time.
    init(timeOf filter: ResultFilter, results isForResults: Bool) {
        sql = isForResults ? "ending IS NOT NULL" : "1"
        if let since = filter.since { add("time >= ?", [.number(since)]) }
        if let until = filter.until { add("time < ?", [.number(until)]) }
    }

    /// Rows that match a filter. Fills the table `wanted`.
    init(_ filter: ResultFilter, in database: Database) throws(SQLiteError) {
        self.init(timeOf: filter, results: true)
        try database.execute("DELETE FROM temp.wanted")
        for facet in ResultFacet.allCases where filter.asks(about: facet) {
            try Self.want(facet, filter, database)
            add("\(facet.column) IN (SELECT id FROM temp.wanted)", [])
        }
        for (field, term) in filter.singularTerms { add(field, term) }
    }

    /// Fills in the values, and returns the place of the next one.
    @discardableResult
    func bind(to statement: Statement, at start: Int = 0) throws(SQLiteError) -> Int {
        for (index, value) in values.enumerated() {
            switch value {
            case .number(let number): try statement.bind(number, at: start + index)
            case .bytes(let bytes): try statement.bind(bytes, at: start + index)
            }
        }
        return start + values.count
    }

    private static func want(_ facet: ResultFacet, _ filter: ResultFilter, _ database: Database) throws(SQLiteError) {
        let parts = try database.prepare("SELECT id, part FROM facet WHERE kind = ?")
        let insert = try database.prepare("INSERT INTO temp.wanted VALUES (?)")
        try parts.bind(facet.rawValue, at: 0)
        var document = JSONDocument()
        while try parts.step() {
            guard parts.withBytes(1, body: { document.readPart($0) }) == true, filter.matches(document, as: facet) else {
                continue
            }
            try insert.bind(parts.integer(0), at: 0)
            try insert.run()
        }
    }

    private mutating func add(_ condition: String, _ more: [Value]) {
        sql += " AND " + condition
        values += more
    }

    private mutating func add(_ field: ResultField, _ term: ResultFilter.Term) {
        let column = "\"\(field.rawValue)\""
        var equals: [Value] = []
        var others: [(condition: String, value: Value)] = []
        for value in term.values {
            switch value {
            case .text(let bytes) where field.values == .text: equals.append(.bytes(bytes))
            case .pattern(let bytes) where field.values == .text:
                others.append(("has_pattern(?, \(column))", .bytes(bytes)))
            case .number(.equal, let number) where field.values != .text: equals.append(.number(number))
            case .number(let comparison, let number) where field.values != .text:
                others.append(("\(column) \(comparison.rawValue) ?", .number(number)))
            // The grammar has no text for a number, and no number for a text.
            case .text, .number, .pattern: continue
            }
        }
        // An empty list holds nothing (sqlite.org, The IN and NOT IN operators).
        let list = "\(column) IN (\(equals.map { _ in "?" }.joined(separator: ", ")))"
        let choices = ([list] + others.map(\.condition)).joined(separator: " OR ")
        // A row without the value has none of the values, which is what a negated term asks for.
        add(term.isNegated ? "NOT ifnull(\(choices), 0)" : "(\(choices))", equals + others.map(\.value))
        if field.values == .text, !term.isNegated, others.isEmpty { namesIDs = true }
    }
}
