import TestSupport
import Testing

@testable import Jobs

@Suite struct PackedTextTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func sevens(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }

    private static func noise(_ count: Int) -> [UInt8] {
        (0..<count).map { (number: Int) -> UInt8 in UInt8(truncatingIfNeeded: (number &* 2_654_435_761) >> 13) }
    }

    private static func unpacked(_ bytes: [UInt8]) -> [UInt8]? { PackedText.unpack(bytes.span) }

    private static let texts: [[UInt8]] = [
        [], [0], bytes("12345678"), bytes("abcdefgh") + bytes("abcdefgh"), bytes("0123456789") + bytes("x0123456789"),
        // Lengths at which another byte of the length begins.
        Array(0..<14), Array(0..<15), Array(0..<16), sevens(8 + 1 + 14), sevens(8 + 1 + 15), sevens(8 + 1 + 15 + 255),
        sevens(200_000),
        // A copy farther away than two bytes can say.
        bytes("abcdefghijkl") + noise(70_000) + bytes("abcdefghijkl"),
    ]

    @Test(arguments: texts) func aTextComesBack(text: [UInt8]) {
        #expect(Self.unpacked(PackedText.pack(text.span)) == text)
    }

    @Test func whatRepeatsItselfBecomesSmall() {
        let lines = (0..<200).map { #"{"request_id":"r\#($0)","state":"sent","labels":{"campaign":"c\#($0 % 7)"}}"# }
        let text = Self.bytes(lines.joined())
        #expect(PackedText.pack(text.span).count < text.count / 4)
    }

    @Test func aPackThatEndsTooEarlyIsFound() {
        let packed = PackedText.pack(Self.bytes("abcdefgh, abcdefgh, abcdefgh and more").span)
        for count in 0..<packed.count { #expect(Self.unpacked(Array(packed[..<count])) == nil, "\(count)") }
    }

    @Test func aCopyOfNothingIsFound() {
        // Four literal bytes, and a copy from five back, or from none.
        for distance: UInt8 in [0, 5] { #expect(Self.unpacked([0x40, 1, 2, 3, 4, distance, 0, 0]) == nil) }
        #expect(Self.unpacked([0x40, 1, 2, 3, 4, 4, 0, 0]) == [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4])
    }

    @Test(arguments: 0..<50) func randomTextsComeBackAndDamageDoesNoHarm(seed: Int) {
        var random = RandomResults(seed: seed)
        for _ in 0..<100 {
            let letters = 1 + random.below(255)
            var text = (0..<random.below(300)).map { _ in UInt8(random.below(letters)) }
            if random.below(2) == 0 { text += text + text.prefix(9) }
            var packed = PackedText.pack(text.span)
            #expect(Self.unpacked(packed) == text)
            packed[random.below(packed.count)] ^= 1 << UInt8(random.below(8))
            _ = Self.unpacked(packed)
        }
    }
}
