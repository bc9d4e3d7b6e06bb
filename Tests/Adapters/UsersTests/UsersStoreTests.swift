import Dispatch
import EventLoop
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing
import Users

@Suite(.tags(.c)) struct UsersStoreTests {
    /// Adds a user.
    private func add(_ name: String, to store: UsersStore) throws {
        let hash = try hashed(name)
        try store.change(patience: farDeadline) { (file: inout UsersFile) throws(UsersFileError) -> Void in
            try file.set(name, hash: hash)
        }
    }

    /// The rights of a file.
    private func mode(_ path: String) -> UInt32 {
        var facts = stat()
        return stat(path, &facts) == 0 ? facts.st_mode & 0o777 : 0
    }

    @Test func whatIsWrittenIsReadAgainAndIsTheOwnersAlone() throws {
        let folder = try Folder()
        let store = UsersStore(folder.file)
        #expect(throws: UsersError.missing) { try store.read() }
        try add("alice", to: store)
        try add("bob", to: store)
        #expect(try store.read().users.map(\.name) == ["alice", "bob"])
        #expect(try String(contentsOfFile: folder.file, encoding: .utf8).hasSuffix("\n\n"), "an empty line ends it")
        #expect(mode(folder.file) == 0o600)
        #expect(try folder.names() == ["users", "users.lock"])
    }

    @Test func aGroupThatWasLetInOnPurposeStillReadsAChangedFile() throws {
        let folder = try Folder()
        try folder.put(userLine("alice"))
        try #require(chmod(folder.file, 0o640) == 0)
        try add("bob", to: UsersStore(folder.file))
        #expect(mode(folder.file) == 0o640)
    }

    @Test func aFileWithOtherRightsBecomesTheOwnersAlone() throws {
        let folder = try Folder()
        try folder.put(userLine("alice"))
        try #require(chmod(folder.file, 0o644) == 0)
        // One that a killed command left, and that others may read.
        try "left".write(toFile: folder.file + ".new", atomically: true, encoding: .utf8)
        try add("bob", to: UsersStore(folder.file))
        #expect(mode(folder.file) == 0o600)
        #expect(try UsersStore(folder.file).read().users.map(\.name) == ["alice", "bob"])
        #expect(try folder.names() == ["users", "users.lock"])
    }

    @Test func aChangeThatChangesNothingWritesNothing() throws {
        let folder = try Folder()
        try folder.put("\n" + userLine("alice"))
        let store = UsersStore(folder.file)
        let isRemoved = try store.change { (file: inout UsersFile) throws(UsersFileError) -> Bool in file.remove("bob") }
        #expect(!isRemoved)
        #expect(try String(contentsOfFile: folder.file, encoding: .utf8).hasPrefix("\n"))
    }

    @Test func aBrokenFileIsLeftAsItIs() throws {
        let folder = try Folder()
        let broken = try userLine("alice") + "broken\n"
        try folder.put(broken)
        let error = #expect(throws: UsersError.self) { try add("bob", to: UsersStore(folder.file)) }
        #expect(error?.description.contains("line 2") == true)
        #expect(try String(contentsOfFile: folder.file, encoding: .utf8) == broken)
    }

    @Test func aRefusedChangeLeavesTheFileAsItIs() throws {
        let folder = try Folder()
        let store = UsersStore(folder.file)
        try add("alice", to: store)
        let before = try String(contentsOfFile: folder.file, encoding: .utf8)
        #expect(throws: UsersError.self) { try add("ALICE", to: store) }
        #expect(try String(contentsOfFile: folder.file, encoding: .utf8) == before)
    }

    @Test func whatALinkPointsAtIsReplaced() throws {
        let folder = try Folder()
        let link = folder.path + "/link"
        try folder.put(userLine("alice"))
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.file)
        try add("bob", to: UsersStore(link))
        #expect(try UsersStore(folder.file).read().users.count == 2)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == folder.file)
    }

    @Test func whatIsNoOrdinaryFileIsRefused() throws {
        let folder = try Folder()
        for path in [folder.path, "/dev/zero"] {
            let error = #expect(throws: UsersError.self) { try UsersStore(path).read() }
            #expect(error == .unreadable(reason: "it is no ordinary file"))
        }
    }

    /// Both write twenty times, and each reads what the other has written.
    @Test(.tags(.threads)) func nothingIsLostWhenTwoWritersRace() throws {
        let folder = try Folder()
        let troubles = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 2) { writer in
            for number in 0..<20 {
                do {
                    try add("user-\(writer)-\(number)", to: UsersStore(folder.file))
                    _ = try UsersStore(folder.file).read()
                } catch {
                    troubles.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(troubles.withLock { $0 } == [])
        let names = try UsersStore(folder.file).read().users.map(\.name)
        #expect(Set(names).count == 40 && names.count == 40)
    }

    @Test func whoHoldsTheLockForTooLongIsNotWaitedFor() throws {
        let folder = try Folder()
        let store = UsersStore(folder.file)
        let inner = try hashed("x")
        var error: UsersError?
        try store.change { (file: inout UsersFile) throws(UsersFileError) -> Void in
            do throws(UsersError) {
                try store.change(patience: .zero) { (file: inout UsersFile) throws(UsersFileError) -> Void in
                    try file.set("bob", hash: inner)
                }
            } catch let trouble {
                error = trouble
            }
            try file.set("alice", hash: inner)
        }
        #expect(error == .locked)
        #expect(try store.read().users.map(\.name) == ["alice"])
    }
}
