import Foundation
import SQLite
import TestSupport
import Testing

@Suite(.tags(.c)) struct DatabaseTests {
    /// A folder of its own for each test.
    private final class Folder {
        let path = NSTemporaryDirectory() + "sqlite-tests-" + UUID().uuidString

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        var file: String { path + "/a.sqlite" }

        func open(waiting patience: Duration = .seconds(5)) throws -> Database { try Database(path: file, waiting: patience) }
    }

    private let folder: Folder

    init() throws { folder = try Folder() }

    private static func count(_ database: Database) throws -> Int64? { try database.integer("SELECT count(*) FROM t") }

    @Test func valuesComeBackAsTheyWere() throws {
        let database = try folder.open()
        try database.execute("CREATE TABLE t(n, b)")
        let rows: [(Int64?, [UInt8]?)] = [
            (0, []), (.min, [0, 1, 0]), (.max, Array("é\u{0}é".utf8)), (nil, nil), (-1, [UInt8](repeating: 0xFF, count: 100_000)),
        ]
        let insert = try database.prepare("INSERT INTO t VALUES (?, ?)")
        for (number, bytes) in rows {
            try insert.bind(number, at: 0)
            try insert.bind(bytes, at: 1)
            try insert.run()
        }
        let select = try database.prepare("SELECT n, b FROM t ORDER BY rowid")
        for (number, bytes) in rows {
            #expect(try select.step())
            #expect(select.integer(0) == number)
            #expect(select.bytes(1) == bytes)
        }
        #expect(try !select.step())
        #expect(try select.step(), "a statement can be carried out again")
    }

    @Test(arguments: ["", "a\u{0}b", "é", String(repeating: "x", count: 100_000), nil]) func textsComeBackAsTheyWere(
        text: String?
    ) throws {
        let database = try folder.open()
        let echo = try database.prepare("SELECT ?1, typeof(?1)")
        try echo.bind(text, at: 0)
        #expect(try echo.step())
        #expect(echo.text(0) == text)
        #expect(echo.text(1) == (text == nil ? "null" : "text"))
    }

    @Test(
        arguments: [
            ("INSERT INTO t VALUES (1)", true), ("SELECT * FROM nothing", true),
            ("INSERT INTO t VALUES (zeroblob(1 << 20))", false),
        ])
    func anErrorIsOfItsStatementOrOfTheDisk(sql: String, isOfStatement: Bool) throws {
        let database = try folder.open()
        try database.execute("CREATE TABLE t(n UNIQUE); INSERT INTO t VALUES (1); PRAGMA max_page_count = 8")
        try database.execute("BEGIN IMMEDIATE")
        #expect(database.isInTransaction)
        #expect { try database.execute(sql) } throws: { ($0 as? SQLiteError)?.isOfStatement == isOfStatement }
        #expect(database.isInTransaction == isOfStatement, "a full disk ends the transaction")
        database.rollBack()
        database.rollBack()
        #expect(!database.isInTransaction)
        #expect(try Self.count(database) == 1)
    }

    @Test func theLogIsEmptiedBehindThoseWhoReadIt() throws {
        let (writer, reader) = (try folder.open(), try folder.open())
        try writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(n); INSERT INTO t VALUES (1)")
        let log = { try FileManager.default.attributesOfItem(atPath: folder.file + "-wal")[.size] as? Int }
        try reader.read { () throws(SQLiteError) -> Void in
            #expect(try reader.integer("SELECT count(*) FROM t") == 1)
            try writer.execute("INSERT INTO t VALUES (2)")
            #expect(try !writer.emptyLog(waiting: .zero))
            #expect(try reader.integer("SELECT count(*) FROM t") == 1, "it is not disturbed")
        }
        #expect(try log() ?? 0 > 0)
        #expect(try writer.emptyLog(waiting: .zero))
        #expect(try log() == 0)
        #expect(try Self.count(reader) == 2)
    }

    @Test func bytesAreComparedToTheirEnd() throws {
        let database = try folder.open()
        try database.execute("CREATE TABLE t(b)")
        let insert = try database.prepare("INSERT INTO t VALUES (?)")
        for bytes in [[97, 0, 98], [97, 0, 99], [97]] as [[UInt8]] {
            try insert.bind(bytes, at: 0)
            try insert.run()
        }
        let find = try database.prepare("SELECT count(*) FROM t WHERE b = ?")
        try find.bind([97, 0, 98], at: 0)
        #expect(try find.step())
        #expect(find.integer(0) == 1)
    }

    @Test func sqlCallsAFunction() throws {
        var database: Database? = try folder.open()
        try database?.define("ends_with") { end, text in
            text.count >= end.count && (0..<end.count).allSatisfy { text[text.count - end.count + $0] == end[$0] }
        }
        let ask = { (values: String) in try database?.integer("SELECT ends_with(\(values))") }
        #expect(try ask("X'6200', X'616200'") == 1)
        #expect(try ask("X'6200', X'6162'") == 0)
        #expect(try ask("X'', X''") == 1)
        #expect(try ask("NULL, X'61'") == nil)
        #expect(throws: SQLiteError.self) { try ask("X''") }
        // What the function holds is let go with the database.
        final class Held {}
        var held: Held? = Held()
        weak let watched = held
        try database?.define("holds") { [held] _, _ in held != nil }
        held = nil
        #expect(watched != nil)
        database = nil
        #expect(watched == nil)
    }

    @Test func aFailedTransactionLeavesNothing() throws {
        let database = try folder.open()
        try database.execute("CREATE TABLE t(n UNIQUE)")
        #expect(throws: SQLiteError.self) {
            try database.write { () throws(SQLiteError) in
                try database.execute("INSERT INTO t VALUES (1)")
                try database.execute("INSERT INTO t VALUES (1)")
            }
        }
        #expect(try Self.count(database) == 0)
        try database.write { () throws(SQLiteError) in try database.execute("INSERT INTO t VALUES (1)") }
        #expect(try Self.count(database) == 1)
    }

    @Test func readersSeeOneStateWhileOthersWrite() throws {
        let writer = try folder.open()
        try writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(n)")
        let reader = try folder.open()
        let seen = try reader.read { () throws(SQLiteError) in
            let before = try reader.integer("SELECT count(*) FROM t")
            try writer.execute("INSERT INTO t VALUES (1)")
            return (before, try reader.integer("SELECT count(*) FROM t"))
        }
        #expect(seen == (0, 0))
        #expect(try Self.count(reader) == 1)
    }

    @Test func twoWhoWriteWaitForOneAnotherAndSaySoInTheEnd() throws {
        let first = try folder.open()
        try first.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(n)")
        let second = try folder.open(waiting: .milliseconds(1))
        try first.write { () throws(SQLiteError) -> Void in
            #expect { try second.execute("INSERT INTO t VALUES (1)") } throws: { ($0 as? SQLiteError)?.isBusy == true }
        }
        try second.execute("INSERT INTO t VALUES (1)")
        #expect(try Self.count(first) == 1)
    }

    @Test func aStatementThatLastsTooLongIsEndedAndChangesNothing() throws {
        let database = try folder.open()
        try database.execute("CREATE TABLE t(n)")
        let long =
            "INSERT INTO t WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c WHERE x < 10000) SELECT x FROM c"
        var questions = 0
        database.interrupt {
            questions += 1
            return questions == 3
        }
        #expect { try database.execute(long) } throws: { ($0 as? SQLiteError)?.isInterruption == true }
        #expect(try questions == 3 && Self.count(database) == 0)
        // The condition does not hold any more.
        try database.execute(long)
        #expect(try questions > 10 && Self.count(database) == 10_000)
        database.interrupt { true }
        #expect { try database.integer("SELECT sum(n) FROM t") } throws: { ($0 as? SQLiteError)?.isInterruption == true }
        #expect(try database.integer("SELECT 1") == 1, "a short one is not asked about")
    }

    @Test func onlyTheOwnerMayRead() throws {
        let database = try folder.open()
        try database.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(n)")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.sorted() == ["a.sqlite", "a.sqlite-shm", "a.sqlite-wal"])
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    @Test(arguments: [Data("this is no database, but long enough to be looked at".utf8), Data(count: 8192)])
    func whatIsNoDatabaseCanBeReset(garbage: Data) throws {
        try (garbage + Data(repeating: 7, count: 8192)).write(to: URL(fileURLWithPath: folder.file))
        let database = try folder.open()
        #expect { try database.execute("CREATE TABLE t(n)") } throws: { ($0 as? SQLiteError)?.isDamage == true }
        try database.reset()
        try database.execute("CREATE TABLE t(n)")
        #expect(try Self.count(database) == 0)
    }

    @Test(arguments: 0..<8) func damagedPagesCanBeReset(seed: Int) throws {
        var database: Database? = try folder.open()
        try database?.execute(
            """
            PRAGMA journal_mode = WAL; CREATE TABLE t(n, b);
            WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c WHERE x < 5000)
            INSERT INTO t SELECT x, zeroblob(200) FROM c; CREATE INDEX i ON t(n)
            """)
        database = nil
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: folder.file))
        for page in seed * 20 + 1..<seed * 20 + 40 {
            try file.seek(toOffset: UInt64(page) * 4096)
            try file.write(contentsOf: Data(repeating: 0x5A, count: 4096))
        }
        try file.close()
        let damaged = try folder.open()
        #expect { try damaged.execute("SELECT sum(n + length(b)) FROM t") } throws: { ($0 as? SQLiteError)?.isDamage == true }
        try damaged.reset()
        #expect(try damaged.integer("SELECT count(*) FROM sqlite_schema") == 0)
        #expect(try damaged.integer("PRAGMA integrity_check") != nil)
        try damaged.execute("CREATE TABLE t(n)")
    }

    @Test func whatCannotBeOpenedIsNamed() {
        #expect { try Database(path: "/nowhere/at/all", waiting: .zero) } throws: {
            ($0 as? SQLiteError)?.message == "/nowhere/at/all: No such file or directory"
        }
    }
}
