/// Base64 with the standard alphabet and padding (RFC 4648 section 4), without line breaks.
public enum Base64 {
    /// Encodes bytes as text.
    ///
    /// - Parameter bytes: The input; may be empty.
    /// - Returns: ASCII bytes of the text, a multiple of four long.
    public static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let left = bytes.count - index
            var group = Int(bytes[index]) << 16
            if left > 1 { group |= Int(bytes[index + 1]) << 8 }
            if left > 2 { group |= Int(bytes[index + 2]) }
            text.append(alphabet[group >> 18])
            text.append(alphabet[group >> 12 & 63])
            text.append(left > 1 ? alphabet[group >> 6 & 63] : padding)
            text.append(left > 2 ? alphabet[group & 63] : padding)
            index += 3
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
            let value = values[Int(text[index])]
            guard value != none else { return nil }
            word = word << 6 | UInt32(value)
            if index % 4 == 3 {
                bytes.append(UInt8(word >> 16 & 255))
                bytes.append(UInt8(word >> 8 & 255))
                bytes.append(UInt8(word & 255))
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
    private static let none: UInt8 = 255

    /// The value of each byte as a character, or `none`.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: none, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()
}
