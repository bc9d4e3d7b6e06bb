import Basics
import Crypto
import EventLoop
import Foundation
import Keys
import Synchronization
import TestSupport
import Testing

@Suite(.tags(.c, .threads)) struct KeySourceTests {
    /// What a source told.
    private final class Reports: Sendable {
        private let told = Mutex<[KeySource.Report]>([])

        func add(_ report: KeySource.Report) { told.withLock { $0.append(report) } }
        var all: [KeySource.Report] { told.withLock { $0 } }
    }

    @Test func onlyTheKeyItselfIsRight() throws {
        let (one, two) = (try newKey(), try newKey())
        let known = try KnownKeys(file(one, two))
        for key in [one, two] { #expect(try known.verdict(on: presented(key.text), at: 1000) == .right(key.key)) }
        let wrong = [
            "pf_\(one.key.id)_" + two.text.suffix(43), "pf_00000000_" + one.text.suffix(43),
            String(one.text.dropLast()) + (one.text.hasSuffix("A") ? "B" : "A"), try newKey().text,
        ]
        for text in wrong { #expect(try known.verdict(on: presented(text), at: 1000) == .wrong) }
        #expect(try KnownKeys(KeysFile()).verdict(on: presented(one.text), at: 1000) == .wrong)
    }

    @Test(arguments: [(1999, true), (2000, false), (9999, false)] as [(Int64, Bool)])
    func aKeyIsRightUntilItExpires(seconds: Int64, isRight: Bool) throws {
        let new = try newKey { $0.expiresAt = 2000 }
        let verdict = try KnownKeys(file(new)).verdict(on: presented(new.text), at: seconds)
        #expect(verdict == (isRight ? .right(new.key) : .ended))
    }

    @Test func whoDoesNotKnowTheSecretDoesNotLearnThatAKeyHasEnded() throws {
        let new = try newKey { $0.expiresAt = 2000 }
        var file = try file(new)
        _ = file.revoke(new.key.id, at: 1500)
        let known = try KnownKeys(file)
        #expect(try known.verdict(on: presented(new.text), at: 1500) == .ended)
        #expect(try known.verdict(on: presented("pf_\(new.key.id)_" + newKey().text.suffix(43)), at: 1500) == .wrong)
    }

    @Test func twoKeysOfOneOwnerCountSideBySide() throws {
        let (old, new) = (try newKey { $0.tenant = "acme" }, try newKey { $0.tenant = "acme" })
        var file = try file(old, new)
        #expect(try KnownKeys(file).verdict(on: presented(old.text), at: 1000) == .right(old.key))
        _ = file.revoke(old.key.id, at: 1000)
        #expect(try KnownKeys(file).verdict(on: presented(old.text), at: 1000) == .ended)
        #expect(try KnownKeys(file).verdict(on: presented(new.text), at: 1000) == .right(new.key))
    }

    @Test func aChangedFileCountsTwoSecondsLater() throws {
        let folder = try Folder()
        let reports = Reports()
        let (one, two) = (try newKey(), try newKey())
        var keys = try file(one, two)
        try folder.put(keys.bytes)
        let source = try KeySource(folder.file, now: second(10), report: reports.add)
        func verdict(at moment: Int64) throws -> KeyVerdict {
            try source.current(now: second(moment)).verdict(on: presented(one.text), at: 1000)
        }
        #expect(try verdict(at: 10) == .right(one.key))
        _ = keys.revoke(one.key.id, at: 1000)
        try folder.put(keys.bytes)
        #expect(try verdict(at: 11) == .right(one.key))
        #expect(try verdict(at: 12) == .ended)
        #expect(reports.all == [.read(count: 2)])
    }

    @Test func aBrokenFileKeepsTheKeysAndIsToldOnce() throws {
        let folder = try Folder()
        let reports = Reports()
        let new = try newKey()
        try folder.put(file(new).bytes)
        let source = try KeySource(folder.file, now: second(0), report: reports.add)
        try folder.put(Array("\(new.text)\n".utf8))
        for moment in [2, 4, 6] as [Int64] {
            #expect(try source.current(now: second(moment)).verdict(on: presented(new.text), at: 1000) == .right(new.key))
        }
        #expect(reports.all.count == 1)
        guard case .kept(because: .fault(let fault)) = reports.all.first else {
            Issue.record("the broken file was not told of")
            return
        }
        #expect(fault.line == 1 && !"\(reports.all)".contains(new.text.suffix(43)))
        try FileManager.default.removeItem(atPath: folder.file)
        #expect(source.current(now: second(8)).file.count == 1)
        try folder.put(file(newKey(), new).bytes)
        #expect(source.current(now: second(10)).file.count == 2)
        #expect(Array(reports.all.dropFirst()) == [.kept(because: .missing), .read(count: 2)])
    }

    @Test func aKeyThatTheFileHasIsKnownToWhoeverAsksForTheLatest() throws {
        let folder = try Folder()
        let reports = Reports()
        let (old, new) = (try newKey(), try newKey())
        try folder.put(file(old).bytes)
        let source = try KeySource(folder.file, now: second(0), report: reports.add)
        let first = source.latest(now: second(1))
        #expect(first.generation == source.current(now: second(1)).generation, "an unchanged file is not read")
        try folder.put(file(old, new).bytes)
        let moment = second(1).advanced(by: .microseconds(999))
        #expect(source.latest(now: moment).file.count == 1, "many who ask make one look in 1 ms")
        #expect(source.current(now: second(2)).file.count == 1)
        #expect(source.latest(now: second(2)).file.count == 2)
        #expect(source.current(now: second(2)).file.count == 2 && reports.all == [.read(count: 2)])
    }

    @Test func aFileThatIsCutAnywhereKeepsTheKeysUntilItIsWholeAgain() throws {
        let folder = try Folder()
        let (one, two, three) = (try newKey { $0.expiresAt = 2000 }, try newKey { $0.comment = "shop" }, try newKey())
        var keys = try file(one, two, three)
        _ = keys.revoke(three.key.id, at: 1000)
        let bytes = keys.bytes
        try folder.put(bytes)
        let source = try KeySource(folder.file, now: second(0)) { _ in }
        for count in bytes.indices {
            try folder.put(Array(bytes.prefix(count)))
            for pause in [2, 60] as [Int64] {
                let known = source.current(now: second(Int64(count) * 100 + pause))
                #expect(known.generation == 1 && known.file == keys, "cut behind \(count) bytes")
            }
        }
        _ = keys.revoke(one.key.id, at: 1000)
        try folder.put(keys.bytes)
        #expect(source.current(now: .never).file == keys)
    }

    @Test func aFileThatIsEmptiedAndWrittenAgainKeepsTheKeys() throws {
        let folder = try Folder()
        let reports = Reports()
        let keys = try file(newKey(), newKey())
        try folder.put(keys.bytes)
        let source = try KeySource(folder.file, now: second(0), report: reports.add)
        for (moment, bytes) in [(2, []), (4, [10]), (6, keys.bytes)] as [(Int64, [UInt8])] {
            try folder.put(bytes)
            #expect(source.current(now: second(moment)).file == keys)
        }
        #expect(reports.all == [.kept(because: .cut), .kept(because: .unsettled), .read(count: 2)])
    }

    @Test func aLineTakenOutOfAFileWithoutAnEmptyLineAtItsEndCountsTenSecondsLater() throws {
        let folder = try Folder()
        let reports = Reports()
        let (one, two) = (try newKey(), try newKey())
        try folder.put(file(one, two).bytes.dropLast())
        let source = try KeySource(folder.file, now: second(0), report: reports.add)
        try folder.put(file(two).bytes.dropLast())
        for (moment, count) in [(2, 2), (4, 2), (11, 2), (13, 1)] as [(Int64, Int)] {
            #expect(source.current(now: second(moment)).file.count == count)
        }
        #expect(reports.all == [.kept(because: .unsettled), .read(count: 1)])
    }

    @Test func theFirstReadingMustSucceed() throws {
        let folder = try Folder()
        #expect(throws: KeysError.missing) { try KeySource(folder.file, now: second(0)) { _ in } }
        try folder.put(Array("broken\n".utf8))
        #expect(throws: KeysError.self) { try KeySource(folder.file, now: second(0)) { _ in } }
    }
}
