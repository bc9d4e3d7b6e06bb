@testable import PublishAPI
@testable import GatewayAPI
import Basics
import Foundation
import HTTPServing
import Observability
import SQLite
import Synchronization
import TestSupport
import Testing

/// A key means once, also when the gateway was started again, and when its file of answers is of no use.
@Suite final class IdempotencyTests {
    private static let answer = StoredAnswer(
        status: 202, location: "/v1/requests/1", contentType: "application/json", body: Array(#"{"id":"1"}"#.utf8))
    private static let order = CallFingerprint(digest: Array(repeating: 1, count: 32))
    private static let other = CallFingerprint(digest: Array(repeating: 2, count: 32))

    private let folder = NSTemporaryDirectory() + "pushfan-answers-\(UUID().uuidString)"
    private let test = TestServices()
    private let time = TimeOfDay()

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private var path: String { folder + "/answers.sqlite" }

    private func file(byteLimit: Int = AnswerStore.byteLimit) -> AnswerFile {
        AnswerFile(path, byteLimit: byteLimit, services: test.services) { [time] in time.now }
    }

    private func keeper(byteLimit: Int = AnswerStore.byteLimit) -> AnswerKeeper {
        AnswerKeeper(path, byteLimit: byteLimit, services: test.services) { [time] in time.now }
    }

    private static func scope(_ number: Int) -> IdempotencyScope {
        IdempotencyScope(digest: withUnsafeBytes(of: number.bigEndian) { Array($0) } + Array(repeating: 7, count: 24))
    }

    private static func scope(_ number: Int, of tenant: String) -> IdempotencyScope {
        IdempotencyScope(digest: Self.scope(number).digest + Array(tenant.utf8), of: Party(tenant: tenant, source: nil))
    }

    private func new(_ number: Int, body: [UInt8] = [1]) -> NewAnswer { new(Self.scope(number), body: body) }

    private func new(_ scope: IdempotencyScope, body: [UInt8] = [1]) -> NewAnswer {
        let remembered = RememberedAnswer(fingerprint: Self.order, answer: StoredAnswer(status: 202, body: body))
        return NewAnswer(scope: scope, remembered: remembered, time: time.now)
    }

    /// The answer that a keeper finds.
    private func find(_ number: Int, in keeper: AnswerKeeper) -> RememberedAnswer? { find(Self.scope(number), in: keeper) }

    private func find(_ scope: IdempotencyScope, in keeper: AnswerKeeper) -> RememberedAnswer? {
        let found = Mutex<RememberedAnswer?>(nil)
        keeper.work([.find([scope]) { remembered, _ in found.withLock { $0 = remembered } }])
        return found.withLock { $0 }
    }

    private var warnings: Int { test.log.text.matches(of: /"event":"answer_file"/).count }

    // MARK: The whole

    @Test(arguments: [false, true]) func aRepetitionGetsTheAnswerOfTheFirst(hasFile: Bool) throws {
        let idempotency = Idempotency(hasFile ? file() : nil, services: test.services)
        idempotency.start()
        defer { idempotency.stop() }
        let first = Verdicts(), second = Verdicts(), third = Verdicts()
        idempotency.begin(Self.scope(1), fingerprint: Self.order, then: first.add)
        let turn = try #require(try first.next().turn)
        idempotency.begin(Self.scope(1), fingerprint: Self.order, then: second.add)
        idempotency.begin(Self.scope(1), fingerprint: Self.other, then: third.add)
        #expect(try third.next().word == "mismatch")
        turn.end(with: Self.answer)
        turn.end(with: nil)
        #expect(try second.next().answer == Self.answer)
        idempotency.begin(Self.scope(1), fingerprint: Self.order, then: second.add)
        #expect(try second.next().answer == Self.answer)
        #expect(test.metrics.contains(#"pushfan_gateway_idempotency_keys_total{outcome="replayed"} 2"#))
    }

    @Test func anotherStartHasTheAnswersOfTheLastFor24Hours() throws {
        let count = 5_000
        var idempotency = Idempotency(file(), services: test.services)
        idempotency.start()
        for number in 0..<count {
            let verdicts = Verdicts()
            idempotency.begin(Self.scope(number), fingerprint: Self.order, then: verdicts.add)
            try #require(try verdicts.next().turn).end(with: Self.answer)
        }
        idempotency.stop()
        for (hours, isKept) in [(1, true), (22, true), (1, false)] as [(Int64, Bool)] {
            time.move(hours: hours)
            idempotency = Idempotency(file(), services: test.services)
            idempotency.start()
            defer { idempotency.stop() }
            for number in stride(from: 0, to: count, by: 97) {
                let verdicts = Verdicts()
                idempotency.begin(Self.scope(number), fingerprint: number % 2 == 0 ? Self.order : Self.other, then: verdicts.add)
                let verdict = try verdicts.next()
                #expect(verdict.word == (!isKept ? "first" : number % 2 == 0 ? "replayed" : "mismatch"))
                #expect(verdict.answer == (isKept && number % 2 == 0 ? Self.answer : nil))
            }
        }
        #expect(warnings == 0 && test.metrics.contains("pushfan_gateway_idempotency_lost_total 0"))
    }

    @Test func anAnswerThatAnEarlierVersionKeptIsFoundByTheKey() throws {
        let former = IdempotencyScope("order-1", apiKey: "k3v9x2ab", route: "publish")
        #expect(former.digest == SHA256.digest(of: Array("k3v9x2ab\0publish\0order-1".utf8)))
        let remembered = RememberedAnswer(fingerprint: Self.order, answer: Self.answer)
        do { keeper().work([.keep(NewAnswer(scope: former, remembered: remembered, time: time.now))]) }
        let idempotency = Idempotency(file(), services: test.services)
        idempotency.start()
        defer { idempotency.stop() }
        let scope = IdempotencyScope("order-1", tenant: nil, source: "/shop", route: "publish")
        let verdicts = Verdicts()
        for (fingerprint, word) in [(Self.order, "replayed"), (Self.order, "replayed"), (Self.other, "mismatch")] {
            idempotency.begin(scope, former: former, fingerprint: fingerprint, then: verdicts.add)
            #expect(try verdicts.next().word == word)
        }
    }

    @Test func aTurnThatIsDroppedEndsWithoutAnAnswer() throws {
        let idempotency = Idempotency(nil, services: test.services)
        let first = Verdicts(), second = Verdicts()
        idempotency.begin(Self.scope(1), fingerprint: Self.order, then: first.add)
        idempotency.begin(Self.scope(1), fingerprint: Self.order, then: second.add)
        #expect(second.isEmpty)
        do { _ = try first.next() }
        #expect(try second.next().word == "first")
    }

    @Test func aWaitOf5SecondsEnds() throws {
        let idempotency = Idempotency(nil, services: test.services)
        let first = Verdicts(), second = Verdicts()
        idempotency.begin(Self.scope(1), fingerprint: Self.order, then: first.add)
        let turn = try first.next().turn
        idempotency.begin(Self.scope(1), fingerprint: Self.order, then: second.add)
        test.clock.advance(seconds: 4)
        idempotency.endWaits()
        #expect(second.isEmpty)
        test.clock.advance(seconds: 1)
        idempotency.endWaits()
        #expect(try second.next().word == "in_flight")
        turn?.end(with: Self.answer)
        #expect(second.isEmpty)
    }

    @Test func aFileThatNeverAnswersHoldsNoCallUp() throws {
        // Its thread does not run.
        let idempotency = Idempotency(file(), services: test.services)
        // What waits for the file holds whoever asked.
        defer { idempotency.stop() }
        let verdicts = Verdicts()
        idempotency.begin(Self.scope(1), fingerprint: Self.order, then: verdicts.add)
        test.clock.advance(seconds: 1)
        idempotency.endWaits()
        #expect(try verdicts.next().word == "first")
        for number in 2..<10_000 {
            idempotency.begin(Self.scope(number), fingerprint: Self.order, then: verdicts.add)
            try #require(try verdicts.next().turn).end(with: Self.answer)
        }
        #expect(test.metrics.contains(/pushfan_gateway_idempotency_lost_total [1-9]/))
    }

    @Test func manyThreadsHaveOneTurnForEachKey() throws {
        let idempotency = Idempotency(file(), services: test.services)
        idempotency.start()
        defer { idempotency.stop() }
        let turns = Mutex([Int](repeating: 0, count: 200))
        let answered = DispatchSemaphore(value: 0)
        DispatchQueue.concurrentPerform(iterations: 1_000) { call in
            idempotency.begin(Self.scope(call % 200), fingerprint: Self.order) { verdict in
                if let turn = verdict.turn {
                    turns.withLock { $0[call % 200] += 1 }
                    turn.end(with: Self.answer)
                }
                answered.signal()
            }
        }
        let limit = DispatchTime.now() + .seconds(Int(farDeadline.components.seconds))
        for _ in 0..<1_000 { try #require(answered.wait(timeout: limit) == .success) }
        #expect(turns.withLock { $0 } == Array(repeating: 1, count: 200))
    }

    // MARK: The file

    @Test func onlyTheOwnerMayReadTheFileAndItHasNoKeyAndNoBody() throws {
        let scope = IdempotencyScope("canary-key", apiKey: "canary-caller", route: "r")
        let print = CallFingerprint(Array(#"{"text":"canary"}"#.utf8), headers: ["Content-Type": "application/json"])
        let remembered = RememberedAnswer(fingerprint: print, answer: Self.answer)
        let keeper = keeper()
        keeper.work([.keep(NewAnswer(scope: scope, remembered: remembered, time: 1))])
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(!names.isEmpty)
        for name in names {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
            let bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
            #expect(bytes.range(of: Data("canary".utf8)) == nil, "\(name)")
        }
    }

    @Test func oldAnswersGoInSmallBites() throws {
        let keeper = keeper()
        for start in stride(from: 0, to: 5_000, by: 500) { keeper.work((start..<start + 500).map { .keep(new($0)) }) }
        time.move(hours: 24)
        let database = try Database(path: path, waiting: farDeadline)
        func count() throws -> Int64? { try database.integer("SELECT count(*) FROM answer") }
        #expect(try count() == 5_000)
        keeper.work([.keep(new(5_000))])
        #expect(try count() == 4_983, "one came, and 18 of the old went")
        for _ in 0..<4 { keeper.rest() }
        #expect(try count() == 983)
        keeper.rest()
        #expect(try count() == 1)
        #expect(find(5_000, in: keeper) != nil && find(4_999, in: keeper) == nil)
    }

    @Test func inAFileThatIsNearlyFullTheOldestMakeRoom() throws {
        let keeper = keeper(byteLimit: 1 << 20)
        let body = [UInt8](repeating: 1, count: 1_000)
        for start in stride(from: 0, to: 5_000, by: 10) {
            time.move(milliseconds: 1)
            keeper.work((start..<start + 10).map { .keep(new($0, body: body)) })
        }
        #expect(find(4_999, in: keeper) != nil && find(4_600, in: keeper) != nil && find(0, in: keeper) == nil)
        #expect(warnings == 0)
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        #expect(size ?? .max <= 1 << 20)
    }

    /// Answers of one tenant, small or large, do not push out that of another, also where the file was opened anew meanwhile.
    @Test(arguments: [(6_000, 500, 10), (60, 60_000, 2)])
    func inAFileThatIsNearlyFullTheAnswersOfWhoeverHasMostMakeRoom(count: Int, size: Int, atOnce: Int) {
        var keeper = keeper(byteLimit: 1 << 20)
        let body = [UInt8](repeating: 1, count: size)
        keeper.work([.keep(new(Self.scope(0, of: "quiet")))])
        for start in stride(from: 0, to: count, by: atOnce) {
            time.move(milliseconds: 1)
            keeper.work((start..<start + atOnce).map { .keep(new(Self.scope($0, of: "greedy"), body: body)) })
            if start == count / 2 { keeper = self.keeper(byteLimit: 1 << 20) }
        }
        #expect(find(Self.scope(0, of: "quiet"), in: keeper) != nil && warnings == 0)
        #expect(find(Self.scope(count - 1, of: "greedy"), in: keeper) != nil)
        #expect(find(Self.scope(0, of: "greedy"), in: keeper) == nil)
    }

    @Test func largeAnswersDoNotFillAFileOfSmallOnes() {
        let keeper = keeper(byteLimit: 1 << 20)
        for start in stride(from: 0, to: 3_000, by: 10) {
            keeper.work((start..<start + 10).map { .keep(new(Self.scope($0, of: "small"), body: [])) })
        }
        let body = [UInt8](repeating: 1, count: 100_000)
        for number in 0..<20 { keeper.work([.keep(new(Self.scope(number, of: "large"), body: body))]) }
        #expect(warnings == 0 && test.metrics.contains("pushfan_gateway_idempotency_lost_total 0"))
        #expect(find(Self.scope(19, of: "large"), in: keeper) != nil && find(Self.scope(2_999, of: "small"), in: keeper) != nil)
    }

    @Test func aFileOfAnEarlierVersionHasItsAnswersAndItsShares() throws {
        do {
            let database = try Database(path: path, waiting: .zero)
            try database.execute(
                """
                CREATE TABLE answer(
                    id INTEGER PRIMARY KEY, scope BLOB NOT NULL UNIQUE, time INTEGER NOT NULL, fingerprint BLOB NOT NULL,
                    status INTEGER NOT NULL, location BLOB, content_type BLOB, body BLOB NOT NULL);
                CREATE INDEX by_time ON answer(time);
                PRAGMA application_id = \(0x7066_6964);
                PRAGMA user_version = 1;
                """)
            let insert = try database.prepare(
                """
                INSERT OR REPLACE INTO answer(scope, time, fingerprint, status, location, content_type, body)
                VALUES (?, ?, ?, 202, NULL, NULL, ?)
                """)
            func add(_ number: Int) throws {
                try insert.bind(Self.scope(number).digest, at: 0)
                try insert.bind(time.now, at: 1)
                try insert.bind(Self.order.digest, at: 2)
                try insert.bind([1], at: 3)
                try insert.run()
            }
            for number in 0..<100 { try add(number) }
            let keeper = keeper()
            #expect(find(7, in: keeper)?.answer.body == [1] && warnings == 0)
            keeper.work([.keep(new(Self.scope(1, of: "acme")))])
            // The gateway of the earlier version goes on beside it.
            try add(100)
            #expect(find(100, in: keeper) != nil && find(Self.scope(1, of: "acme"), in: keeper) != nil)
        }
        let database = try Database(path: path, waiting: farDeadline)
        #expect(try database.integer("SELECT count(*) FROM share") == 2)
        #expect(try database.integer("SELECT bytes FROM share WHERE party = 0") == 101 * 301)
        #expect(try database.integer("PRAGMA user_version") == 1)
    }

    @Test func whatOneTenantHasWaitingLeavesTheOthersRoom() {
        // Its thread does not run.
        let file = file()
        let isAsked = (0..<4_096).filter { file.find([Self.scope($0, of: "greedy")]) { _, _ in } }
        #expect(isAsked.count == 1_024)
        #expect(file.find([Self.scope(1, of: "quiet")]) { _, _ in })
        file.stop()
    }

    @Test func aFullDiskIsSaidOnceAndTheFileIsUsedAgainLater() {
        let keeper = keeper(byteLimit: 64 << 10)
        let large = new(1, body: Array(repeating: 1, count: 128 << 10))
        for _ in 0..<3 {
            keeper.work([.keep(new(2)), .keep(large)])
            #expect(find(2, in: keeper) == nil)
            test.clock.advance(seconds: 30)
        }
        #expect(warnings == 1)
        #expect(test.metrics.contains("pushfan_gateway_idempotency_file_usable 0"))
        #expect(test.metrics.contains("pushfan_gateway_idempotency_lost_total 6"))
        keeper.work([.keep(new(3))])
        #expect(find(3, in: keeper) != nil)
        #expect(warnings == 2 && test.log.text.contains("again"))
        #expect(test.metrics.contains("pushfan_gateway_idempotency_file_usable 1"))
    }

    /// A cause for which a file cannot be used.
    enum Damage: CaseIterable {
        case noDatabase, damagedPages, otherProgram, newerVersion, folder, noFolder, notWritable, locked
    }

    @Test(arguments: Damage.allCases) func aFileOfNoUseIsSaidOnceAndLeftAlone(damage: Damage) throws {
        let holder = try spoil(damage)
        let before = try? Data(contentsOf: URL(fileURLWithPath: path))
        let keeper = keeper()
        for _ in 0..<3 {
            keeper.work([.keep(new(1))])
            #expect(find(1, in: keeper) == nil)
            keeper.rest()
            test.clock.advance(seconds: 30)
        }
        #expect(warnings == 1 && test.log.text.contains(#""level":"warning""#))
        #expect(test.metrics.contains("pushfan_gateway_idempotency_file_usable 0"))
        #expect((try? Data(contentsOf: URL(fileURLWithPath: path))) == before)
        withExtendedLifetime(holder) {}
    }

    /// Makes a file that cannot be used, and gives what keeps it so.
    private func spoil(_ damage: Damage) throws -> Database? {
        let location = URL(fileURLWithPath: path)
        switch damage {
        case .noDatabase: try Data(String(repeating: "alice:$scrypt$ of a file of users\n", count: 300).utf8).write(to: location)
        case .damagedPages:
            do { keeper().work((0..<500).map { .keep(new($0 + 10)) }) }
            var bytes = try Data(contentsOf: location)
            bytes.replaceSubrange(100..<bytes.count, with: repeatElement(0xA5, count: bytes.count - 100))
            try bytes.write(to: location)
        case .otherProgram: try Database(path: path, waiting: .zero).execute("CREATE TABLE t(n)")
        case .newerVersion:
            do { keeper().work([.keep(new(10))]) }
            try Database(path: path, waiting: .zero).execute("PRAGMA user_version = 2")
        case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case .noFolder: try FileManager.default.removeItem(atPath: folder)
        case .notWritable:
            // Rights would not keep an administrator out.
            try FileManager.default.removeItem(atPath: folder)
            try Data().write(to: URL(fileURLWithPath: folder))
        case .locked:
            do { keeper().work([.keep(new(10))]) }
            let database = try Database(path: path, waiting: .zero)
            try database.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; DELETE FROM answer WHERE id < 0")
            return database
        }
        return nil
    }

    @Test func aFileThatComesBackIsUsed() throws {
        try FileManager.default.removeItem(atPath: folder)
        let keeper = keeper()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        keeper.work([.keep(new(1))])
        #expect(find(1, in: keeper) == nil, "it is left alone for 30 s")
        test.clock.advance(seconds: 30)
        keeper.work([.keep(new(1))])
        #expect(find(1, in: keeper) != nil && warnings == 2)
    }

    @Test func aClockThatWasSetBackKeepsAnswersNoLongerThanADay() throws {
        let keeper = keeper()
        keeper.work([.keep(new(1))])
        time.move(hours: -5)
        let until = Mutex<MonotonicTime?>(nil)
        keeper.work([.find([Self.scope(1)]) { _, time in until.withLock { $0 = time } }])
        #expect(until.withLock { $0 } == test.clock.now.advanced(by: .seconds(24 * 3600)))
    }
}

/// The time of day, apart from the monotonic clock, as after a restart.
private final class TimeOfDay: Sendable {
    private let milliseconds = Mutex<Int64>(1_800_000_000_000)

    var now: Int64 { milliseconds.withLock { $0 } }

    func move(hours: Int64 = 0, milliseconds count: Int64 = 0) { milliseconds.withLock { $0 += hours * 3_600_000 + count } }
}

/// The verdicts that a call has got.
private final class Verdicts: Sendable {
    private let verdicts = Mutex<[Idempotency.Verdict]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    @Sendable func add(_ verdict: Idempotency.Verdict) {
        verdicts.withLock { $0.append(verdict) }
        arrivals.signal()
    }

    var isEmpty: Bool { verdicts.withLock { $0.isEmpty } }

    /// The one that came first, once there is one. It is kept no longer.
    func next() throws -> Idempotency.Verdict {
        let limit = DispatchTime.now() + .seconds(Int(farDeadline.components.seconds))
        try #require(arrivals.wait(timeout: limit) == .success)
        return verdicts.withLock { $0.removeFirst() }
    }
}

extension Idempotency.Verdict {
    fileprivate var turn: Idempotency.Turn? { if case .first(let turn) = self { turn } else { nil } }

    fileprivate var answer: StoredAnswer? { if case .replayed(let answer) = self { answer } else { nil } }

    fileprivate var word: String {
        switch self {
        case .first: "first"
        case .replayed: "replayed"
        case .mismatch: "mismatch"
        case .inFlight: "in_flight"
        }
    }
}
