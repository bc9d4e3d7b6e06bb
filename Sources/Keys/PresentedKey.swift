import Basics
import Crypto

/// A key that a client sent in an `Authorization` header (RFC 6750, `Bearer`): `pf_ID_SECRET`.
///
/// The beginning is the same for all keys, so that scanners of repositories find those that leaked.
public struct PresentedKey: Sendable {
    /// What `WWW-Authenticate` says beside a 401 (RFC 6750, section 3).
    public static let challenge = #"Bearer realm="pushfan""#
    static let idLength = 8
    /// The digits of ids: those of base 32 that no one takes for others (without i, l, o and u).
    static let idAlphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    private static let secretLength = 43
    private static let prefix = Array("pf_".utf8)
    private static let length = prefix.count + idLength + 1 + secretLength

    /// The id; perhaps no key has it.
    public let id: String
    /// The secret's characters.
    let secret: [UInt8]

    /// Reads a key; nil when it has another form.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8.prefix(Self.length + 1))
        guard bytes.count == Self.length, bytes.starts(with: Self.prefix) else { return nil }
        let (id, rest) = (bytes[Self.prefix.count...].prefix(Self.idLength), bytes.suffix(Self.secretLength + 1))
        guard Self.isID(id), rest.first == UInt8(ascii: "_"), rest.dropFirst().allSatisfy(Self.isOfSecret) else { return nil }
        self.id = String(decoding: id, as: UTF8.self)
        secret = Array(rest.dropFirst())
    }

    /// Reads a header; nil when it has another scheme, or no key.
    ///
    /// - Parameter authorization: The header's value; nil when there is none.
    public init?(authorization: String?) {
        guard let words = authorization?.split(separator: " ", maxSplits: 2), words.count == 2,
            words[0].utf8.count == 6, words[0].lowercased() == "bearer"
        else { return nil }
        self.init(words[1])
    }

    /// Whether these characters can be an id.
    static func isID(_ bytes: some Collection<UInt8>) -> Bool { bytes.count == idLength && bytes.allSatisfy(idAlphabet.contains) }

    /// The characters of 256 bits: base64url without padding (RFC 4648, section 5).
    static func secret(of bits: [UInt8]) -> [UInt8] {
        Base64.encode(bits).prefix(secretLength).map {
            switch $0 {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: $0
            }
        }
    }

    private static func isOfSecret(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}

extension PresentedKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says what it is; never the secret.
    public var description: String { "PresentedKey(redacted)" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so that a dump cannot show the secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
