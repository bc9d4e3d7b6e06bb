public import Basics
internal import PushModel

/// A token that a client sent, taken apart (RFC 7519, RFC 7515). Nothing in it counts before its signature is verified.
///
/// Keys and addresses of keys in its header are never looked at: it is the set of keys that says which keys there are.
public struct JSONWebToken: Sendable {
    /// The longest token, in bytes. A longer one is not read.
    public static let maximumByteCount = 16 << 10

    /// The way in which it says that it is signed.
    public let algorithm: SignatureAlgorithm
    /// The name of the key that it says it is signed with. It is compared with names, and nothing else.
    public let keyID: String?
    /// The bytes that the signature is of.
    public let signedBytes: [UInt8]
    /// The signature, of any length.
    public let signature: [UInt8]
    /// The claims, an object.
    let claims: JSONDocument

    /// Takes a token apart.
    ///
    /// - Parameter bytes: The token, in the compact form.
    /// - Throws: `.malformed`, `.algorithm` or `.critical`.
    public init(_ bytes: [UInt8]) throws(TokenFault) {
        guard bytes.count <= Self.maximumByteCount else { throw .malformed }
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64.decode(urlText: parts[2])
        else { throw .malformed }
        guard let algorithm = header.text("alg", of: header.root).flatMap({ SignatureAlgorithm(rawValue: $0) }) else {
            throw .algorithm
        }
        // RFC 7797 has `b64` only beside `crit`, and some libraries read it without.
        guard header.member("crit", of: header.root) == nil, header.member("b64", of: header.root) == nil else { throw .critical }
        let keyID = header.claim("kid")
        if let keyID, header.kind(of: keyID) != .string { throw .malformed }
        self.algorithm = algorithm
        self.keyID = keyID.flatMap { header.content(of: $0) }
        self.claims = claims
        self.signature = signature
        signedBytes = Array(bytes.prefix(parts[0].count + 1 + parts[1].count))
    }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONDocument? {
        Base64.decode(urlText: part).flatMap { JSONDocument(objectIn: $0) }
    }
}

extension JSONWebToken: Concealed {
    /// A fixed text, never the token.
    public var description: String { "JSONWebToken(redacted)" }
}
