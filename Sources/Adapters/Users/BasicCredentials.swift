public import Basics

/// Name and password of an `Authorization` header (RFC 7617, `Basic`), read as UTF-8.
///
/// The name ends at the first colon, so that a password may have some.
public struct BasicCredentials: Sendable {
    /// The value of `WWW-Authenticate` beside a 401.
    public static let challenge = #"Basic realm="pushfan", charset="UTF-8""#
    /// The longest password, in bytes of UTF-8.
    public static let maximumPasswordByteCount = 1024
    /// The longest header value that is looked at, in bytes: the longest name and password in base64, the scheme, some blanks.
    public static let maximumHeaderByteCount = (UserName.maximumByteCount + 1 + maximumPasswordByteCount + 2) / 3 * 4 + 16

    /// The name as the client wrote it. Perhaps no user has it.
    public let name: String
    /// The password's bytes.
    let password: [UInt8]

    /// Reads a header's value. Nil when there is none, or it has another scheme or form, is too long, or has a control character
    /// in name or password.
    public init?(authorization: String?) {
        guard let authorization, authorization.utf8.count <= Self.maximumHeaderByteCount else { return nil }
        let words = authorization.utf8.split(separator: UInt8(ascii: " "))
        guard words.count == 2, String(decoding: words[0], as: UTF8.self).lowercased() == "basic" else { return nil }
        guard let bytes = Base64.decode(Array(words[1])), let text = String(validating: bytes, as: UTF8.self) else { return nil }
        guard !text.unicodeScalars.contains(where: Self.isControl) else { return nil }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let password = Array(bytes[(colon + 1)...])
        guard colon <= UserName.maximumByteCount, password.count <= Self.maximumPasswordByteCount else { return nil }
        name = String(decoding: bytes[..<colon], as: UTF8.self)
        self.password = password
    }

    /// True if the name is allowed and the password equals it: that is all a demonstration asks for.
    public var areOfDemonstration: Bool { UserName.isLegal(name) && password == Array(name.utf8) }

    /// True if the password is allowed: 1 to 1,024 bytes of UTF-8 without control characters, which no header may have.
    public static func isLegalPassword(_ password: [UInt8]) -> Bool {
        guard (1...maximumPasswordByteCount).contains(password.count) else { return false }
        return String(validating: password, as: UTF8.self)?.unicodeScalars.contains(where: isControl) == false
    }

    /// The control characters of RFC 5234, appendix B.1.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || scalar.value == 0x7F }
}

extension BasicCredentials: Concealed {
    /// Says what it is, but never the password.
    public var description: String { "BasicCredentials(redacted)" }
}
