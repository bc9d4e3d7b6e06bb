import Dispatch
import Foundation
import HubServer
import SQLite
import TestSupport
import Testing

@testable import HubStore

@Suite(.tags(.c, .threads)) struct HubFileTests {
    private let stage: HubFileStage

    init() throws { stage = try HubFileStage() }

    @Test func whatWasChangedIsThereAfterARestart() throws {
        let file = try stage.open()
        try file.insert(1)
        try file.setValue("key", to: [1, 2, 3])
        try file.setValue("key", to: [4])
        file.close()
        let again = try stage.open()
        defer { again.close() }
        #expect(try again.numbers == [1])
        #expect(try again.value("key") == [4])
        #expect(try again.value("other") == nil)
        #expect(again.byteCount > 0 && again.problem == nil)
    }

    @Test func aRefusedChangeLeavesNothingAndOthersStay() throws {
        let file = try stage.open()
        defer { file.close() }
        let outcomes = Box<[Int: Int]>([:])
        let group = DispatchGroup()
        for number in 0..<100 {
            group.enter()
            file.changeLater { (connection) throws(RefusedCall) in
                try connection.insert(Int64(number))
                if number % 2 == 1 { throw RefusedCall(409, detail: "odd") }
                return number
            } done: { result in
                outcomes.withLock { outcomes in
                    switch result {
                    case .success(let value): outcomes[number] = value
                    case .failure(let refusal): outcomes[number] = refusal.answer.status
                    }
                }
                group.leave()
            }
        }
        group.wait()
        #expect(try file.numbers == (0..<50).map { 2 * $0 })
        #expect(outcomes.withLock { $0 } == Dictionary(uniqueKeysWithValues: (0..<100).map { ($0, $0 % 2 == 0 ? $0 : 409) }))
        #expect(file.problem == nil)
    }

    @Test(arguments: [(Duration.seconds(3600), false), (.zero, true)])
    func changesThatWaitShareATransaction(batchTime: Duration, isFirstThereBefore: Bool) throws {
        let file = try stage.open(batchTime: batchTime)
        defer { file.close() }
        let (begun, queued, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let seen = Box<[Int64]?>(nil)
        file.changeLater { (connection) throws(RefusedCall) in
            begun.signal()
            queued.wait()
            try connection.insert(1)
        } done: { _ in
            ended.signal()
        }
        begun.wait()
        file.changeLater { (connection) throws(RefusedCall) in
            // Another connection sees what is committed.
            let numbers = try file.numbers
            seen.withLock { $0 = numbers }
            try connection.insert(2)
        } done: { _ in
            ended.signal()
        }
        queued.signal()
        for _ in 0..<2 { ended.wait() }
        #expect(seen.withLock { $0 } == (isFirstThereBefore ? [1] : []))
        #expect(try file.numbers == [1, 2])
    }

    @Test func aFaultOfAStatementEndsItsChangeOnly() throws {
        let file = try stage.open()
        defer { file.close() }
        let detail = expectUnavailable { () throws(RefusedCall) in
            try file.change { (connection) throws(RefusedCall) in
                try connection.insert(1)
                try connection.execute("INSERT INTO unknown VALUES (1)")
            }
        }
        #expect(detail.contains("no such table"))
        #expect(file.problem == nil)
        #expect(try file.numbers == [])
    }

    @Test func aReadingSeesOneState() throws {
        let file = try stage.open()
        defer { file.close() }
        try file.insert(1)
        let seen = try file.read { (connection) throws(RefusedCall) in
            let before = try connection.numbers()
            // The writer has a thread of its own.
            try file.insert(2)
            return [before, try connection.numbers()]
        }
        #expect(seen == [[1], [1]])
        #expect(try file.numbers == [1, 2])
    }

    @Test func aStatementLeftAtARowHoldsNoState() throws {
        let file = try stage.open()
        defer { file.close() }
        try file.insert(1)
        for _ in 0..<8 {
            _ = try file.read { (connection) throws(RefusedCall) in
                let statement = try connection.statement("SELECT n FROM t")
                return try connection.storing { () throws(SQLiteError) in try statement.step() }
            }
        }
        try file.insert(2)
        for _ in 0..<8 { #expect(try file.numbers == [1, 2]) }
    }

    @Test func aReadingCannotWrite() throws {
        let file = try stage.open()
        defer { file.close() }
        expectUnavailable { () throws(RefusedCall) in
            try file.read { (connection) throws(RefusedCall) in try connection.insert(1) }
        }
        #expect(try file.numbers == [])
    }

    @Test func closingCarriesOutWhatWaitsAndRefusesTheRest() throws {
        let file = try stage.open()
        let kept = Box(0)
        for number in 0..<100 {
            file.changeLater { (connection) throws(RefusedCall) in
                try connection.insert(Int64(number))
            } done: { result in
                if case .success = result { kept.withLock { $0 += 1 } }
            }
        }
        file.close()
        file.close()
        #expect(kept.withLock { $0 } == 100)
        #expect(expectUnavailable { () throws(RefusedCall) in try file.insert(1) }.contains("closed"))
        #expect(expectUnavailable { () throws(RefusedCall) in _ = try file.numbers }.contains("closed"))
        let again = try stage.open()
        defer { again.close() }
        #expect(try again.numbers.count == 100)
    }

    @Test func onlyTheOwnerMayRead() throws {
        let file = try stage.open()
        defer { file.close() }
        for name in ["", "-wal", "-shm", ".lock"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: stage.path + name)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
    }

    @Test func whatWasRemovedIsNotInTheFile() throws {
        let file = try stage.open()
        let text = "a handle that is erased"
        try file.change { (connection) throws(RefusedCall) in
            try connection.setValue("erased", to: Array(text.utf8))
            try connection.insert(1)
        }
        try file.change { (connection) throws(RefusedCall) in try connection.execute("DELETE FROM meta WHERE name = 'erased'") }
        file.close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: stage.path))
        #expect(bytes.range(of: Data(text.utf8)) == nil && !bytes.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: stage.path + "-wal"))
    }
}
