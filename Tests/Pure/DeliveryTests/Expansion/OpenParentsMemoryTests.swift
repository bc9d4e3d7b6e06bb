import Delivery
import PushModel
import TestSupport
import Testing

/// The memory that large requests take which have not ended.
struct OpenParentsMemoryTests {
    private static func size(_ key: ParentKey, record: Int, chunks: Int, failed: Int = 0) -> Int {
        OpenParents.fixedByteCount + key.text.utf8.count + record + (chunks + 63) / 64 * 8 + min(failed, PartTotals.maximumNamed)
            * 8
    }

    @Test(arguments: [(record: 0, chunks: 1), (500, 64), (500, 65), (3000, 1000), (100, ParentRecord.maximumChunks)])
    func aRequestCountsItsRecordAndABitForEachPart(record: Int, chunks: Int) {
        let key = ParentKey("topic:0:1")
        var parents = OpenParents()
        parents.opened(key, record: [UInt8](repeating: 1, count: record), chunks: chunks, at: 1, timestamp: 0)
        #expect(parents.byteCount == Self.size(key, record: record, chunks: chunks))
        parents.opened(key, record: [1, 2], chunks: 5000, at: 2, timestamp: 0)
        #expect(parents.byteCount == Self.size(key, record: record, chunks: chunks), "a second record changes nothing")
        parents.deleted(key, at: 3)
        #expect(parents.byteCount == 0)
    }

    @Test func partsCountOnlyAsTheyAreNamed() {
        let key = ParentKey("topic:0:1")
        var parents = OpenParents()
        parents.opened(key, record: [], chunks: 300, at: 1, timestamp: 0)
        for chunk in 0..<299 {
            let fails = chunk % 2 == 0
            for _ in 0..<2 {
                _ = parents.notePart(key, tally: OpenParentsTests.tally(chunk, fails ? .failed : .sent), at: Int64(2 + chunk))
            }
            #expect(parents.byteCount == Self.size(key, record: 0, chunks: 300, failed: chunk / 2 + 1))
        }
        #expect(parents.notePart(key, tally: OpenParentsTests.tally(299), at: 999) != nil)
        #expect(parents.byteCount == 0)
    }

    @Test(arguments: [1, 2, 3]) func whatIsCountedIsWhatIsOpenAndNothingInTheEnd(_ seed: Int) {
        var random = SeededRandom(seed)
        var parents = OpenParents()
        var open: [(key: ParentKey, record: Int, chunks: Int, ended: Int, failed: Int)] = []
        for offset in 0..<20_000 {
            let offset = Int64(offset)
            if open.count < 300, random.below(3) == 0 {
                let new = (key: ParentKey("t:\(seed):\(offset)"), record: random.below(900), chunks: 1 + random.below(9))
                let record = [UInt8](repeating: 0, count: new.record)
                parents.opened(new.key, record: record, chunks: new.chunks, at: offset, timestamp: 0)
                open.append((new.key, new.record, new.chunks, 0, 0))
            } else if !open.isEmpty, random.below(20) == 0 {
                parents.deleted(open.remove(at: random.below(open.count)).key, at: offset)
            } else if !open.isEmpty {
                let (index, fails) = (random.below(open.count), random.below(4) == 0)
                let tally = OpenParentsTests.tally(open[index].ended, fails ? .failed : .sent)
                let hasEnded = parents.notePart(open[index].key, tally: tally, at: offset) != nil
                open[index].ended += 1
                open[index].failed += fails ? 1 : 0
                #expect(hasEnded == (open[index].ended == open[index].chunks))
                if hasEnded { open.remove(at: index) }
            }
            let sum = open.reduce(0) { $0 + Self.size($1.key, record: $1.record, chunks: $1.chunks, failed: $1.failed) }
            guard parents.byteCount == sum else {
                Issue.record("\(parents.byteCount) at \(offset), where \(sum) are open")
                return
            }
        }
        for request in open { parents.deleted(request.key, at: 20_000) }
        #expect(parents.byteCount == 0 && parents.count == 0 && parents.lowWaterMark == 20_001)
    }

    /// The mark stays where the first one begins, however many others have ended behind it.
    @Test func oneThatStaysOpenHoldsTheMarkWhileOthersEnd() {
        var parents = OpenParents()
        parents.opened(ParentKey("first"), record: [], chunks: 2, at: 1, timestamp: 0)
        for number in 1...5000 {
            let key = ParentKey("t:0:\(number)")
            parents.opened(key, record: [], chunks: 1, at: Int64(2 * number), timestamp: 0)
            if number == 4000 { continue }
            #expect(parents.notePart(key, tally: OpenParentsTests.tally(0), at: Int64(2 * number + 1)) != nil)
        }
        #expect(parents.lowWaterMark == 1 && parents.count == 2)
        parents.deleted(ParentKey("first"), at: 20_000)
        #expect(parents.lowWaterMark == 8000)
        parents.deleted(ParentKey("t:0:4000"), at: 20_001)
        #expect(parents.lowWaterMark == 20_002)
    }
}
