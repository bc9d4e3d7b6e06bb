import Dispatch
import TestSupport
import Testing

import struct Foundation.Data
import class Foundation.FileManager
import struct Foundation.URL

@testable import HubServer
@testable import HubStore

/// Jobs and their files, which are there after a restart.
struct FileJobsTests {
    private let kept: JournalFile
    private let clock = Box<Int64>(1_000_000)

    init() throws { kept = try JournalFile(handleKey: JournalFile.key) }

    private func jobs(byteCapacity: Int64 = 1 << 30) -> FileJobs {
        FileJobs(kept.file, byteCapacity: byteCapacity) { [clock] in clock.withLock { $0 } }
    }

    private func put(_ bytes: [UInt8], at path: String, in jobs: FileJobs) throws {
        let draft = try jobs.draft(path)
        try draft.append(bytes)
        try draft.finish()
    }

    private func content(_ path: String, in jobs: FileJobs) throws -> [UInt8]? {
        guard let file = try jobs.file(path) else { return nil }
        return try file.bytes(from: 0, count: file.byteCount)
    }

    private var folder: URL { URL(filePath: kept.path + ".files") }

    private func names() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? [] }

    @Test func jobsAreKeptAndThoseThatHadBegunHaveFailed() throws {
        let first = jobs()
        var done = HubJob(id: "a", kind: .create, outputContainer: "http://h/o?sig=x", importFile: "http://h/i", createdAt: 5)
        (done.status, done.outputName, done.failedName) = (.completed, "o/Output.txt", "o/Failed.txt")
        let begun = HubJob(id: "b", kind: .export, outputContainer: "http://h/o", importFile: nil, createdAt: 6)
        try first.keep(
            HubJob(id: "a", kind: .create, outputContainer: "http://h/o?sig=x", importFile: "http://h/i", createdAt: 5))
        try first.keep(begun)
        try first.keep(done)
        #expect(try first.jobs().map(\.id) == ["a", "b"] && first.job("b")?.status == .started)
        first.close()
        try kept.reopen()
        let second = jobs()
        let found = try #require(try second.job("a"))
        #expect(found.kind == .create && found.outputContainer == "http://h/o?sig=x" && found.importFile == "http://h/i")
        #expect(found.createdAt == 5 && found.status == .completed && found.failure == nil)
        #expect(found.outputName == "o/Output.txt" && found.failedName == "o/Failed.txt")
        let lost = try #require(try second.job("b"))
        #expect(lost.status == .failed && lost.importFile == nil)
        #expect(lost.failure == "The hub was ended before the job was done")
        #expect(try second.job("c") == nil)
        second.close()
        kept.file.close()
        #expect(try !Data(contentsOf: URL(filePath: kept.path)).contains(Array("sig=x".utf8)))
    }

    @Test(arguments: [0, 1, JobFolder.blockByteCount - 1, JobFolder.blockByteCount, JobFolder.blockByteCount + 1, 200_000])
    func aFileIsReadInAnyParts(_ count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let jobs = jobs()
        let draft = try jobs.draft("bulk/in")
        for start in stride(from: 0, to: count, by: 50_001) { try draft.append(Array(bytes[start..<min(count, start + 50_001)])) }
        #expect(try jobs.file("bulk/in") == nil, "it is there once it is finished")
        try draft.finish()
        let file = try #require(try jobs.file("bulk/in"))
        #expect(file.byteCount == count)
        var random = SeededRandom(count)
        for _ in 0..<20 {
            let (place, length) = (random.below(count + 10), random.below(150_000))
            #expect(try file.bytes(from: place, count: length) == Array(bytes.dropFirst(place).prefix(length)))
        }
        #expect(try file.bytes(from: 0, count: .max) == bytes)
        #expect(try file.bytes(from: -1, count: 5).isEmpty && file.bytes(from: 0, count: -1).isEmpty)
    }

    @Test func aFileIsSealedAndOnlyItsOwnerMayReadIt() throws {
        let jobs = jobs()
        try put(Array("<DeviceToken>secret-handle</DeviceToken>".utf8), at: "bulk/in", in: jobs)
        let name = try #require(names().first)
        let path = folder.appending(path: name).path()
        #expect(try !Data(contentsOf: URL(filePath: path)).contains(Array("secret".utf8)))
        let rights = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(rights == 0o600)
        let ofFolder = try FileManager.default.attributesOfItem(atPath: folder.path())[.posixPermissions] as? Int
        #expect(ofFolder == 0o700)
    }

    @Test(arguments: ["../../outside", "/etc/passwd", "", ".", "a/../..", "a\u{0}b", String(repeating: "ä", count: 4000)])
    func noPathLeadsOutOfTheFolder(_ path: String) throws {
        let jobs = jobs()
        try put([1], at: path, in: jobs)
        #expect(try content(path, in: jobs) == [1] && names().count == 1)
        try jobs.removeFile(path)
        #expect(try content(path, in: jobs) == nil && names().isEmpty)
    }

    @Test func aFileTakesThePlaceOfTheOneAtItsPath() throws {
        let jobs = jobs()
        try put([1], at: "f", in: jobs)
        let former = try #require(try jobs.file("f"))
        try put([2, 2], at: "f", in: jobs)
        #expect(try content("f", in: jobs) == [2, 2] && former.bytes(from: 0, count: 9) == [1])
        do {
            let dropped = try jobs.draft("f")
            try dropped.append([3])
        }
        #expect(try content("f", in: jobs) == [2, 2] && names().count == 1)
    }

    @Test func aFileThatIsNotKeptLeavesTheFormerAsItIs() throws {
        let jobs = jobs()
        try put([1, 1, 1], at: "f", in: jobs)
        let draft = try jobs.draft("f")
        try draft.append([2])
        try kept.file.change { (connection) throws(RefusedCall) in
            try connection.run("ALTER TABLE job_file RENAME COLUMN written TO other", with: [])
        }
        #expect(throws: RefusedCall.self) { try draft.finish() }
        #expect(try content("f", in: jobs) == [1, 1, 1])
        try kept.file.change { (connection) throws(RefusedCall) in
            try connection.run("ALTER TABLE job_file RENAME COLUMN other TO written", with: [])
        }
        try draft.finish()
        #expect(try content("f", in: jobs) == [2] && names().count == 1, "it may be tried again")
    }

    @Test func onlySoManyJobsWait() throws {
        let jobs = jobs()
        let (hasBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        func submit(_ number: Int, work: @escaping @Sendable () -> Void = {}) throws -> Bool {
            let job = HubJob(id: "\(number)", kind: .export, outputContainer: "http://h/o", importFile: nil, createdAt: 1)
            return try jobs.submit(job, work: work)
        }
        #expect(
            try submit(0) {
                hasBegun.signal()
                mayEnd.wait()
            })
        hasBegun.wait()
        for number in 1...100 { #expect(try submit(number)) }
        #expect(try !submit(101) && jobs.job("101") == nil, "it is not kept either")
        mayEnd.signal()
        jobs.close()
    }

    @Test func theOldestFilesGoWhereThereAreTooManyBytes() throws {
        let jobs = jobs(byteCapacity: 100)
        for name in ["a", "b", "c"] { try put([UInt8](repeating: 1, count: 40), at: name, in: jobs) }
        #expect(try content("a", in: jobs) == nil && content("b", in: jobs) != nil && names().count == 2)
        let large = try jobs.draft("d")
        #expect(throws: RefusedCall.self) { try large.append([UInt8](repeating: 1, count: 101)) }
    }

    @Test func filesAreKeptForSevenDays() throws {
        let jobs = jobs()
        try put([1], at: "old", in: jobs)
        clock.withLock { $0 += 7 * 86_400_000 }
        try put([1], at: "new", in: jobs)
        try jobs.forgetOld()
        #expect(try content("old", in: jobs) != nil)
        clock.withLock { $0 += 1 }
        try jobs.forgetOld()
        #expect(try content("old", in: jobs) == nil && content("new", in: jobs) == [1] && names().count == 1)
    }

    @Test func whatNobodyKnowsIsGoneAfterARestart() throws {
        let first = jobs()
        try put([1], at: "known", in: first)
        let known = names()
        try Data([1]).write(to: folder.appending(path: "abcdef"))
        first.close()
        try kept.reopen()
        let second = jobs()
        #expect(names() == known && known.count == 1)
        #expect(try content("known", in: second) == [1])
    }

    @Test func jobsAreCarriedOutOneBehindTheOtherUntilTheStop() throws {
        let jobs = jobs()
        let order = Box<[Int]>([])
        let (hasBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        func run(_ id: String, _ work: @escaping @Sendable () -> Void) throws {
            let job = HubJob(id: id, kind: .export, outputContainer: "http://h/o", importFile: nil, createdAt: 1)
            #expect(try jobs.submit(job, work: work))
        }
        try run("a") { order.withLock { $0.append(1) } }
        try run("b") {
            order.withLock { $0.append(2) }
            hasBegun.signal()
            mayEnd.wait()
            // The stop is seen between two portions.
            let isOver = (try? jobs.checkRunning()) == nil
            order.withLock { $0.append(isOver ? 4 : 3) }
        }
        try run("c") { order.withLock { $0.append(5) } }
        hasBegun.wait()
        #expect(throws: Never.self) { try jobs.checkRunning() }
        jobs.close(until: .now())
        mayEnd.signal()
        jobs.close()
        #expect(order.withLock { $0 } == [1, 2, 4])
    }
}
