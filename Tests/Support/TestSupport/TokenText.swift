import Basics

/// Writes texts as JSON Web Tokens have them.
public enum TokenText {
    /// Bytes in the alphabet for URLs, without padding (RFC 7515, section 2).
    public static func part(_ bytes: [UInt8]) -> String {
        let text = Base64.encode(bytes).compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// A token without its signature: what is signed.
    public static func unsigned(header: String, claims: String) -> String {
        part(Array(header.utf8)) + "." + part(Array(claims.utf8))
    }
}
