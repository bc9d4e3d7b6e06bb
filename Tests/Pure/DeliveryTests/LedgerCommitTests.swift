import Delivery
import TestSupport
import Testing

/// Positions for brokers that take no longer metadata, and those that partitions are given while no worker is at work.
struct LedgerCommitTests {
    /// A position with the metadata that a commit would give it; `finished` has offsets.
    private static func position(
        _ offset: Int64, _ finished: [Int64], latest: Int64? = nil, begun: Int64? = nil
    ) -> LedgerCommit {
        var offsets = FinishedOffsets()
        for place in finished { offsets.insert(Int(place - offset)) }
        offsets.latest = latest
        offsets.begun = begun
        return LedgerCommit(offset: offset, metadata: offsets.encoded())
    }

    /// The offsets that a position names.
    private static func finished(_ position: LedgerCommit) throws -> [Int64] {
        let map = try FinishedOffsets(decoding: position.metadata)
        return (0..<map.bitCount).filter { map.contains($0) }.map { position.offset + Int64($0) }
    }

    /// The earlier position with what it names, where the next one stands, and what that names.
    @Test(
        arguments: [
            (0, [5, 9], 0, [5, 9]), (0, [5, 9], 3, [5, 9]), (0, [5, 9], 5, [5, 9]), (0, [5, 9], 6, [9]), (0, [5, 9], 10, []),
            (0, [5, 9], .max, []), (0, [], 0, []), (7, [9], 3, []), (100, [16_483], 101, [16_483]),
        ] as [(Int64, [Int64], Int64, [Int64])])
    func inOrderAPositionNamesWhatAnEarlierOneNamedAndNothingElse(
        earlier: Int64, named: [Int64], offset: Int64, kept: [Int64]
    ) throws {
        let whole =
            offset == .max ? LedgerCommit(offset: offset, metadata: "") : Self.position(offset, [offset + 1, offset + 40])
        let position = whole.inOrder(after: Self.position(earlier, named))
        #expect(position.offset == offset)
        #expect(try Self.finished(position) == kept)
    }

    @Test func inOrderAPositionNamesNothingWhereTheGroupHasNone() {
        let whole = Self.position(3, [5], latest: 1_700_000_000_000, begun: 7)
        #expect(whole.inOrder(after: nil) == Self.position(3, [], latest: 1_700_000_000_000, begun: 7))
        #expect(whole.inOrder(after: LedgerCommit(offset: 0, metadata: "9AAAA")).metadata == "31700000000000:7:")
    }

    /// Brokers took as much before, and may take no more.
    @Test(arguments: 0..<50) func inOrderThereIsNoMoreMetadataThanBrokersTookWhileItNamesAnOffset(seed: Int) throws {
        var random = SeededRandom(seed)
        let start = Int64(random.below(1000))
        let named = (1...(1 + random.below(300))).filter { _ in random.below(3) > 0 }.map { start + Int64($0) }
        let earlier = Self.position(start, named, latest: random.below(2) == 0 ? nil : 999)
        let offset = start + Int64(random.below(60))
        let whole = Self.position(
            offset, [offset + 1], latest: 1_700_000_000_000, begun: random.below(2) == 0 ? nil : Int64(random.below(16_384)))
        let position = whole.inOrder(after: earlier)
        #expect(try Self.finished(position) == named.filter { $0 >= offset })
        let isNaming = try FinishedOffsets(decoding: position.metadata).bitCount > 0
        #expect(!isNaming || position.metadata.utf8.count <= earlier.metadata.utf8.count)
    }

    /// A map that was committed must not be overwritten by none when brokers begin to refuse longer ones.
    @Test func whatWasPublishedBehindThePositionIsNotWorkedOnAgainWhenBrokersTakeNoLongerMap() throws {
        var ledger = OffsetLedger(start: 0)
        for offset in Int64(0)..<10 { _ = ledger.received(offset) }
        ledger.finished(5)
        let recorded = ledger.commit()
        // 0 goes out, and 7 waits for those before it.
        ledger.finished(7)
        ledger.finished(0)
        let position = ledger.commit().inOrder(after: recorded)
        #expect(position.offset == 1)
        var next = OffsetLedger(start: position.offset, finished: try FinishedOffsets(decoding: position.metadata))
        let again = (Int64(1)..<10).filter { next.received($0) == .process }
        #expect(again == [1, 2, 3, 4, 6, 7, 8, 9])
    }

    /// Where the group goes on, the partition's end, and how far behind the position requests may have been begun.
    @Test(
        arguments: [
            (0, 0, 0), (4, 5, 1), (9, 5, 0), (0, 16_384, 16_384), (0, 16_385, nil), (.min, .max, nil), (.max, .max, 0),
        ] as [(Int64, Int64, Int64?)])
    func whileNoWorkerIsAtWorkWhatLiesBeforeTheEndMayHaveBeenBegun(offset: Int64, end: Int64, begun: Int64?) throws {
        let position = LedgerCommit(offset: offset, end: end)
        #expect(position.offset == offset)
        #expect(try FinishedOffsets(decoding: position.metadata).begun == begun)
    }
}
