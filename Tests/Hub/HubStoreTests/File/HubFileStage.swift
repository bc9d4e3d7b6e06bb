import Foundation
import HTTPServing
import HubServer
import SQLite
import TestSupport
import Testing

@testable import HubStore

/// A folder for a hub's file with a table of numbers and bytes beside those of the hub.
final class HubFileStage {
    static let schema = Schema(steps: [Schema.current.steps[0] + "CREATE TABLE t(n INTEGER, b BLOB);"])

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    var path: String { folder.path("hub.db") }

    func path(_ name: String) -> String { folder.path(name) }

    func open(
        key: [UInt8]? = nil, schema: Schema = HubFileStage.schema, batchTime: Duration = .milliseconds(20),
        patience: Duration = .seconds(10)
    ) throws(HubFileError) -> HubFile {
        var terms = HubFileTerms(path: path, handleKey: key)
        (terms.batchTime, terms.patience) = (batchTime, patience)
        return try HubFile(terms, schema: schema)
    }

    /// Carries out statements on a connection of no hub.
    func execute(_ sql: String, in name: String = "hub.db") throws {
        try Database(path: path(name), waiting: .zero).execute(sql)
    }

    /// The error of opening the file, or nil.
    func fault(key: [UInt8]? = nil, schema: Schema = HubFileStage.schema) -> HubFileError? {
        do throws(HubFileError) { try open(key: key, schema: schema).close() } catch { return error }
        return nil
    }
}

extension HubConnection {
    func insert(_ number: Int64, byteCount: Int = 0) throws(RefusedCall) {
        let statement = try statement("INSERT INTO t VALUES (?, zeroblob(?))")
        try storing { () throws(SQLiteError) in
            try statement.bind(number, at: 0)
            try statement.bind(Int64(byteCount), at: 1)
            try statement.run()
        }
    }

    func numbers() throws(RefusedCall) -> [Int64] {
        let statement = try statement("SELECT n FROM t ORDER BY n")
        return try storing { () throws(SQLiteError) in
            var numbers: [Int64] = []
            while try statement.step() { numbers.append(statement.integer(0) ?? -1) }
            return numbers
        }
    }

    func execute(_ sql: String) throws(RefusedCall) {
        try storing { () throws(SQLiteError) in try database.execute(sql) }
    }
}

extension HubFile {
    var numbers: [Int64] {
        get throws(RefusedCall) { try read { (connection) throws(RefusedCall) in try connection.numbers() } }
    }

    func insert(_ number: Int64, byteCount: Int = 0) throws(RefusedCall) {
        try change { (connection) throws(RefusedCall) in try connection.insert(number, byteCount: byteCount) }
    }

    /// Sets the greatest number of pages, as if the disk had no more: the present number and `room`, or nil for no limit.
    func limitPages(to room: Int64?) throws(RefusedCall) {
        try change { (connection) throws(RefusedCall) in
            try connection.storing { () throws(SQLiteError) in
                let count = try connection.database.integer("PRAGMA page_count") ?? 0
                try connection.database.execute("PRAGMA max_page_count = \(room.map { count + $0 } ?? 1 << 30)")
            }
        }
    }
}

/// Expects a refusal with 503 and `Retry-After`, and returns its detail.
@discardableResult
func expectUnavailable(
    _ body: () throws(RefusedCall) -> Void, sourceLocation: SourceLocation = #_sourceLocation
) -> String {
    do throws(RefusedCall) { try body() } catch {
        #expect(error.answer.status == 503, sourceLocation: sourceLocation)
        #expect(error.answer.headers["Retry-After"] != nil, sourceLocation: sourceLocation)
        return error.answer.detail ?? ""
    }
    Issue.record("nothing was refused", sourceLocation: sourceLocation)
    return ""
}
