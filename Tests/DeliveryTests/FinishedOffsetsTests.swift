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
            let set = data.enumerated().flatMap { index, byte in (0..<8).filter { byte >> $0 & 1 == 1 }.map { index * 8 + $0 } }
            #expect(Set(set) == reference)
        } else {
            Issue.record("Foundation does not read \(text)")
        }
    }

    @Test func zeroBytesAtTheEndMakeNoDifference() throws {
        #expect(try FinishedOffsets(decoding: "3::AQAAAAAA").encoded() == "3::AQ==")
        #expect(try FinishedOffsets(decoding: "3::AAAA").bitCount == 0)
    }

    @Test(arguments: ["1AQ==", "21800:AQ==", "4AQ==", "0", " 3::AQ==", "AQ==", "{\"offset\":1}", "bm90aGluZw==", "\u{0}", "é"])
    func whatAnotherProgramWroteIsRefused(text: String) {
        #expect(throws: FinishedOffsets.DecodingError.unknownVersion) { try FinishedOffsets(decoding: text) }
    }

    @Test(arguments: [
        "3::A", "3::AQ", "3::AQ=", "3::====", "3::A===", "3::=AQ=", "3::AQ==AQ==", "3::AA=A", "3::AQ=A", "3::AQ==\n", "3:: AQ==",
        "3::A-_A", "3::AQ==é", "3::AAAA====", "3::" + String(repeating: "/", count: 2736),
        "3::" + String(repeating: "A", count: 400_000),
    ])
    func whatIsNoMapIsRefused(text: String) {
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
