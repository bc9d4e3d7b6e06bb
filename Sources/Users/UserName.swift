/// What a name in the users file may be, and when two names are one.
///
/// Names are compared as Unicode compares text, so that it does not matter how a letter with an accent is composed.
public enum UserName {
    /// The longest name, in bytes of UTF-8.
    public static let maximumByteCount = 255

    /// What a legal name has, for messages.
    public static let rule =
        "1 to \(maximumByteCount) bytes of UTF-8, no colon, no control character, and no blank in front or behind"

    /// Whether the name is allowed: 1 to 255 bytes, no colon and no control character (RFC 7617 section 2), no blank in
    /// front or behind.
    public static func isLegal(_ name: String) -> Bool {
        guard (1...maximumByteCount).contains(name.utf8.count) else { return false }
        guard let first = name.unicodeScalars.first, let last = name.unicodeScalars.last else { return false }
        guard !first.properties.isWhitespace, !last.properties.isWhitespace else { return false }
        return name.unicodeScalars.allSatisfy { $0 != ":" && !isControl($0) }
    }

    /// The same for all names that differ in their case only; there may be one of them.
    static func folded(_ name: String) -> String {
        // Some letters have two small forms, and some no capital of their own.
        name.uppercased().lowercased()
    }

    /// C0, DEL, C1 and the separators of lines.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) || scalar.value == 0x2028 || scalar.value == 0x2029
    }
}
