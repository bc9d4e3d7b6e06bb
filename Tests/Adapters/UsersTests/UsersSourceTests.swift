import Basics
import Dispatch
import EventLoop
import Foundation
import Synchronization
import TestSupport
import Testing
import Users

@Suite(.tags(.c, .threads)) struct UsersSourceTests {
    /// What a source told.
    private final class Reports: Sendable {
        private let told = Mutex<[UsersSource.Report]>([])

        func add(_ report: UsersSource.Report) { told.withLock { $0.append(report) } }
        var all: [UsersSource.Report] { told.withLock { $0 } }
    }

    private func names(_ users: KnownUsers) -> [String] { users.file.users.map(\.name) }

    @Test func aChangedFileIsReadAgainAfterTwoSeconds() throws {
        let folder = try Folder()
        let reports = Reports()
        try folder.put(userLine("alice"))
        let source = try UsersSource(folder.file, now: second(10), report: reports.add)
        let first = source.current(now: second(10))
        try folder.put(userLine("alice") + userLine("bob"))
        #expect(names(source.current(now: second(11))) == ["alice"])
        let later = source.current(now: second(12))
        #expect(names(later) == ["alice", "bob"])
        #expect(later.generation > first.generation)
        #expect(source.current(now: second(14)).generation == later.generation, "an unchanged file is not read again")
        #expect(reports.all == [.read(count: 2)])
    }

    @Test func aBrokenFileKeepsTheUsersAndIsToldOnce() throws {
        let folder = try Folder()
        let reports = Reports()
        try folder.put(userLine("alice", "hunter2"))
        let source = try UsersSource(folder.file, now: second(0), report: reports.add)
        let first = source.current(now: second(0))
        try folder.put(userLine("bob") + "hunter2\n")
        for moment in [2, 4, 6] as [Int64] {
            let users = source.current(now: second(moment))
            #expect(names(users) == ["alice"] && users.generation == first.generation)
        }
        try FileManager.default.removeItem(atPath: folder.file)
        for moment in [8, 10, 12] as [Int64] { #expect(names(source.current(now: second(moment))) == ["alice"]) }
        try folder.put(userLine("carol") + "\n")
        #expect(names(source.current(now: second(14))) == ["carol"])
        #expect(reports.all.count == 3)
        guard case .kept(because: .fault(let fault)) = reports.all.first else {
            Issue.record("the broken file was not told of: \(reports.all)")
            return
        }
        #expect(fault.line == 2)
        #expect(Array(reports.all.dropFirst()) == [.kept(because: .missing), .read(count: 1)])
        #expect(!"\(reports.all)".contains("hunter2") && !"\(reports.all)".contains("$scrypt"))
    }

    @Test func aUserThatTheFileHasIsKnownToWhoeverAsksForTheLatest() throws {
        let folder = try Folder()
        try folder.put(userLine("alice"))
        let source = try UsersSource(folder.file, now: second(0)) { _ in }
        try folder.put(userLine("alice") + userLine("bob"))
        #expect(names(source.current(now: second(1))) == ["alice"])
        #expect(names(source.latest(now: second(1))) == ["alice", "bob"])
    }

    @Test func aFileThatIsCutAnywhereKeepsTheUsersUntilItIsWholeAgain() throws {
        let folder = try Folder()
        let text = try userLine("alice") + userLine("bob") + "\n"
        try folder.put(text)
        let source = try UsersSource(folder.file, now: second(0)) { _ in }
        for count in 0..<text.utf8.count {
            try folder.put(String(text.prefix(count)))
            for pause in [2, 60] as [Int64] {
                let known = source.current(now: second(Int64(count) * 100 + pause))
                #expect(known.generation == 1 && names(known) == ["alice", "bob"], "cut behind \(count) bytes")
            }
        }
        try folder.put(userLine("bob") + "\n")
        #expect(names(source.current(now: .never)) == ["bob"])
    }

    @Test func theFirstReadingMustSucceed() throws {
        let folder = try Folder()
        #expect(throws: UsersError.missing) { try UsersSource(folder.file, now: second(0)) { _ in } }
        try folder.put("broken\n")
        #expect(throws: UsersError.self) { try UsersSource(folder.file, now: second(0)) { _ in } }
        try folder.put("")
        let source = try UsersSource(folder.file, now: second(0)) { _ in }
        #expect(names(source.current(now: second(0))) == [])
    }

    @Test func aReadingForgetsWhoWasVerified() throws {
        let folder = try Folder()
        try folder.put(userLine("alice", "old"))
        let source = try UsersSource(folder.file, now: second(0)) { _ in }
        var verified = VerifiedCredentials(key: [1, 2, 3])
        var users = source.current(now: second(0))
        #expect(try users.name(for: credentials("alice", "old")) == "alice")
        verified.remember(header("alice", "old"), name: "alice", generation: users.generation, now: second(0))
        #expect(verified.name(of: header("alice", "old"), generation: users.generation, now: second(1)) == "alice")
        try folder.put(userLine("alice", "new"))
        users = source.current(now: second(2))
        #expect(verified.name(of: header("alice", "old"), generation: users.generation, now: second(2)) == nil)
        #expect(try users.name(for: credentials("alice", "old")) == nil)
        #expect(try users.name(for: credentials("alice", "new")) == "alice")
    }

    @Test func manyThreadsFindTheSameUsersWhileTheFileChanges() throws {
        let folder = try Folder()
        try folder.put(userLine("user-0"))
        let source = try UsersSource(folder.file, now: second(0)) { _ in }
        let odd = Mutex(0)
        let lines = try (0..<20).map { try userLine("user-\($0)") }
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for step in 1..<20 {
                if thread == 0 { try? folder.put(lines[...step].joined()) }
                let before = source.current(now: second(Int64(step * 2)))
                let after = source.current(now: second(Int64(step * 2)))
                if after.generation < before.generation || after.file.users.count < before.file.users.count {
                    odd.withLock { $0 += 1 }
                }
            }
        }
        #expect(odd.withLock { $0 } == 0)
        #expect(source.current(now: second(1000)).file.users.count == 20)
    }
}
