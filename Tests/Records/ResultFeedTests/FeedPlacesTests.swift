import Basics
import TestSupport
import Testing

@testable import ResultFeed

/// Places as cursors.
@Suite struct FeedPlacesTests {
    @Test(arguments: 0..<200) func aCursorIsReadAsThePlaceThatItWasMadeOf(seed: Int) {
        var random = SeededRandom(seed)
        let limits: [Int64] = [1, 100, 1 << 20, 1 << 40, .max]
        var places = FeedPlaces()
        for _ in 0..<random.below(50) {
            let partition = random.below(2) == 0 ? Int32(random.below(60)) : Int32.random(in: 0 ... .max, using: &random)
            places.offsets[partition] = Int64.random(in: 0...limits[random.below(limits.count)], using: &random)
        }
        let text = places.text
        #expect(FeedPlaces(text) == places)
        #expect(FeedPlaces(places.offsets).text == text)
        #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
    }

    @Test(
        arguments: [
            [:], [0: 0], [Int32.max: Int64.max], [0: .max, 1: 0, 2: .max], [0: 5, 2: 5, Int32.max - 1: 0, Int32.max: 7],
        ] as [[Int32: Int64]])
    func theEdgesAreReadBack(offsets: [Int32: Int64]) {
        #expect(FeedPlaces(FeedPlaces(offsets).text)?.offsets == offsets)
    }

    @Test func fourHundredPartitionsTakeLessThanThreeThousandBytes() {
        var random = SeededRandom(1)
        let offsets = (0..<Int32(400)).map { ($0, Int64(random.below(10_000_000_000))) }
        #expect(FeedPlaces(Dictionary(uniqueKeysWithValues: offsets)).text.utf8.count <= 3000)
    }

    @Test func numbersThatNoPartitionHasAreLeftOut() {
        #expect(FeedPlaces([-1: 3, 0: -3, 2: 1]).text == FeedPlaces([2: 1]).text)
    }

    @Test func aLetterThatWasChangedOrLostIsFoundMostly() {
        let text = FeedPlaces([0: 1234, 1: 99, 7: 123_456_789]).text
        let letters = Array(text)
        var missedCount = 0
        for index in letters.indices {
            var (changed, shorter) = (letters, letters)
            changed[index] = letters[index] == "A" ? "B" : "A"
            shorter.remove(at: index)
            for other in [changed, shorter] where FeedPlaces(String(other)) != nil { missedCount += 1 }
        }
        #expect(missedCount <= letters.count / 8)
    }

    /// Bytes behind the version and a check that is right.
    @Test(
        arguments: [
            [0x80], [0], [0, 0], [0, 1, 5], [0, 0, 0x80, 0], [0, 0, 1], [0x80, 0, 0, 4], [0, 0, 4, 0x80],
            [0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0, 2], [0, 0xFF, 0xFF, 0xFF, 0x7F, 2],
            [0, 0, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x03],
            [0, 1, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 2],
        ] as [[UInt8]])
    func bytesThatNoPlaceHasAreRefused(body: [UInt8]) {
        #expect(FeedPlaces(Self.text(body)) == nil)
    }

    @Test func hostileTextsAreRefused() {
        let place = FeedPlaces([0: 1]).text
        let texts = [
            "", "A", place + "=", place + " ", place + "A", "+" + place, "é", String(repeating: "A", count: 1 << 20),
            Self.text([0] + [0xA0, 0x8D, 0x06] + [UInt8](repeating: 2, count: 100_001)),
        ]
        for text in texts { #expect(FeedPlaces(text) == nil, "\(text.prefix(40))") }
    }

    @Test(arguments: 0..<200) func whateverIsReadHasOneSpelling(seed: Int) {
        var random = SeededRandom(seed)
        let body = (0..<random.below(12)).map { _ in UInt8(random.below(4) == 0 ? random.below(256) : random.below(4)) }
        let text = Self.text(body)
        if let places = FeedPlaces(text) { #expect(places.text == text) }
    }

    private static func text(_ body: [UInt8]) -> String {
        let hash = FNV1a.hash(of: body)
        let bytes = [1, UInt8(truncatingIfNeeded: hash ^ hash >> 32)] + body
        return String(decoding: Base64.encode(bytes), as: UTF8.self)
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
