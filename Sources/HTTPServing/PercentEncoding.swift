import Basics

/// Percent escapes of URIs (RFC 3986, 2.1).
public enum PercentEncoding {
    /// Decodes escapes once. An invalid escape stays as it is, and bad UTF-8 is repaired.
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
            if byte == UInt8(ascii: "%"), index + 2 < bytes.endIndex, let high = bytes[index + 1].hexadecimalValue,
                let low = bytes[index + 2].hexadecimalValue
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
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count * 3)
        for byte in text.utf8 {
            if byte.isUnreserved {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), Hexadecimal.capitalDigit(byte >> 4), Hexadecimal.capitalDigit(byte & 15)]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
