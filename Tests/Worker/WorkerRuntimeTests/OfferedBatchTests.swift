import Delivery
import Kafka
import PushModel
import TestSupport
import Testing

@testable import WorkerRuntime

/// What is offered, put back and committed: each record is in one place.
@Suite
struct OfferedBatchTests {
    private static let id = TopicPartition(topic: "requests", partition: 0)

    private static func add(_ offset: Int64, to batch: inout OutcomeBatch) {
        batch.add(.results, of: .init(slot: 0, offset: offset)) { $0.setValue { $0.append(decimal: Int(offset)) } }
    }

    /// The values of the records.
    private static func texts(_ batch: OutcomeBatch?) -> [String] {
        guard let batch else { return [] }
        return batch.records.map { batch.text($0.value, of: $0) }
    }

    /// A selection as a cycle makes it: of all, or of the unit at one offset alone.
    private static func selection(of batch: OutcomeBatch, only offset: Int64? = nil) throws -> CommitSelection {
        var cycle = CommitCycle(.init(interval: 0, transactionTimeout: 60_000_000_000))
        guard let offset else {
            let holdings = CommitCycle.Holdings(recordCount: batch.records.count, byteCount: batch.byteCount, isDrained: false)
            return try #require(cycle.noteHoldings(holdings, now: 0) { batch.units() }.selection)
        }
        // More than one commit may have, so that units have their turns.
        let units = batch.units().filter { $0.id.offset == offset }
        let holdings = CommitCycle.Holdings(recordCount: units.count, byteCount: .max, isDrained: false)
        return try #require(cycle.noteHoldings(holdings, now: 0) { units }.selection)
    }

    @Test func allIsTakenAndTheOutboxGoesOnInTheMemoryOfTheBatchBefore() throws {
        var (offered, outbox) = (OfferedBatch(), OutcomeBatch())
        for offset in [1, 2] as [Int64] { Self.add(offset, to: &outbox) }
        offered.take(try Self.selection(of: outbox), from: &outbox)
        #expect(outbox.isEmpty && Self.texts(offered.job?.batch) == ["1", "2"] && offered.recordCount == 2)
        offered.add(LedgerCommit(offset: 3, metadata: "m"), of: 0, partition: Self.id, before: nil)
        #expect(offered.positions.map { $0.0 } == [0] && offered.positions.map { LedgerCommit($0.1).offset } == [3])
        #expect(offered.job?.before == [nil] && offered.job?.standing == .unpublished)
        offered.recycle()
        #expect(offered.job == nil && offered.spare.isEmpty && offered.recordCount == 0 && Array(offered.positions).isEmpty)
    }

    @Test func aPartIsTakenAndTheRestWaits() throws {
        var (offered, outbox) = (OfferedBatch(), OutcomeBatch())
        for offset in 1...3 as ClosedRange<Int64> { Self.add(offset, to: &outbox) }
        let selection = try Self.selection(of: outbox, only: 2)
        #expect(!selection.isAll)
        offered.take(selection, from: &outbox)
        #expect(Self.texts(outbox) == ["1", "3"] && Self.texts(offered.job?.batch) == ["2"])
        Self.add(4, to: &outbox)
        offered.add(LedgerCommit(offset: 1, metadata: ""), of: 0, partition: Self.id, before: nil)
        #expect(offered.putBack(into: &outbox) == [0])
        #expect(Self.texts(outbox) == ["2", "1", "3", "4"] && offered.job == nil)
        #expect(offered.putBack(into: &outbox).isEmpty && outbox.records.count == 4, "there is nothing to put back")
    }

    /// Whatever is taken, put back and committed in any order, no record is lost or there twice.
    @Test(arguments: 0..<20) func eachRecordIsInOnePlace(seed: Int) throws {
        var random = SeededRandom(seed)
        var (offered, outbox, committed) = (OfferedBatch(), OutcomeBatch(), [String]())
        var count: Int64 = 0
        for _ in 0..<200 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                Self.add(count, to: &outbox)
                count += 1
            case 2 where offered.job == nil && !outbox.isEmpty:
                let one = Bool.random(using: &random) ? outbox.records.randomElement(using: &random)?.origin.offset : nil
                offered.take(try Self.selection(of: outbox, only: one), from: &outbox)
                offered.add(LedgerCommit(offset: count, metadata: ""), of: 0, partition: Self.id, before: nil)
            case 3 where Bool.random(using: &random):
                committed += Self.texts(offered.job?.batch)
                offered.recycle()
            case 3: _ = offered.putBack(into: &outbox)
            default: break
            }
            let all = committed + Self.texts(offered.job?.batch) + Self.texts(outbox)
            #expect(all.compactMap { Int64($0) }.sorted() == Array(0..<count))
        }
        #expect(!committed.isEmpty)
    }
}

extension CommitCycle.Action {
    /// The selection that is to be offered, or nil for anything else.
    fileprivate var selection: CommitSelection? { if case .offer(let selection) = self { selection } else { nil } }
}
