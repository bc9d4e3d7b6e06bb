import TestSupport
import Testing

@testable import HTTP1

/// Eight bytes at a time must find what a look at each byte finds.
@Suite struct SpanWordsTests {
    @Test(arguments: 0..<40)
    func aControlCharacterEndsATextWhereverItStands(length: Int) {
        for control: UInt8 in [0x00, 0x0A, 0x0D, 0x1F, 0x7F] {
            for place in 0..<length {
                // Around it stands what is next to a control character: blanks, tabs, and bytes above ASCII.
                var bytes = (0..<length).map { [0x20, 0x09, 0x7E, 0x80, 0xFF, 0xA0, 0x8A][$0 % 7] as UInt8 }
                #expect(bytes.span.endOfText() == length)
                bytes[place] = control
                #expect(bytes.span.endOfText() == place)
            }
        }
    }

    @Test(arguments: 0..<40)
    func aByteIsFoundWhereverItStands(length: Int) {
        for byte: UInt8 in [0x00, 0x0A, 0x80, 0xFF] {
            for place in 0..<length {
                var bytes = [UInt8](repeating: byte ^ 0x80, count: length)
                for start in 0...length { #expect(bytes.span.firstPlace(of: byte, from: start) == length) }
                bytes[place] = byte
                if place > 0 { bytes[place - 1] = byte &+ 1 }
                for start in 0...length {
                    #expect(bytes.span.firstPlace(of: byte, from: start) == (start <= place ? place : length))
                }
            }
        }
    }

    /// RFC 9110, section 5.6.2.
    private static let tokenCharacters = Set(
        "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)

    @Test(arguments: UInt8.min...UInt8.max)
    func aByteEndsATokenExactlyWhenItIsNoneOfItsCharacters(byte: UInt8) {
        for length in 1...18 {
            for place in 0..<length {
                var bytes = Array("Content-Length09azAZ".utf8.prefix(length))
                bytes[place] = byte
                #expect(bytes.span.endOfToken() == (Self.tokenCharacters.contains(byte) ? length : place))
            }
        }
    }

    @Test func bytesThatAreNextToEachOtherDoNotChangeWhereATokenEnds() {
        var random = SeededRandom(7)
        let characters = Self.tokenCharacters.sorted()
        for _ in 0..<20_000 {
            let bytes = (0..<random.below(20)).map { _ in
                random.below(8) == 0 ? UInt8(truncatingIfNeeded: random.next()) : characters[random.below(characters.count)]
            }
            #expect(bytes.span.endOfToken() == bytes.firstIndex { !Self.tokenCharacters.contains($0) } ?? bytes.count)
        }
    }
}
