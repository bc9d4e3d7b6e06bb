import Foundation
import Glibc
import HubServer
import SQLite
import TestSupport
import Testing

@testable import HubStore

/// Checks and copies of a file that is open.
@Suite(.tags(.c)) struct HubFileCareTests {
    private static let key = [UInt8](1...32)

    private let stage: HubFileStage

    init() throws { stage = try HubFileStage() }

    private func open() throws -> HubFile { try HubFile(HubFileTerms(path: stage.path, handleKey: Self.key)) }

    @Test func aFileInOrderIsCountedWhileItIsOpen() throws {
        let file = try open()
        try file.change { (connection) throws(RefusedCall) in
            try FileBook.change(on: connection) { (book) throws(RefusedCall) in
                for id in ["1-1-1", "2-1-1"] { try book.write(Registration(id: id, etag: 1, platform: .gcm, handle: "h")) }
            }
        }
        let report = try HubFile.check(path: stage.path, handleKey: Self.key)
        #expect(report.problems == [])
        #expect(
            [report.deviceCount, report.registrationCount, report.installationCount, report.unfinishedCount] == [1, 2, 0, 0])
        file.close()
        #expect(try HubFile.check(path: stage.path, handleKey: Self.key) == report)
    }

    @Test func rowsThatContradictOneAnotherAreCounted() throws {
        let file = try open()
        try file.change { (connection) throws(RefusedCall) in
            try connection.execute("INSERT INTO tagged VALUES (1, 1, 1), (1, 2, 3)")
        }
        let problems = try HubFile.check(path: stage.path, handleKey: Self.key).problems
        #expect(problems.contains("not always true, 2 times: a posting has its registration"))
        file.close()
    }

    @Test func damageIsReported() throws {
        let file = try open()
        try file.change { (connection) throws(RefusedCall) in
            for number in 0..<100 { try connection.setValue("name \(number)", to: [UInt8](repeating: 1, count: 3000)) }
        }
        file.close()
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: stage.path))
        let length = try handle.seekToEnd()
        try handle.seek(toOffset: length - 10 * 4096)
        try handle.write(contentsOf: Data(repeating: 0x5A, count: 5 * 4096))
        try handle.close()
        #expect(try !HubFile.check(path: stage.path, handleKey: Self.key).problems.isEmpty)
    }

    @Test func whatIsNotThereIsNotMade() throws {
        let isMissing = HubFileError.unusable(path: stage.path, reason: "there is no such file")
        #expect(throws: isMissing) { try HubFile.check(path: stage.path, handleKey: nil) }
        #expect(throws: isMissing) { try HubFile.backUp(from: stage.path, to: stage.path("copy.db")) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: stage.path("")).isEmpty)
    }

    @Test func aCopyIsOfOneMomentAndCanBeOpened() throws {
        let file = try open()
        defer { file.close() }
        try file.setValue("kept", to: [1])
        let copy = stage.path("copy.db")
        // A copy of an earlier day is replaced, and what has a name like it is somebody else's.
        try Data("something else".utf8).write(to: URL(fileURLWithPath: copy + ".part"))
        for _ in 0..<2 { try HubFile.backUp(from: stage.path, to: copy) }
        try file.setValue("kept", to: [2])
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let names = try FileManager.default.contentsOfDirectory(atPath: stage.path(""))
        #expect(names.filter { $0.hasPrefix("copy.db.") } == ["copy.db.part"])
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy + ".part")) == Data("something else".utf8))
        #expect(try HubFile.check(path: copy, handleKey: Self.key).problems.isEmpty)
        let copied = try HubFile(HubFileTerms(path: copy, handleKey: Self.key))
        defer { copied.close() }
        #expect(try copied.value("kept") == [1])
        #expect(try file.value("kept") == [2])
    }

    @Test func onlyAnEarlierCopyIsReplaced() throws {
        let file = try open()
        defer { file.close() }
        let (copy, text) = (stage.path("copy.db"), stage.path("text.db"))
        try HubFile.backUp(from: stage.path, to: copy)
        let served = try HubFile(HubFileTerms(path: copy, handleKey: Self.key))
        for isForced in [false, true] {
            #expect(throws: HubFileError.inUse(path: copy)) {
                try HubFile.backUp(from: stage.path, to: copy, replacingAny: isForced)
            }
        }
        try served.setValue("kept", to: [1])
        served.close()
        let log = HubFileLock.resolved(copy) + "-wal"
        #expect(FileManager.default.createFile(atPath: log, contents: nil))
        #expect(throws: HubFileError.occupied(path: copy, reason: "\(log) has changes of it")) {
            try HubFile.backUp(from: stage.path, to: copy, replacingAny: true)
        }
        #expect(unlink(log) == 0)
        try Data("a text that somebody still needs".utf8).write(to: URL(fileURLWithPath: text))
        // A file that a hub has had open is its own.
        for path in [copy, text] {
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(throws: HubFileError.noCopy(path: path)) { try HubFile.backUp(from: stage.path, to: path) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
            try HubFile.backUp(from: stage.path, to: path, replacingAny: true)
            #expect(try HubFile.check(path: path, handleKey: Self.key).problems.isEmpty)
        }
    }

    @Test func aCopyThatCannotBeMadeLeavesNothing() throws {
        let file = try open()
        defer { file.close() }
        #expect(throws: HubFileError.unusable(path: stage.path, reason: "it would be a copy of itself")) {
            try HubFile.backUp(from: stage.path, to: stage.path)
        }
        #expect(throws: HubFileError.self) { try HubFile.backUp(from: stage.path, to: "/nowhere/at/all.db") }
        let names = try FileManager.default.contentsOfDirectory(atPath: stage.path(""))
        #expect(!names.contains { $0.hasPrefix("copy.db") || $0.contains(".part") })
        try file.setValue("kept", to: [1])
    }
}
