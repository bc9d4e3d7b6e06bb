import Basics
import GatewayAPI
import SQLite

/// An answer for the file, with its call.
struct NewAnswer: Sendable {
    let scope: IdempotencyScope
    let remembered: RememberedAnswer
    /// Time of the answer, in milliseconds since 1970.
    let time: Int64
}

/// A reason why a file of answers cannot be used, in plain words.
struct AnswerStoreFailure: Error, Equatable, CustomStringConvertible {
    let description: String
}

/// The answers to calls with keys, in a database on this machine, for 24 h.
///
/// Rows are in the order in which they came, so that writing costs the same however many there are. One index finds a key, another one the
/// oldest rows, and one those of a party. How much each party has is counted by triggers, so that gateways of an earlier version, which know
/// of no parties, keep the count as well. Belongs to one thread. Other gateways on the same machine may use the file.
final class AnswerStore {
    /// Time that an answer is kept, in milliseconds.
    static let lifetime: Int64 = 24 * 3600 * 1000
    /// Greatest size of the file in bytes, 1 GiB. From three quarters of it on, the oldest answers of whoever has most make room for new ones.
    static let byteLimit = 1 << 30

    /// Stands in the header of every such file (sqlite.org, Database File Format, section 1.3), so that no other file is written to.
    private static let applicationID: Int64 = 0x7066_6964
    /// The layout of the tables.
    private static let version: Int64 = 1
    private static let pageSize = 4096
    /// Longest wait for another gateway that writes.
    private static let patience = Duration.milliseconds(500)

    private static let tables = """
        CREATE TABLE answer(
            id INTEGER PRIMARY KEY, scope BLOB NOT NULL UNIQUE, time INTEGER NOT NULL, fingerprint BLOB NOT NULL,
            status INTEGER NOT NULL, location BLOB, content_type BLOB, body BLOB NOT NULL);
        CREATE INDEX by_time ON answer(time);
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        """

    /// The bytes of a row besides its body, roughly.
    private static let rowByteCount = 300

    /// Added to files of any age. Answers of an earlier version belong to party 0 together.
    private static let parties = """
        ALTER TABLE answer ADD COLUMN party INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX by_party ON answer(party);
        CREATE TABLE share(party INTEGER PRIMARY KEY, bytes INTEGER NOT NULL);
        INSERT INTO share SELECT party, sum(length(body) + \(rowByteCount)) FROM answer GROUP BY party;
        CREATE TRIGGER share_grows AFTER INSERT ON answer BEGIN
            INSERT INTO share VALUES (new.party, length(new.body) + \(rowByteCount))
                ON CONFLICT(party) DO UPDATE SET bytes = bytes + excluded.bytes;
        END;
        CREATE TRIGGER share_shrinks AFTER DELETE ON answer BEGIN
            UPDATE share SET bytes = bytes - length(old.body) - \(rowByteCount) WHERE party = old.party;
            DELETE FROM share WHERE party = old.party AND bytes <= 0;
        END;
        """

    /// The most bites that are taken out for one batch of new answers while the file is nearly full.
    private static let biteLimit = 64

    private let database: Database
    private let pageLimit: Int64
    private let select: Statement
    private let insert: Statement
    private let remove: Statement
    /// Removes the oldest answers of the party that has most.
    private let removeOfGreediest: Statement

    /// Opens a file, and makes it where there is none. One that cannot be opened or read, is of a newer version or no file of
    /// answers stays as it is.
    init(path: String, byteLimit: Int = AnswerStore.byteLimit) throws(AnswerStoreFailure) {
        pageLimit = Int64(max(byteLimit / Self.pageSize, 1))
        let reason: String?
        do throws(SQLiteError) {
            database = try Database(path: path, waiting: Self.patience)
            reason = try Self.reason(against: database)
        } catch {
            throw AnswerStoreFailure(error)
        }
        if let reason { throw AnswerStoreFailure(description: reason) }
        do throws(SQLiteError) {
            try Self.make(database, pageLimit: pageLimit)
            select = try database.prepare(
                "SELECT time, fingerprint, status, location, content_type, body FROM answer WHERE scope = ?")
            insert = try database.prepare(
                """
                INSERT OR REPLACE INTO answer(scope, time, fingerprint, status, location, content_type, body, party)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """)
            remove = try database.prepare(
                "DELETE FROM answer WHERE id IN (SELECT id FROM answer WHERE time <= ? ORDER BY time LIMIT ?)")
            removeOfGreediest = try database.prepare(
                """
                DELETE FROM answer WHERE id IN (
                    SELECT id FROM answer WHERE party = (SELECT party FROM share ORDER BY bytes DESC LIMIT 1) ORDER BY id LIMIT ?)
                """)
        } catch {
            throw AnswerStoreFailure(error)
        }
    }

    /// The reason why a file must not be used, or nil.
    private static func reason(against database: Database) throws(SQLiteError) -> String? {
        try database.read { () throws(SQLiteError) in
            if try database.integer("SELECT count(*) FROM sqlite_schema") == 0 { return nil }
            guard try database.integer("PRAGMA application_id") == applicationID else { return "it is no file of answers" }
            let found = try database.integer("PRAGMA user_version") ?? 0
            return found == version ? nil : "it is of version \(found), and this program writes version \(version)"
        }
    }

    private static func make(_ database: Database, pageLimit: Int64) throws(SQLiteError) {
        // A power failure may lose the answers of the last seconds, a crash of the process none that is written.
        try database.execute(
            """
            PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;
            PRAGMA wal_autocheckpoint = 4096; PRAGMA journal_size_limit = 16777216; PRAGMA max_page_count = \(pageLimit);
            PRAGMA recursive_triggers = ON;
            """)
        try database.write { () throws(SQLiteError) in
            // Another gateway may have been quicker.
            if try database.integer("SELECT count(*) FROM sqlite_schema") == 0 { try database.execute(tables) }
            let hasParties = try database.integer("SELECT count(*) FROM pragma_table_info('answer') WHERE name = 'party'") ?? 0
            if hasParties == 0 { try database.execute(parties) }
        }
        // The mode cannot change while others use the file, and they have set it.
        do { try database.execute("PRAGMA journal_mode = WAL") } catch  where error.isBusy {}
    }

    /// The answer to a key and the milliseconds for which it still counts, or nil. `now` is milliseconds since 1970. Where the
    /// clock was set back, an answer counts for as long as a new one.
    package func answer(
        to scope: IdempotencyScope, now: Int64
    ) throws(SQLiteError) -> (remembered: RememberedAnswer, remaining: Int64)? {
        defer { select.reset() }
        try select.bind(scope.digest, at: 0)
        guard try select.step(), let time = select.integer(0), let digest = select.bytes(1), let status = select.integer(2),
            let body = select.bytes(5)
        else { return nil }
        let (age, isBeyond) = now.subtractingReportingOverflow(time)
        guard !isBeyond, age < Self.lifetime else { return nil }
        let answer = StoredAnswer(
            status: Int(status), location: select.text(3), contentType: select.text(4), body: body)
        let remembered = RememberedAnswer(fingerprint: CallFingerprint(digest: digest), answer: answer)
        return (remembered, Self.lifetime - max(age, 0))
    }

    /// Adds answers in place of others with the same keys, and removes more old ones than that, so that none gather. Nothing
    /// changes where it fails.
    package func add(_ answers: [NewAnswer], now: Int64) throws(SQLiteError) {
        try database.write { () throws(SQLiteError) in
            try removeOld(atMost: 2 * answers.count + 16, now: now)
            for answer in answers { try add(answer) }
        }
    }

    private func add(_ new: NewAnswer) throws(SQLiteError) {
        let answer = new.remembered.answer
        try insert.bind(new.scope.digest, at: 0)
        try insert.bind(new.time, at: 1)
        try insert.bind(new.remembered.fingerprint.digest, at: 2)
        try insert.bind(Int64(answer.status), at: 3)
        try insert.bind(answer.location.map { Array($0.utf8) }, at: 4)
        try insert.bind(answer.contentType.map { Array($0.utf8) }, at: 5)
        try insert.bind(answer.body, at: 6)
        try insert.bind(new.scope.party?.number ?? 0, at: 7)
        try insert.run()
    }

    /// Removes the oldest answers: those that count no more and, while the file is nearly full, those of whoever has most.
    func removeOld(atMost count: Int, now: Int64) throws(SQLiteError) {
        try removeOldest(until: now - Self.lifetime, atMost: count)
        for _ in 0..<Self.biteLimit {
            guard try isNearlyFull() else { return }
            try removeOfGreediest.bind(Int64(count), at: 0)
            try removeOfGreediest.run()
        }
        if try isNearlyFull() { try removeOldest(until: .max, atMost: count) }
    }

    private func removeOldest(until time: Int64, atMost count: Int) throws(SQLiteError) {
        try remove.bind(time, at: 0)
        try remove.bind(Int64(count), at: 1)
        try remove.run()
    }

    private func isNearlyFull() throws(SQLiteError) -> Bool {
        let pages = try database.integer("PRAGMA page_count") ?? 0
        return pages - (try database.integer("PRAGMA freelist_count") ?? 0) > pageLimit / 4 * 3
    }
}

extension Party {
    /// A number of its own in a file, never 0. It says nothing of the names.
    fileprivate var number: Int64 { max(1, Int64(bitPattern: FNV1a.hash(of: description.utf8) >> 1)) }
}

extension AnswerStoreFailure {
    init(_ error: SQLiteError) { self.init(description: error.message) }
}
