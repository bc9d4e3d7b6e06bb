@_spi(_Unicode) import Swift

/// The names that a user may have, and the rule by which two names are one.
///
/// Names are unique without regard to case, and to how a letter with an accent is composed.
public enum UserName {
    /// The longest name, in bytes of UTF-8.
    public static let maximumByteCount = 255

    /// The rule of an addressable name, for messages.
    public static let addressableRule =
        "1 to \(maximumByteCount) bytes of UTF-8, no control character, and no blank in front or behind"
    /// The fault of what is no addressable name, which it does not repeat.
    public static let refusal = "This is no user's name; one has \(addressableRule)."
    /// The rule of a legal name, for messages.
    public static let rule =
        "1 to \(maximumByteCount) bytes of UTF-8, no colon, no control character, and no blank in front or behind"

    /// True if a user may sign in by the name: it is addressable, and has no colon, which ends a name (RFC 7617 section 2).
    public static func isLegal(_ name: String) -> Bool {
        isAddressable(name) && !name.utf8.contains(UInt8(ascii: ":"))
    }

    /// True if a push may be sent to the name: 1 to 255 bytes, no control character, no blank in front or behind.
    public static func isAddressable(_ name: String) -> Bool {
        guard (1...maximumByteCount).contains(name.utf8.count) else { return false }
        guard let first = name.unicodeScalars.first, let last = name.unicodeScalars.last else { return false }
        guard !first.properties.isWhitespace, !last.properties.isWhitespace else { return false }
        return name.unicodeScalars.allSatisfy { !isControl($0) }
    }

    /// The same for all names that differ in their case only. There may be one of them.
    public static func folded(_ name: String) -> String {
        // Some letters have two small forms, and some no capital of their own.
        name.uppercased().lowercased()
    }

    /// The name with its letters composed (Unicode NFC, UAX #15), which has one spelling in bytes for all names that are equal.
    public static func composed(_ name: String) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: name._nfc)
        return String(scalars)
    }

    /// C0, DEL, C1 and the separators of lines.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) || scalar.value == 0x2028 || scalar.value == 0x2029
    }
}
