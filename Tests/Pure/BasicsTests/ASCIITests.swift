import Basics
import Testing

@Suite struct ASCIITests {
    @Test func aClassHasItsCharactersAndNoOthers() {
        let letters = Self.small + Self.capital
        for byte in UInt8.min...UInt8.max {
            #expect(byte.isDigit == Self.digits.utf8.contains(byte), "\(byte)")
            #expect(byte.isSmallLetter == Self.small.utf8.contains(byte), "\(byte)")
            #expect(byte.isLetter == letters.utf8.contains(byte), "\(byte)")
            #expect(byte.isLetterOrDigit == (letters + Self.digits).utf8.contains(byte), "\(byte)")
            #expect(byte.isHexadecimalDigit == (Self.digits + "abcdefABCDEF").utf8.contains(byte), "\(byte)")
            #expect(byte.isUnreserved == (letters + Self.digits + "-._~").utf8.contains(byte), "\(byte)")
        }
    }

    @Test func onlyCapitalsLoseTheirCase() {
        for byte in UInt8.min...UInt8.max {
            #expect(byte.lowercased == (Self.capital.utf8.contains(byte) ? byte + 32 : byte))
        }
    }

    @Test func hexadecimalDigitsHaveTheirValuesInBothCases() {
        for byte in UInt8.min...UInt8.max {
            let isDigit = byte.isHexadecimalDigit
            #expect(byte.hexadecimalValue == (isDigit ? UInt8(String(UnicodeScalar(byte)), radix: 16) : nil))
        }
        for value in UInt8(0)..<16 {
            #expect(Hexadecimal.digit(value).hexadecimalValue == value)
            #expect(Hexadecimal.capitalDigit(value).hexadecimalValue == value)
        }
        #expect(Hexadecimal.digits(of: [0, 0x1F, 0xA0]) == Array("001fa0".utf8))
    }

    @Test(
        arguments: [(0, "0000000000000000"), (0xA1, "00000000000000a1"), (.max, "ffffffffffffffff")] as [(UInt64, String)])
    func aNumberHasSixteenDigits(number: UInt64, text: String) {
        #expect(Hexadecimal.text(number) == text)
    }

    private static let digits = "0123456789"
    private static let small = "abcdefghijklmnopqrstuvwxyz"
    private static let capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
}
