import Foundation
import HubServer
import SQLite
import TestSupport
import Testing

@testable import HubStore

@Suite(.tags(.c)) struct SchemaTests {
    private static let first =
        "CREATE TABLE meta(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID; CREATE TABLE t(n INTEGER, b BLOB);"
    private static let second = "CREATE TABLE u(n INTEGER); INSERT INTO u SELECT n + 1 FROM t; DELETE FROM t WHERE n = 1;"
    private static let mark = "PRAGMA application_id = \(Schema.applicationID);"

    private let stage: HubFileStage

    init() throws { stage = try HubFileStage() }

    private func makeFirst() throws {
        try stage.execute("\(Self.first) INSERT INTO t(n) VALUES (1), (2); \(Self.mark) PRAGMA user_version = 1;")
    }

    @Test func aFileOfAnEarlierVersionMovesUpWithItsRows() throws {
        try makeFirst()
        let file = try stage.open(schema: Schema(steps: [Self.first, Self.second, "UPDATE u SET n = n * 10;"]))
        defer { file.close() }
        #expect(try file.numbers == [2])
        let sum = try file.read { (connection) throws(RefusedCall) in
            try connection.storing { () throws(SQLiteError) in
                [
                    try connection.database.integer("SELECT sum(n) FROM u"),
                    try connection.database.integer("PRAGMA user_version"),
                ]
            }
        }
        #expect(sum == [50, 3])
    }

    @Test func aMoveThatFailsInTheMiddleLeavesTheFileAsItWas() throws {
        try makeFirst()
        let broken = Schema(steps: [Self.first, Self.second, "UPDATE nothing SET n = 1;"])
        let fault = stage.fault(schema: broken)
        #expect(fault?.description.contains("cannot be moved up to version 3") == true)
        let file = try stage.open(schema: Schema(steps: [Self.first]))
        defer { file.close() }
        #expect(try file.numbers == [1, 2])
        let tables = try file.read { (connection) throws(RefusedCall) in
            try connection.storing { () throws(SQLiteError) in
                try connection.database.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'u'")
            }
        }
        #expect(tables == 0)
    }

    @Test func aFileWithAnotherKeyIsNotMovedUp() throws {
        let keys = [1, 2].map { [UInt8](repeating: $0, count: 32) }
        let (first, second) = (Schema(steps: [Self.first]), Schema(steps: [Self.first, Self.second]))
        try stage.open(key: keys[0], schema: first).close()
        #expect(stage.fault(key: keys[1], schema: second) == .wrongKey(path: stage.path))
        #expect(stage.fault(key: keys[0], schema: first) == nil, "it is of the first version still")
        #expect(stage.fault(key: keys[0], schema: second) == nil)
        #expect(stage.fault(key: keys[0], schema: first) == .newer(path: stage.path, version: 2))
    }

    @Test func aFileThatWasBegunByAKilledProcessIsMade() throws {
        // It has a first page, and no table yet.
        try stage.execute("PRAGMA journal_mode = WAL")
        let file = try stage.open()
        defer { file.close() }
        try file.insert(1)
        #expect(try file.numbers == [1])
    }

    @Test func aNewerFileIsLeftAlone() throws {
        let file = try stage.open(schema: Schema(steps: [Self.first, Self.second]))
        file.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: stage.path))
        let fault = stage.fault(schema: Schema(steps: [Self.first]))
        #expect(fault == .newer(path: stage.path, version: 2))
        #expect(try Data(contentsOf: URL(fileURLWithPath: stage.path)) == before)
    }

    @Test func aNewFileHasTheTablesOfThePresentVersion() throws {
        let file = try HubFile(HubFileTerms(path: stage.path))
        defer { file.close() }
        let found = try file.read { (connection) throws(RefusedCall) in
            try connection.storing { () throws(SQLiteError) in
                [
                    try connection.database.integer("PRAGMA user_version"),
                    try connection.database.integer("PRAGMA application_id"),
                ]
            }
        }
        #expect(found == [Schema.current.version, Schema.applicationID])
    }
}
