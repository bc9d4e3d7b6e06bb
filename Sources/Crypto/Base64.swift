/// Base64 with the standard alphabet and padding (RFC 4648 section 4), without line breaks.
public enum Base64 {
    /// Encodes bytes as text.
    ///
    /// - Parameter bytes: The input; may be empty.
    /// - Returns: ASCII bytes of the text, a multiple of four long.
    public static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var word = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            word <<= UInt32(8 * (3 - group.count))
            for digit in 0..<4 {
                text.append(digit <= group.count ? alphabet[Int(word >> UInt32(18 - 6 * digit)) & 63] : padding)
            }
        }
        return text
    }

    /// Decodes text strictly, so that every byte string has exactly one spelling.
    ///
    /// - Parameter text: ASCII bytes of the text.
    /// - Returns: The bytes, or nil when a character, the length, the padding or an unused bit is wrong.
    public static func decode(_ text: [UInt8]) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let padded = text.suffix(2).reversed().prefix { $0 == padding }.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var word: UInt32 = 0
        for index in 0..<(text.count - padded) {
            guard let value = value(of: text[index]) else { return nil }
            word = word << 6 | value
            if index % 4 == 3 {
                bytes.append(contentsOf: [UInt8(word >> 16 & 255), UInt8(word >> 8 & 255), UInt8(word & 255)])
                word = 0
            }
        }
        switch padded {
        case 0: return bytes
        case 1: return word & 3 == 0 ? bytes + [UInt8(word >> 10 & 255), UInt8(word >> 2 & 255)] : nil
        default: return word & 15 == 0 ? bytes + [UInt8(word >> 4 & 255)] : nil
        }
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
