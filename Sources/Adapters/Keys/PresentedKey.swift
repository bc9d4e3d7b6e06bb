public import Basics

/// A key that a client sent in an `Authorization` header (RFC 6750, `Bearer`): `pf_ID_SECRET`.
///
/// The beginning is the same for all keys, so that scanners of repositories find those that leaked.
public struct PresentedKey: Sendable {
    /// The value of `WWW-Authenticate` in a 401 (RFC 6750, section 3).
    public static let challenge = #"Bearer realm="pushfan""#
    static let idLength = 8
    /// The digits of ids: those of base 32 that no one takes for others (without i, l, o and u).
    static let idAlphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    private static let secretLength = 43
    private static let prefix = Array("pf_".utf8)
    private static let length = prefix.count + idLength + 1 + secretLength

    /// The id, which may be of no existing key.
    public let id: String
    /// The secret's characters.
    let secret: [UInt8]

    /// Reads a key, or returns nil when it has another form.
    public init?(_ text: some StringProtocol) {
        self.init(bytes: Array(text.utf8.prefix(Self.length + 1))[...])
    }

    /// Reads a header's value. Nil when there is none, or it has another scheme, or no key.
    public init?(authorization: String?) {
        let blank = UInt8(ascii: " ")
        guard let bytes = authorization.map({ Array($0.utf8) })?.drop(while: { $0 == blank }) else { return nil }
        let (scheme, rest) = (bytes.prefix { $0 != blank }, bytes.drop { $0 != blank })
        // The bit tells small letters from others.
        guard scheme.elementsEqual("bearer".utf8, by: { $0 | 0x20 == $1 }) else { return nil }
        var key = rest.drop { $0 == blank }
        while key.last == blank { key.removeLast() }
        self.init(bytes: key)
    }

    private init?(bytes: ArraySlice<UInt8>) {
        guard bytes.count == Self.length, bytes.starts(with: Self.prefix) else { return nil }
        let (id, rest) = (bytes.dropFirst(Self.prefix.count).prefix(Self.idLength), bytes.suffix(Self.secretLength + 1))
        guard Self.isID(id), rest.first == UInt8(ascii: "_"), rest.dropFirst().allSatisfy(Self.isOfSecret) else { return nil }
        self.id = String(decoding: id, as: UTF8.self)
        secret = Array(rest.dropFirst())
    }

    /// True if these characters can be an id.
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

extension PresentedKey: Concealed {
    /// A fixed text, never the secret.
    public var description: String { "PresentedKey(redacted)" }
}
