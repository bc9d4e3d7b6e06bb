/// One of the percent-encoders of URIs (RFC 3986, 2.1). They differ in what they leave alone and in the case of hex digits.
public struct PercentEncoding: Sendable {
    /// The case of the two digits after `%`.
    public enum HexCase: Sendable {
        /// `%2f`
        case lower
        /// `%2F`
        case upper
    }

    private let punctuation: [UInt8]
    private let writesSpaceAsPlus: Bool
    private let hexCase: HexCase

    /// Describes an encoder. Letters and digits are never escaped.
    ///
    /// - Parameters:
    ///   - punctuation: The other ASCII characters that stay as they are.
    ///   - writesSpaceAsPlus: Whether a space becomes `+` instead of `%20`.
    ///   - hexCase: The case of hex digits.
    public init(leaving punctuation: String, writesSpaceAsPlus: Bool, hexCase: HexCase) {
        self.punctuation = Array(punctuation.utf8)
        self.writesSpaceAsPlus = writesSpaceAsPlus
        self.hexCase = hexCase
    }

    /// Escapes everything but the unreserved characters of RFC 3986, 2.3.
    public static let unreserved = PercentEncoding(leaving: "-._~", writesSpaceAsPlus: false, hexCase: .upper)
    /// Escapes as `unreserved` does, and leaves the `/` between the segments of a path.
    public static let path = PercentEncoding(leaving: "-._~/", writesSpaceAsPlus: false, hexCase: .upper)

    /// Encodes bytes.
    ///
    /// - Parameter bytes: For example a URI's UTF-8 bytes.
    /// - Returns: ASCII bytes.
    public func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 3 / 2)
        for byte in bytes {
            if byte.isLetterOrDigit || punctuation.contains(byte) {
                text.append(byte)
            } else if byte == 0x20, writesSpaceAsPlus {
                text.append(UInt8(ascii: "+"))
            } else {
                let (percent, high, low) = Self.escape(byte)
                text.append(percent)
                text.append(hexCase == .lower ? high.lowercased : high)
                text.append(hexCase == .lower ? low.lowercased : low)
            }
        }
        return text
    }

    /// Encodes a text's UTF-8 bytes.
    public static func encoded(_ text: String, by encoding: PercentEncoding = .unreserved) -> String {
        String(decoding: encoding.encode(text.utf8), as: UTF8.self)
    }

    /// The `%` and the two capital digits that stand for a byte.
    @inlinable @inline(__always) public static func escape(_ byte: UInt8) -> (percent: UInt8, high: UInt8, low: UInt8) {
        (UInt8(ascii: "%"), Hexadecimal.capitalDigit(byte >> 4), Hexadecimal.capitalDigit(byte & 15))
    }
}

extension PercentEncoding {
    /// Decodes what any of the encoders wrote.
    ///
    /// - Parameters:
    ///   - text: What a peer sent.
    ///   - plusIsBlank: Whether `+` stands for a blank, as in queries.
    /// - Returns: The bytes, or nil when a `%` is not followed by two hex digits.
    public static func decode(_ text: ArraySlice<UInt8>, plusIsBlank: Bool) -> [UInt8]? {
        decode(text, plusIsBlank: plusIsBlank, leavesInvalid: false)
    }

    /// Decodes escapes once. An invalid escape stays as it is, and bad UTF-8 is repaired.
    ///
    /// - Parameters:
    ///   - text: The encoded text.
    ///   - plusIsBlank: Whether `+` stands for a blank, as in queries.
    /// - Returns: The decoded text.
    public static func decoded(_ text: ArraySlice<UInt8>, plusIsBlank: Bool) -> String {
        let bytes = isPlain(text, plusIsBlank: plusIsBlank) ? nil : decode(text, plusIsBlank: plusIsBlank, leavesInvalid: true)
        return String(decoding: bytes?[...] ?? text, as: UTF8.self)
    }

    /// Decodes `text` once, as ``decoded(_:plusIsBlank:)-swift.type.method`` does for bytes.
    public static func decoded(_ text: String, plusIsBlank: Bool = false) -> String {
        isPlain(text.utf8, plusIsBlank: plusIsBlank) ? text : decoded(Array(text.utf8)[...], plusIsBlank: plusIsBlank)
    }

    private static func isPlain(_ text: some Collection<UInt8>, plusIsBlank: Bool) -> Bool {
        !text.contains { $0 == UInt8(ascii: "%") || (plusIsBlank && $0 == UInt8(ascii: "+")) }
    }

    private static func decode(_ text: ArraySlice<UInt8>, plusIsBlank: Bool, leavesInvalid: Bool) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                if let high = rest.first?.hexadecimalValue, let low = rest.dropFirst().first?.hexadecimalValue {
                    bytes.append(high << 4 | low)
                    rest = rest.dropFirst(2)
                    continue
                }
                guard leavesInvalid else { return nil }
            }
            bytes.append(plusIsBlank && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        }
        return bytes
    }
}
