import Delivery
import Foundation
import TestSupport
import Testing

struct FinishedOffsetsTests {
    @Test func theEmptySetIsAnEmptyText() throws {
        #expect(FinishedOffsets().encoded().isEmpty)
        #expect(try FinishedOffsets(decoding: "") == FinishedOffsets())
        #expect(try FinishedOffsets(decoding: "3::") == FinishedOffsets())
    }

    /// Bit 0 is the least of the first byte (page Kafka, "Offsets").
    @Test(
        arguments: [([0], "3::AQ=="), ([8], "3::AAE="), ([1, 2, 17], "3::BgAC"), ([23], "3::AACA"), ([24], "3::AAAAAQ==")]
            as [([Int], String)])
    func theTextIsAVersionAndTheBase64OfTheLittleEndianMap(distances: [Int], text: String) throws {
        var finished = FinishedOffsets()
        for distance in distances { finished.insert(distance) }
        #expect(finished.encoded() == text)
        #expect(try FinishedOffsets(decoding: text) == finished)
    }

    @Test(arguments: [-1, 16_384, .max, .min])
    func distancesOutsideTheLargestWindowAreNotTaken(distance: Int) {
        var finished = FinishedOffsets()
        finished.insert(distance)
        #expect(finished == FinishedOffsets())
        #expect(!finished.contains(distance))
    }

    @Test(arguments: 0..<200)
    func everySetSurvivesItsText(seed: Int) throws {
        var random = SeededRandom(seed)
        var finished = FinishedOffsets()
        var reference: Set<Int> = []
        let bound = [8, 100, 1000, 16_384][random.below(4)]
        for _ in 0..<random.below(random.below(2) == 0 ? 5 : 5000) {
            let distance = random.below(bound)
            finished.insert(distance)
            reference.insert(distance)
        }
        let text = finished.encoded()
        #expect(text.utf8.count <= 2735)
        let read = try FinishedOffsets(decoding: text)
        #expect(read == finished)
        #expect(Set((-1..<16_400).filter { read.contains($0) }) == reference)
        // Foundation reads the same bytes, and the last one is not zero.
        if let data = text.isEmpty ? Data() : Data(base64Encoded: String(text.dropFirst(3))) {
            #expect(data.last != 0)
            var set: Set<Int> = []
            for (index, byte) in data.enumerated() {
                for bit in 0..<8 where byte >> bit & 1 == 1 { set.insert(index * 8 + bit) }
            }
            #expect(set == reference)
        } else {
            Issue.record("Foundation does not read \(text)")
        }
    }

    @Test func zeroBytesAtTheEndMakeNoDifference() throws {
        #expect(try FinishedOffsets(decoding: "3::AQAAAAAA").encoded() == "3::AQ==")
        #expect(try FinishedOffsets(decoding: "3::AAAA").bitCount == 0)
    }

    @Test(arguments: ["1AQ==", "21800:AQ==", "5AQ==", "0", " 3::AQ==", "AQ==", "{\"offset\":1}", "bm90aGluZw==", "\u{0}", "é"])
    func whatAnotherProgramWroteIsRefused(text: String) {
        #expect(throws: FinishedOffsets.DecodingError.unknownVersion) { try FinishedOffsets(decoding: text) }
    }

    @Test(arguments: [
        "3::A", "3::AQ", "3::AQ=", "3::====", "3::A===", "3::=AQ=", "3::AQ==AQ==", "3::AA=A", "3::AQ=A", "3::AQ==\n", "3:: AQ==",
        "3::A-_A", "3::AR==", "3::AQ==é", "3::AAAA====", "3::" + String(repeating: "/", count: 2736),
    ])
    func whatIsNoMapIsRefused(text: String) {
        #expect(throws: FinishedOffsets.DecodingError.malformed) { try FinishedOffsets(decoding: text) }
    }

    @Test func aMapOfFarTooManyOffsetsIsRefused() {
        let text = "3::" + String(repeating: "A", count: 400_000)
        #expect(throws: FinishedOffsets.DecodingError.malformed) { try FinishedOffsets(decoding: text) }
    }

    @Test(arguments: 0..<20)
    func randomTextIsReadOrRefused(seed: Int) throws {
        var random = SeededRandom(seed)
        let letters = Array("ABCwxyz0189+/==\n 1".unicodeScalars)
        for _ in 0..<500 {
            var text = "3::"
            for _ in 0..<random.below(24) { text.unicodeScalars.append(letters[random.below(letters.count)]) }
            guard let finished = try? FinishedOffsets(decoding: text) else { continue }
            #expect(Data(base64Encoded: String(text.dropFirst(3))) != nil, "\(text)")
            #expect(try FinishedOffsets(decoding: finished.encoded()) == finished)
        }
    }

    @Test(arguments: [nil, 0, 1, 1_800_000_000_000, .max] as [Int64?])
    func theTimeOfTheLatestRecordIsKeptBesideTheMap(latest: Int64?) throws {
        for distances in [[], [0], [3, 16_383]] {
            var finished = FinishedOffsets()
            finished.latest = latest
            for distance in distances { finished.insert(distance) }
            let text = finished.encoded()
            #expect(text.utf8.count <= 2754)
            #expect(try FinishedOffsets(decoding: text) == finished)
        }
    }

    @Test(arguments: [nil, 0, 1_800_000_000_000, .max] as [Int64?], [0, 1, 16_384, 32_768] as [Int64])
    func howFarRequestsWereBegunIsKeptBesideTheMap(latest: Int64?, begun: Int64) throws {
        for distances in [[], [0], [3, 16_383]] {
            var finished = FinishedOffsets()
            finished.latest = latest
            finished.begun = begun
            for distance in distances { finished.insert(distance) }
            let text = finished.encoded()
            #expect(text.utf8.count <= 2759)
            #expect(try FinishedOffsets(decoding: text) == finished)
        }
    }

    /// Two records that a partition can have, the second behind the first.
    private static func marks(_ first: Int64, _ last: Int64, time: Int64?) -> ReadMarks {
        let value: [UInt8] = [1, 2, 3]
        var marks = ReadMarks(RecordMark(offset: first, time: time, key: nil, value: value.span))
        marks.read(RecordMark(offset: last, time: time, key: value.span, value: nil))
        return marks
    }

    @Test(arguments: [nil, 0, 1_800_000_000_000, .max] as [Int64?], [nil, 0, 32_768] as [Int64?])
    func theFirstAndTheLastRecordThatWereReadAreKeptBesideTheMap(time: Int64?, begun: Int64?) throws {
        for distances in [[], [0], [3, 16_383]] {
            for (first, last) in [(0, 0), (0, 7), (.max - 1, .max)] as [(Int64, Int64)] {
                var finished = FinishedOffsets()
                finished.marks = Self.marks(first, last, time: time)
                finished.begun = begun
                for distance in distances { finished.insert(distance) }
                let text = finished.encoded()
                #expect(text.first == "4" && text.utf8.count <= FinishedOffsets.longestText)
                #expect(try FinishedOffsets(decoding: text) == finished)
            }
        }
    }

    /// Brokers take 4,096 bytes by default.
    @Test func theLongestTextFitsIntoAPosition() throws {
        var finished = FinishedOffsets()
        for distance in 0..<OffsetLedger.maximumWindow { finished.insert(distance) }
        finished.begun = .max
        let mark = "\(Int64.max),\(Int64.max),ffffffffffffffff"
        finished.marks = try FinishedOffsets(decoding: "4:\(mark),\(mark):").marks
        #expect(finished.encoded().utf8.count == FinishedOffsets.longestText)
        #expect(FinishedOffsets.longestText <= 4096)
    }

    @Test func thePositionOfAVersionWithoutMarksIsReadAndSaysNothingOfRecords() throws {
        let read = try FinishedOffsets(decoding: "31768464000000:20:BgAC")
        #expect(read.marks == nil && read.begun == 20 && read.contains(2))
    }

    @Test(arguments: [
        "4", "4:", "4::", "4:1,2,a:", "4:1,2,a,3,4:", "4:1,2,a,3,4,b", "4:1,2,a,3,4,b,5:", "4:3,2,a,1,4,b:", "4:-1,2,a,3,4,b:",
        "4:1,-2,a,3,4,b:", "4:1,2,,3,4,b:", "4:1,2,g,3,4,b:", "4:x,2,a,3,4,b:", "4:1,2,a,3,4,11112222333344445:",
        "4:1,2,a,3,4,b:!!",
        "4x:1,2,a,3,4,b:", "432769:1,2,a,3,4,b:", "4:99999999999999999999,2,a,3,4,b:",
    ])
    func marksThatAreNoneAreMalformed(text: String) {
        #expect(throws: FinishedOffsets.DecodingError.malformed) { try FinishedOffsets(decoding: text) }
    }

    @Test func moreThanTwoWindowsCannotHaveBeenBegun() throws {
        var finished = FinishedOffsets()
        finished.begun = .max
        #expect(try FinishedOffsets(decoding: finished.encoded()).begun == 32_768)
        finished.begun = -1
        #expect(try FinishedOffsets(decoding: finished.encoded()).begun == 0)
    }

    @Test(arguments: [
        "3", "3:", "31800", "31800:", "3x::", "3-1::", "399999999999999999999::", "31800:-1:", "3:32769:", "3:x:",
        "3:99999999999999999999:", "31800:1", "31800:1:!!", "31800::AA",
    ])
    func aNumberBeforeTheMapThatIsNoneIsMalformed(text: String) {
        #expect(throws: FinishedOffsets.DecodingError.malformed) { try FinishedOffsets(decoding: text) }
    }
}
