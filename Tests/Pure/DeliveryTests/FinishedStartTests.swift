import Delivery
import TestSupport
import Testing

struct FinishedStartTests {
    /// The records' offsets, `+` behind those that are finished, and where the group begins, with what it does not repeat.
    @Test(
        arguments: [
            ("", 0, 0, [], 0, 0), ("0+ 1+ 2+", 3, 3, [], 0, 0), ("0+ 1+ 2", 2, 2, [], 1, 0), ("0 1+ 2 3+", 0, 0, [1, 3], 2, 0),
            // No record stands where a transaction ended; that in front of the start is passed.
            ("0+ 2+ 5", 5, 2, [], 1, 0), ("4+ 7+", 9, 2, [], 0, 0), ("3 5+ 9+", 3, 0, [5, 9], 1, 0),
            // The last offset that the metadata can name, and the first that it cannot.
            ("5 16388+ 16389+ 16390", 5, 0, [16_388], 2, 1),
        ] as [(String, Int64, Int, [Int64], Int, Int)])
    func aGroupBeginsAtTheFirstRecordThatIsNotFinished(
        records: String, position: Int64, passed: Int, ahead: [Int64], waiting: Int, repeated: Int
    ) throws {
        var start = FinishedStart()
        var last: Int64 = -1
        for word in records.split(separator: " ") {
            let offset = try #require(Int64(word.filter(\.isNumber)))
            start.add(offset, publishedAt: 100 + offset, isFinished: word.hasSuffix("+"))
            last = offset
        }
        let end = records == "4+ 7+" ? 9 : last + 1
        let commit = start.commit(end: end)
        #expect(commit.offset == position)
        #expect(start.passedCount == passed && start.waitingCount == waiting && start.repeatedCount == repeated)
        let finished = try FinishedOffsets(decoding: commit.metadata)
        let named = (0..<finished.bitCount).filter { finished.contains($0) }.map { position + Int64($0) }
        #expect(named == ahead && start.aheadCount == ahead.count)
        #expect(commit.metadata.utf8.count <= 2759)
    }

    @Test func theMetadataSaysWhatIsKnownOfThoseThatWorkedBefore() throws {
        var nobody = FinishedStart()
        nobody.add(4, publishedAt: 77, isFinished: false)
        let fresh = try FinishedOffsets(decoding: nobody.commit(end: 5).metadata)
        #expect(fresh.begun == 1 && fresh.latest == nil, "whoever died before the first result may have begun it")
        var somebody = FinishedStart()
        somebody.add(4, publishedAt: 80, isFinished: true)
        somebody.add(5, publishedAt: 79, isFinished: true)
        somebody.add(6, publishedAt: 99, isFinished: false)
        somebody.add(7, publishedAt: nil, isFinished: true)
        somebody.add(8, publishedAt: -1, isFinished: true)
        let known = try FinishedOffsets(decoding: somebody.commit(end: 9).metadata)
        #expect(known.begun == 3 && known.latest == 80, "up to the end")
    }

    /// Else a topic that is made again before a worker begins could have another record there.
    @Test func thePositionNamesTheFirstAndTheLastRecord() throws {
        var start = FinishedStart()
        for offset in [3, 5, 9] as [Int64] {
            let value = Array("\(offset)".utf8)
            start.read(RecordMark(offset: offset, time: offset, key: nil, value: value.span))
            start.add(offset, publishedAt: offset, isFinished: offset == 3)
        }
        let commit = start.commit(end: 10)
        let marks = try #require(try FinishedOffsets(decoding: commit.metadata).marks)
        #expect(commit.offset == 5 && marks.first.offset == 3 && marks.last.offset == 9)
    }

    /// A ledger that begins there drops exactly what is finished, unless it is told that it is repeated.
    @Test(arguments: 0..<20) func whatIsFinishedIsNotWorkedOnAgain(seed: Int) throws {
        var random = SeededRandom(seed)
        var start = FinishedStart()
        var offset = Int64(random.below(50))
        var records: [(offset: Int64, isFinished: Bool)] = []
        for _ in 0..<400 {
            let isFinished = random.below(3) > 0
            records.append((offset, isFinished))
            start.add(offset, publishedAt: nil, isFinished: isFinished)
            offset += 1 + Int64(random.below(90))
        }
        let commit = start.commit(end: offset)
        var ledger = OffsetLedger(start: commit.offset, finished: try FinishedOffsets(decoding: commit.metadata))
        var repeated = 0
        for record in records where record.offset >= commit.offset {
            let reception = ledger.received(record.offset)
            if record.isFinished && reception == .process { repeated += 1 }
            #expect(record.isFinished || reception == .process)
            if reception == .process { ledger.finished(record.offset) }
        }
        #expect(repeated == start.repeatedCount)
    }
}
