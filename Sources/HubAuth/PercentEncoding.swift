import Basics

/// One of the percent-encoders that hub clients use. They differ in what they leave alone and in the case of hex digits.
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

    /// The encoder of .NET's `HttpUtility.UrlEncode`, which the .NET SDK uses throughout.
    public static let dotNet = PercentEncoding(leaving: "-_.!*()", writesSpaceAsPlus: true, hexCase: .lower)

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
                text.append(contentsOf: [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)])
            }
        }
        return text
    }

    private func digit(_ value: UInt8) -> UInt8 {
        hexCase == .lower ? Hexadecimal.digit(value) : Hexadecimal.capitalDigit(value)
    }

    /// Undoes any of the encoders: `%` with two hex digits, and `+` for a space.
    ///
    /// - Parameter text: What a peer sent.
    /// - Returns: The bytes, or nil when a `%` is not followed by two hex digits.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.hexadecimalValue, let low = rest.popFirst()?.hexadecimalValue else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return bytes
    }
}
