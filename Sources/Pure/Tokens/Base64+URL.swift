import Basics

extension Base64 {
    /// Decodes text of the alphabet for URLs without padding (RFC 7515 section 2), as strictly as the other form.
    ///
    /// - Parameter text: ASCII bytes of the text.
    /// - Returns: The bytes, or nil when a character, the length or an unused bit is wrong.
    static func decode(urlText text: some Collection<UInt8>) -> [UInt8]? {
        var plain: [UInt8] = []
        plain.reserveCapacity(text.count + 3)
        for byte in text {
            switch byte {
            case UInt8(ascii: "-"): plain.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): plain.append(UInt8(ascii: "/"))
            case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return nil
            default: plain.append(byte)
            }
        }
        guard plain.count % 4 != 1 else { return nil }
        return decode(plain + [UInt8](repeating: UInt8(ascii: "="), count: (4 - plain.count % 4) % 4))
    }
}
