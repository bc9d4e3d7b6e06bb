import LZ4
import TestSupport
import Testing

@Suite(.tags(.c)) struct LZ4BlockTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func sevens(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }

    private static func noise(_ count: Int) -> [UInt8] {
        var random = SeededRandom(count)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    private static func unpacked(_ packed: [UInt8]) throws(LZ4Error) -> [UInt8] { try LZ4Block.unpack(packed.span) }

    private static let shortTexts: [[UInt8]] = [
        [], [0], bytes("12345678"), bytes("abcdefgh") + bytes("abcdefgh"), bytes("0123456789") + bytes("x0123456789"),
        // Lengths at which another byte of the length begins.
        Array(0..<14), Array(0..<15), Array(0..<16), sevens(14), sevens(24), sevens(279),
    ]

    @Test func whatIsPackedUnpacksToTheSame() throws {
        // A copy farther away than two bytes can say.
        let far = Self.bytes("abcdefghijkl") + Self.noise(70_000) + Self.bytes("abcdefghijkl")
        for text in Self.shortTexts + [far, Self.sevens(8_000_000)] {
            let isSame = try Self.unpacked(LZ4Block.pack(text.span)) == text
            #expect(isSame, "\(text.count) bytes")
        }
    }

    @Test func whatRepeatsItselfBecomesSmall() throws {
        let lines = (0..<200).map { #"{"request_id":"r\#($0)","state":"sent","labels":{"campaign":"c\#($0 % 7)"}}"# }
        let text = Self.bytes(lines.joined())
        #expect(try LZ4Block.pack(text.span).count < text.count / 4)
    }

    @Test func theFormIsKept() throws {
        // The number of bytes, and a block of 12 literal bytes: a file of an earlier build stays readable.
        let packed = [12, 0, 0, 0, 0xC0] + Self.bytes("abcdefghijkl")
        #expect(try LZ4Block.pack(Self.bytes("abcdefghijkl").span) == packed)
        #expect(try Self.unpacked(packed) == Self.bytes("abcdefghijkl"))
    }

    @Test func aPackThatEndsTooEarlyOrTooLateIsBroken() throws {
        for text in Self.shortTexts {
            let packed = try LZ4Block.pack(text.span)
            for count in packed.indices {
                #expect(throws: LZ4Error.broken, "\(count)") { try Self.unpacked(Array(packed[..<count])) }
            }
            #expect(throws: LZ4Error.broken) { try Self.unpacked(packed + [0]) }
        }
    }

    // The block has 13 bytes.
    @Test(arguments: [0, 5, 11, 13, 13 * 255, 13 * 255 + 1, Int(Int32.max), Int(UInt32.max)])
    func aNumberThatLiesIsBroken(number: Int) throws {
        var packed = try LZ4Block.pack(Self.bytes("abcdefghijkl").span)
        withUnsafeBytes(of: UInt32(number).littleEndian) { packed.replaceSubrange(..<4, with: $0) }
        #expect(throws: LZ4Error.broken) { try Self.unpacked(packed) }
    }

    @Test(arguments: [0, 5]) func aCopyOfNothingIsBroken(distance: UInt8) {
        // Four literal bytes, a copy of four from five back or from none, and five literal bytes.
        let block: [UInt8] = [0x40, 1, 2, 3, 4, distance, 0, 0x50, 5, 6, 7, 8, 9]
        #expect(throws: LZ4Error.broken) { try Self.unpacked([13, 0, 0, 0] + block) }
    }

    @Test(arguments: 0..<50) func randomTextsComeBackAndDamageDoesNoHarm(seed: Int) throws {
        var random = SeededRandom(seed)
        for _ in 0..<100 {
            let letters = UInt8.random(in: 1...255, using: &random)
            var text = (0..<random.below(300)).map { _ in UInt8.random(in: 0..<letters, using: &random) }
            if Bool.random(using: &random) { text += text + text.prefix(9) }
            var packed = try LZ4Block.pack(text.span)
            #expect(try Self.unpacked(packed) == text)
            packed[random.below(packed.count)] ^= 1 << UInt8(random.below(8))
            let damaged = try? Self.unpacked(packed)
            #expect(damaged == nil || damaged?.count == packed.number)
        }
    }
}

extension [UInt8] {
    /// The number of bytes that a pack claims to have.
    fileprivate var number: Int { self[0..<4].reversed().reduce(0) { $0 << 8 | Int($1) } }
}
