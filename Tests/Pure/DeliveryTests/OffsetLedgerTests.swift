import Delivery
import Testing

struct OffsetLedgerTests {
    /// A ledger at `start` into which `offsets` came one after another.
    private func ledger(_ offsets: [Int64], start: Int64 = 0, window: Int = OffsetLedger.maximumWindow) -> OffsetLedger {
        var ledger = OffsetLedger(start: start, window: window)
        for offset in offsets { #expect(ledger.received(offset) == .process) }
        return ledger
    }

    private func distances(_ finished: FinishedOffsets) -> [Int] {
        (0..<max(finished.bitCount, 1)).filter { finished.contains($0) }
    }

    @Test(
        arguments: [
            ([], 10, []), ([10], 11, []), ([10, 11, 12, 13], 14, []), ([13, 12, 11], 10, [1, 2, 3]), ([13, 12, 11, 10], 14, []),
            ([11], 10, [1]), ([12, 10], 11, [1]), ([10, 10, 10], 11, []),
        ] as [([Int64], Int64, [Int])])
    func committedIsTheGapFreePrefixAndTheMapHoldsTheRest(order: [Int64], mark: Int64, above: [Int]) throws {
        var ledger = ledger([10, 11, 12, 13], start: 10)
        for offset in order { ledger.finished(offset) }
        #expect(ledger.lowWaterMark == mark)
        #expect(ledger.position == 14)
        #expect(ledger.unfinishedCount == 4 - Set(order).count)
        let commit = ledger.commit()
        #expect(commit.offset == mark)
        #expect(distances(try FinishedOffsets(decoding: commit.metadata)) == above)
        #expect(commit.metadata.isEmpty == above.isEmpty)
    }

    @Test(arguments: [[], [10], [12, 13]] as [[Int64]])
    func aCommitNamesTheRecordsThatWereReadWhateverItLeavesOut(left: [Int64]) throws {
        var ledger = ledger([10, 11, 12, 13], start: 10)
        for offset in [10, 12, 13] as [Int64] { ledger.finished(offset) }
        var marks = ReadMarks(RecordMark(offset: 10, time: 5, key: nil, value: nil))
        marks.read(RecordMark(offset: 13, time: nil, key: nil, value: nil))
        let commit = ledger.commit(leavingOut: left, marks: marks)
        #expect(try FinishedOffsets(decoding: commit.metadata).marks == marks)
        #expect(try FinishedOffsets(decoding: ledger.commit(marks: marks).metadata).marks == marks)
    }

    /// Of 10 to 13, finished in any order, what is left out counts as unfinished, below the mark and above it.
    @Test(
        arguments: [
            ([10, 11, 12, 13], [], 14, []), ([10, 11, 12, 13], [10], 10, [1, 2, 3]), ([10, 11, 12, 13], [12, 13], 12, []),
            ([10, 11, 12, 13], [11, 13], 11, [1]), ([10, 12, 13], [12], 11, [2]), ([12, 13], [13], 10, [2]),
            ([12, 13], [12, 13], 10, []),
        ] as [([Int64], [Int64], Int64, [Int])])
    func whatACommitLeavesOutIsUnfinishedInIt(finished: [Int64], left: [Int64], mark: Int64, above: [Int]) throws {
        var ledger = ledger([10, 11, 12, 13], start: 10)
        for offset in finished { ledger.finished(offset) }
        let commit = ledger.commit(leavingOut: left)
        #expect(commit.offset == mark)
        #expect(distances(try FinishedOffsets(decoding: commit.metadata)) == above)
    }

    /// However far the mark has moved on, the map stays within what brokers take.
    @Test func whatIsLeftOutLongAgoLeavesTheMapItsRoom() throws {
        var ledger = OffsetLedger(start: 0, window: 16_384)
        for offset in 0..<Int64(60_000) where ledger.received(offset) == .process { ledger.finished(offset) }
        let commit = ledger.commit(leavingOut: [100, 30_000])
        #expect(commit.offset == 100)
        #expect(commit.metadata.utf8.count < 4096)
        let finished = try FinishedOffsets(decoding: commit.metadata)
        #expect(!finished.contains(0) && finished.contains(1) && finished.contains(16_383) && !finished.contains(16_384))
    }

    @Test(arguments: [-5, 0, 9, 12, 13, 14, 20, 16_394, 30_000, .max, .min] as [Int64])
    func finishingWhatIsNotInWorkChangesNothing(offset: Int64) {
        var ledger = ledger([10, 11], start: 10)
        _ = ledger.received(13)
        ledger.finished(13)
        let before = (ledger.commit(), ledger.unfinishedCount, ledger.position)
        ledger.finished(offset)
        #expect(ledger.commit() == before.0)
        #expect(ledger.unfinishedCount == before.1)
        #expect(ledger.position == before.2)
    }

    @Test func whatIsKnownNeedsNothingMore() {
        var finished = FinishedOffsets()
        for distance in [1, 3] { finished.insert(distance) }
        var ledger = OffsetLedger(start: 10, finished: finished)
        #expect((8..<16).filter { ledger.isKnown($0) } == [8, 9, 11, 13])
        #expect(ledger.received(10) == .process)
        #expect((8..<16).filter { ledger.isKnown($0) } == [8, 9, 10, 11, 13])
        for offset in Int64(11)..<16 { #expect((ledger.received(offset) == .alreadyFinished) == [11, 13].contains(offset)) }
        #expect(!ledger.isKnown(.max))
    }

    @Test func anOffsetBeforeThePositionIsNotProcessedAgain() {
        var ledger = ledger([10, 11], start: 10)
        #expect(ledger.received(10) == .alreadyFinished)
        #expect(ledger.received(3) == .alreadyFinished)
        #expect(ledger.unfinishedCount == 2)
    }

    /// Of 10, 11 and 14, where 12 and 13 do not exist, only the last one can be unread again.
    @Test(
        arguments: [(14, true), (13, false), (11, false), (9, false), (15, false), (.max, false), (.min, false)]
            as [(Int64, Bool)])
    func theLastRecordCanBeTakenBackAndComesAgain(offset: Int64, isTaken: Bool) {
        var ledger = ledger([10, 11, 14], start: 10)
        ledger.finished(11)
        let before = ledger.commit()
        #expect(ledger.takeBack(offset) == isTaken)
        #expect(ledger.position == (isTaken ? 14 : 15) && ledger.unfinishedCount == (isTaken ? 1 : 2))
        #expect(ledger.commit() == before)
        let again: OffsetLedger.Reception = isTaken ? .process : .alreadyFinished
        #expect(ledger.received(14) == again)
        for offset in [10, 14] as [Int64] { ledger.finished(offset) }
        #expect(ledger.commit() == LedgerCommit(offset: 15, metadata: ""))
    }

    @Test func whatIsFinishedIsNotTakenBack() {
        var ledger = ledger([10, 11], start: 10)
        ledger.finished(11)
        #expect(ledger.takeBack(11) == false)
        ledger.finished(10)
        #expect(ledger.takeBack(11) == false)
        #expect(ledger.lowWaterMark == 12)
    }

    /// A partition's first record, which alone is in work: the mark does not pass it.
    @Test func aFirstRecordThatIsTakenBackHoldsTheMark() {
        var ledger = ledger([7], start: 3)
        #expect(ledger.takeBack(7) == true)
        #expect(ledger.lowWaterMark == 7 && ledger.position == 7 && ledger.unfinishedCount == 0)
        #expect(ledger.received(7) == .process)
        #expect(ledger.received(8) == .process)
        ledger.finished(8)
        #expect(ledger.lowWaterMark == 7)
    }

    @Test func gapsCountAsFinishedWhenALaterRecordIsSeen() {
        var ledger = ledger([0, 3], start: 0)
        #expect(distances(ledger.finishedOffsets()) == [1, 2])
        ledger.finished(0)
        #expect(ledger.lowWaterMark == 3)
        ledger.finished(3)
        #expect(ledger.lowWaterMark == 4)
    }

    @Test(arguments: [100, 16_383, 16_384, 16_385, 1_000_000_007, 9_000_000_000_000_000_000] as [Int64])
    func anyGapIsCrossedAtOnceWhenNothingIsInWork(width: Int64) {
        var ledger = ledger([0], start: 0)
        ledger.finished(0)
        #expect(ledger.received(1 + width) == .process)
        #expect(ledger.lowWaterMark == 1 + width)
        #expect(ledger.commit().metadata.isEmpty)
        ledger.finished(1 + width)
        #expect(ledger.commit() == LedgerCommit(offset: 2 + width, metadata: ""))
    }

    @Test(arguments: [16_384, 16_385, 40_000, 1_000_000_007] as [Int64])
    func aGapWiderThanTheWindowWaitsForTheWorkBeforeIt(next: Int64) {
        var ledger = ledger([0, 100], start: 0)
        #expect(ledger.received(next) == .beyondWindow)
        #expect(ledger.unfinishedCount == 2)
        #expect(!ledger.hasRoom)
        ledger.finished(0)
        #expect(ledger.lowWaterMark == 100)
        #expect(ledger.received(next) == (next < 16_484 ? .process : .beyondWindow))
        ledger.finished(100)
        #expect(ledger.lowWaterMark == next)
        if next >= 16_484 { #expect(ledger.received(next) == .process) }
        #expect(ledger.unfinishedCount == 1)
        ledger.finished(next)
        #expect(ledger.commit() == LedgerCommit(offset: next + 1, metadata: ""))
    }

    @Test(arguments: [16, 17, 64, 1000, 16_384])
    func readingStopsWhenTheWindowIsFullAndGoesOnWhenItMoves(window: Int) {
        var ledger = OffsetLedger(start: 7, window: window)
        for offset in 7..<Int64(7 + window) {
            #expect(ledger.hasRoom)
            #expect(ledger.received(offset) == .process)
        }
        #expect(!ledger.hasRoom)
        let next = Int64(7 + window)
        #expect(ledger.received(next) == .beyondWindow)
        #expect(ledger.received(next) == .beyondWindow)
        for offset in (8..<next).reversed() { ledger.finished(offset) }
        #expect(ledger.received(next) == .beyondWindow)
        ledger.finished(7)
        #expect(ledger.hasRoom)
        #expect(ledger.received(next) == .process)
        #expect(ledger.unfinishedCount == 1)
    }

    @Test(arguments: [(-1, 16), (0, 16), (15, 16), (16, 16), (20_000, 16_384), (.max, 16_384)] as [(Int, Int)])
    func windowsOutOfRangeAreClamped(asked: Int, given: Int) {
        #expect(OffsetLedger(start: 0, window: asked).window == given)
    }

    @Test func aRestoredBitmapDropsExactlyWhatIsSet() throws {
        var first = ledger(Array(50..<60), start: 50)
        for offset in [51, 52, 55, 59] as [Int64] { first.finished(offset) }
        let commit = first.commit()
        var second = OffsetLedger(start: commit.offset, finished: try FinishedOffsets(decoding: commit.metadata))
        #expect(second.commit() == commit)
        let receptions = (50..<61).map { second.received($0) }
        let dropped = receptions.indices.filter { receptions[$0] == .alreadyFinished }.map { $0 + 50 }
        #expect(dropped == [51, 52, 55, 59])
        #expect(second.unfinishedCount == 7)
        for offset in [50, 53, 54, 56, 57, 58, 60] as [Int64] { second.finished(offset) }
        #expect(second.commit() == LedgerCommit(offset: 61, metadata: ""))
    }

    @Test func aCommitMadeBeforeRestoredRecordsAreSeenAgainStillNamesThem() throws {
        var first = ledger(Array(0..<100), start: 0)
        first.finished(90)
        var second = OffsetLedger(start: 0, finished: try FinishedOffsets(decoding: first.commit().metadata))
        #expect(second.received(0) == .process)
        second.finished(0)
        #expect(second.lowWaterMark == 1)
        #expect(distances(second.finishedOffsets()) == [89])
    }

    /// Else the worker would keep it back for ever: it waits for `process`, which never comes.
    @Test func aRestoredBitBeyondASmallerWindowIsDroppedAtOnce() {
        var finished = FinishedOffsets()
        finished.insert(20)
        var ledger = OffsetLedger(start: 0, finished: finished, window: 16)
        for offset in 0..<16 as Range<Int64> { #expect(ledger.received(offset) == .process) }
        #expect(ledger.received(20) == .alreadyFinished)
        #expect(ledger.received(21) == .beyondWindow)
        for offset in 0..<16 as Range<Int64> { ledger.finished(offset) }
        #expect(ledger.lowWaterMark == 21)
        #expect(ledger.received(21) == .process)
    }

    @Test func restoredBitsOfRecordsThatAreGoneAreForgotten() {
        var finished = FinishedOffsets()
        for distance in [3, 9] { finished.insert(distance) }
        var ledger = OffsetLedger(start: 100, finished: finished)
        #expect(ledger.received(5000) == .process)
        #expect(ledger.lowWaterMark == 5000)
        #expect(ledger.received(100 + 16_384 + 3) == .process)
        #expect(ledger.unfinishedCount == 2)
        ledger.finished(5000)
        #expect(ledger.lowWaterMark == 100 + 16_384 + 3)
    }

    @Test func theEndOfThePartitionClosesTheGapBeforeIt() {
        var ledger = ledger([0, 1], start: 0)
        ledger.reachedEnd(5)
        #expect(ledger.position == 5)
        ledger.finished(1)
        ledger.finished(0)
        #expect(ledger.commit() == LedgerCommit(offset: 5, metadata: ""))
        ledger.reachedEnd(9)
        #expect(ledger.commit() == LedgerCommit(offset: 9, metadata: ""))
        ledger.reachedEnd(3)
        #expect(ledger.position == 9)
        #expect(ledger.received(9) == .process)
    }

    @Test func aWideGapBeforeTheEndIsClosedByTheLastOfTheWork() {
        var ledger = ledger([0, 1], start: 0)
        ledger.reachedEnd(50_000)
        #expect(ledger.lowWaterMark == 0)
        ledger.finished(0)
        ledger.finished(1)
        #expect(ledger.commit() == LedgerCommit(offset: 50_000, metadata: ""))
        #expect(ledger.received(50_000) == .process)
    }

    @Test(arguments: [(0, 16_384), (1, 16_384), (63, 1000), (16_383, 16_384), (123_456_789, 16_384), (5, 16)] as [(Int64, Int)])
    func metadataNeverExceedsWhatABrokerTakes(start: Int64, window: Int) throws {
        var ledger = OffsetLedger(start: start, window: window)
        for offset in start..<start + Int64(window) { _ = ledger.received(offset) }
        _ = ledger.received(start + 1_000_000)
        for offset in start + 1..<start + Int64(window) { ledger.finished(offset) }
        let commit = ledger.commit()
        #expect(commit.offset == start)
        #expect(commit.metadata.utf8.count == 2735)
        #expect(distances(try FinishedOffsets(decoding: commit.metadata)) == Array(1..<16_384))
    }

    @Test(arguments: [.min, -1_000_000, -1, .max - 1, .max] as [Int64])
    func offsetsThatNoBrokerHasDoNotTrap(offset: Int64) {
        var finished = FinishedOffsets()
        finished.insert(16_383)
        var ledger = OffsetLedger(start: offset, finished: finished)
        _ = ledger.received(offset)
        _ = ledger.received(.max)
        ledger.reachedEnd(.max)
        ledger.finished(offset)
        #expect(ledger.lowWaterMark <= ledger.position)
        #expect(ledger.commit().metadata.utf8.count <= 2735)
    }
}
