/// Percent escapes of URIs (RFC 3986, 2.1).
public enum PercentEncoding {
    /// Decodes escapes once; what is no valid escape stays as it is, and bad UTF-8 is repaired.
    ///
    /// - Parameters:
    ///   - bytes: The encoded text.
    ///   - plusIsBlank: Whether `+` stands for a blank, as in queries.
    /// - Returns: The decoded text.
    public static func decoded(_ bytes: ArraySlice<UInt8>, plusIsBlank: Bool) -> String {
        let plus = UInt8(ascii: "+")
        guard bytes.contains(where: { $0 == UInt8(ascii: "%") || (plusIsBlank && $0 == plus) }) else {
            return String(decoding: bytes, as: UTF8.self)
        }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%"), index + 2 < bytes.endIndex, let high = hexValue(bytes[index + 1]),
                let low = hexValue(bytes[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
                continue
            }
            decoded.append(plusIsBlank && byte == plus ? UInt8(ascii: " ") : byte)
            index += 1
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    /// Decodes `text` once, as ``decoded(_:plusIsBlank:)-swift.type.method`` does for bytes.
    public static func decoded(_ text: String, plusIsBlank: Bool = false) -> String {
        let isPlain = !text.utf8.contains { $0 == UInt8(ascii: "%") || (plusIsBlank && $0 == UInt8(ascii: "+")) }
        return isPlain ? text : decoded(Array(text.utf8)[...], plusIsBlank: plusIsBlank)
    }

    /// Encodes everything but the unreserved characters of RFC 3986, 2.3.
    public static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count * 3)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
