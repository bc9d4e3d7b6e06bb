import Foundation
import Glibc
import HubServer
import SQLite
import TestSupport
import Testing

@testable import HubStore

/// A disk that fails, and files that are not to be opened.
@Suite(.tags(.c)) struct HubFileFaultTests {
    private let stage: HubFileStage

    init() throws { stage = try HubFileStage() }

    private static let keys = ["a", "b"].map { [UInt8](repeating: Character($0).asciiValue ?? 0, count: 32) }

    @Test func aFullDiskRefusesWithNothingHalfWritten() throws {
        let file = try stage.open()
        defer { file.close() }
        try file.limitPages(to: 8)
        var count: Int64 = 0
        let detail = expectUnavailable { () throws(RefusedCall) in
            while count < 100 {
                try file.change { [count] (connection) throws(RefusedCall) in
                    try connection.insert(count)
                    try connection.insert(count + 1000, byteCount: 4096)
                }
                count += 1
            }
        }
        #expect(detail.contains("full"))
        #expect(file.problem?.contains("full") == true)
        #expect(count > 0)
        #expect(try file.numbers == Array(0..<count) + (1000..<1000 + count), "readings go on, and show both rows or none")
        try file.limitPages(to: nil)
        #expect(file.problem == nil)
        try file.insert(-1)
        #expect(try file.numbers.first == -1)
    }

    @Test func aFullDiskIsNoFaultOfTheFile() {
        let schema = Schema(steps: ["PRAGMA max_page_count = 4;" + Schema.current.steps[0]])
        guard case .disk(stage.path, let reason)? = stage.fault(schema: schema) else {
            Issue.record("it is another fault")
            return
        }
        #expect(reason.contains("full"))
        #expect(HubFileError(errno: ENOSPC, of: "a") == .disk(path: "a", reason: "No space left on device"))
        #expect(HubFileError(errno: EACCES, of: "a") == .unusable(path: "a", reason: "Permission denied"))
    }

    @Test func changesThatWriteNothingDoNotHideAFullDisk() throws {
        let file = try stage.open()
        defer { file.close() }
        try file.limitPages(to: 0)
        expectUnavailable { () throws(RefusedCall) in try file.insert(1, byteCount: 1 << 20) }
        try file.change { (connection) throws(RefusedCall) in try connection.execute("DELETE FROM t WHERE n = 7") }
        #expect(file.problem?.contains("full") == true, "nothing was removed")
        #expect(throws: RefusedCall.self) {
            try file.change { (_) throws(RefusedCall) in throw RefusedCall(404, detail: "") }
        }
        #expect(file.problem?.contains("full") == true, "a refused change writes nothing either")
        try file.limitPages(to: nil)
        #expect(file.problem == nil)
    }

    @Test func aChangeThatDoesNotEndIsAnsweredAndMayYetBeKept() throws {
        let file = try stage.open(patience: .milliseconds(20))
        defer { file.close() }
        let mayEnd = DispatchSemaphore(value: 0)
        let detail = expectUnavailable { () throws(RefusedCall) in
            try file.change { (connection) throws(RefusedCall) in
                mayEnd.wait()
                try connection.insert(1)
            }
        }
        #expect(detail.hasSuffix("may yet be kept"))
        #expect(file.problem?.contains("not ended") == true)
        expectUnavailable { () throws(RefusedCall) in try file.insert(2) }
        mayEnd.signal()
        #expect(eventually { file.problem == nil })
        try file.insert(3)
        #expect(try file.numbers == [1, 3])
    }

    @Test func aChangeBehindOneThatDoesNotEndIsTakenBack() throws {
        let file = try stage.open(patience: .milliseconds(200))
        defer { file.close() }
        let (begun, mayEnd, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        file.changeLater { (_) throws(RefusedCall) in
            begun.signal()
            mayEnd.wait()
        } done: { _ in
            ended.signal()
        }
        begun.wait()
        // Whether it was taken back, or not even taken: it never comes into the file.
        expectUnavailable { () throws(RefusedCall) in try file.insert(2) }
        mayEnd.signal()
        ended.wait()
        #expect(eventually { file.problem == nil })
        try file.insert(3)
        #expect(try file.numbers == [3])
    }

    @Test func theWriterNoticesByItselfThatThereIsRoomAgain() throws {
        let file = try stage.open()
        defer { file.close() }
        try file.limitPages(to: 0)
        expectUnavailable { () throws(RefusedCall) in
            try file.change { (connection) throws(RefusedCall) in
                // The limit belongs to the connection, and is not taken back with the change.
                do throws(RefusedCall) { try connection.insert(1, byteCount: 1 << 20) } catch {
                    try connection.execute("PRAGMA max_page_count = 1073741823")
                    throw error
                }
            }
        }
        #expect(eventually { file.problem == nil })
        #expect(try file.numbers == [])
    }

    @Test func aDiskThatMayOnlyBeReadRefusesChangesAndIsRead() throws {
        let file = try stage.open()
        try file.insert(1)
        // SQLite gives the error of a disk that has become one to be read only.
        try file.change { (connection) throws(RefusedCall) in try connection.execute("PRAGMA query_only = ON") }
        #expect(expectUnavailable { () throws(RefusedCall) in try file.insert(2) }.contains("readonly"))
        #expect(file.problem?.contains("readonly") == true)
        #expect(try file.numbers == [1])
        file.close()
        let again = try stage.open()
        defer { again.close() }
        try again.insert(3)
        #expect(try again.numbers == [1, 3])
    }

    @Test func aFailedTransactionRefusesAllWhoWait() throws {
        let file = try stage.open()
        defer { file.close() }
        try file.limitPages(to: 4)
        let (begun, queued, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let refusals = Box(0)
        file.changeLater { (_) throws(RefusedCall) in
            begun.signal()
            queued.wait()
        } done: { _ in
            ended.signal()
        }
        begun.wait()
        for byteCount in [1 << 20, 0, 0] {
            file.changeLater { (connection) throws(RefusedCall) in
                try connection.insert(1, byteCount: byteCount)
            } done: { result in
                if case .failure(let refusal) = result, refusal.answer.status == 503 { refusals.withLock { $0 += 1 } }
                ended.signal()
            }
        }
        queued.signal()
        for _ in 0..<4 { ended.wait() }
        #expect(refusals.withLock { $0 } == 3)
        #expect(try file.numbers == [])
    }

    @Test(arguments: ["", "-wal", "-shm", ".lock"]) func aFileRemovedBelowItIsNoticed(ending: String) throws {
        let file = try stage.open()
        defer { file.close() }
        try file.insert(1)
        let (path, other) = (stage.path + ending, stage.path("elsewhere"))
        #expect(rename(path, other) == 0)
        let detail = expectUnavailable { () throws(RefusedCall) in try file.insert(2) }
        #expect(detail.hasSuffix(": hub.db\(ending) was removed or replaced"))
        #expect(file.problem == "hub.db\(ending) was removed or replaced")
        // Another file at its place does not count.
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        expectUnavailable { () throws(RefusedCall) in try file.insert(3) }
        #expect(rename(other, path) == 0)
        try file.insert(4)
        #expect(file.problem == nil)
        #expect(try file.numbers == [1, 4])
    }

    @Test func aFileIsOpenOnce() throws {
        let file = try stage.open()
        #expect(stage.fault() == .inUse(path: stage.path))
        // Also by another name.
        let link = stage.path("link.db")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: stage.path)
        #expect(throws: HubFileError.inUse(path: link)) { try HubFile(HubFileTerms(path: link)) }
        // The lock has the name of the file itself.
        #expect("\(HubFileError.inUse(path: link))".contains("`fuser \(HubFileLock.resolved(stage.path)).lock`"))
        try file.insert(1)
        file.close()
        #expect(stage.fault() == nil)
    }

    @Test func anotherProcessWithTheLockIsMet() throws {
        // A lock of another opening of the file is as one of another process (flock(2)).
        let lock = open(stage.path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(lock >= 0)
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        #expect(stage.fault() == .inUse(path: stage.path))
        #expect(!FileManager.default.fileExists(atPath: stage.path), "it is not even made")
        close(lock)
        #expect(stage.fault() == nil)
    }

    @Test func filesOfOthersStayAsTheyAre() throws {
        try stage.execute("PRAGMA application_id = 7; CREATE TABLE other(x); INSERT INTO other VALUES (1)", in: "other.db")
        try Data("a text that somebody still needs".utf8).write(to: URL(fileURLWithPath: stage.path("text.db")))
        for name in ["other.db", "text.db"] {
            let path = stage.path(name)
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(throws: HubFileError.foreign(path: path)) { try HubFile(HubFileTerms(path: path)) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        }
    }

    @Test func aCutFileIsDamaged() throws {
        let file = try stage.open()
        try file.insert(1, byteCount: 100_000)
        file.close()
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: stage.path))
        try handle.truncate(atOffset: 40_960)
        try handle.close()
        guard case .damaged(let path, let reason)? = stage.fault() else {
            Issue.record("it is not damaged")
            return
        }
        #expect(path == stage.path && !reason.isEmpty)
    }

    @Test(
        arguments: [
            (nil, keys[0], "its handles are plain"), (keys[0], nil, "its handles are sealed, and the settings have no key"),
            (keys[0], keys[1], "another key"),
        ] as [([UInt8]?, [UInt8]?, String)]
    )
    func aKeyIsThatOfTheFile(made: [UInt8]?, opened: [UInt8]?, sentence: String) throws {
        let file = try stage.open(key: made)
        #expect(file.isSealed == (made != nil))
        try file.insert(1)
        file.close()
        #expect(stage.fault(key: opened)?.description.contains(sentence) == true)
        let again = try stage.open(key: made)
        defer { again.close() }
        #expect(try again.numbers == [1])
    }

    @Test(arguments: [("/nowhere/at/all.db", "No such file or directory"), ("/proc/version", "No such file or directory")])
    func aPlaceThatCannotBeWrittenToIsNamed(path: String, reason: String) {
        #expect {
            try HubFile(HubFileTerms(path: path))
        } throws: { error in
            guard case .unusable(path, let found)? = error as? HubFileError else { return false }
            return found.contains(reason)
        }
    }

    @Test func aKeyOfAnotherLengthIsRefused() {
        #expect(throws: HubFileError.self) { try HubFile(HubFileTerms(path: stage.path, handleKey: [1, 2, 3])) }
        #expect(!FileManager.default.fileExists(atPath: stage.path))
    }

    @Test(
        arguments: [
            .inUse(path: "hub.db"), .newer(path: "hub.db", version: 7), .foreign(path: "hub.db"),
            .damaged(path: "hub.db", reason: "it is cut"), .wrongKey(path: "hub.db"),
            .unusable(path: "hub.db", reason: "it is gone"), .disk(path: "hub.db", reason: "database or disk is full"),
            .occupied(path: "hub.db", reason: "hub.db-wal has changes of it"), .noCopy(path: "hub.db"),
        ] as [HubFileError]
    )
    func aFaultIsOneSentenceThatNamesTheFile(fault: HubFileError) {
        #expect(fault.description.contains("hub.db") && !fault.description.contains("\n"))
        #expect(fault.description.split(separator: " ").count <= 20)
    }

    @Test func theKeyIsInNoText() throws {
        let terms = HubFileTerms(path: "hub.db", handleKey: Array("0123456789abcdef0123456789abcdef".utf8))
        var dumped = ""
        dump(terms, to: &dumped)
        dump(try HandleSeal(key: terms.handleKey), to: &dumped)
        #expect(!"\(terms)\(dumped)".contains("48") && dumped.contains("redacted"))
    }
}
