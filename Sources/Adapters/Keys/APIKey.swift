public import Basics
public import Crypto

/// A publisher's key as the file has it: everything but the secret, of which only the SHA-256 is kept.
///
/// A secret has 256 random bits, so no one finds it by trying, and a hash without salt and without cost is enough.
public struct APIKey: Sendable, Equatable, Identifiable {
    /// The part of the key that is no secret: 8 letters and digits.
    public let id: String
    /// The SHA-256 of the secret's characters, 32 bytes.
    let digest: [UInt8]
    /// The purpose of the key.
    public let terms: KeyTerms
    /// The time of its making, in seconds since 1970.
    public let createdAt: Int64
    /// The time from which it is refused, in seconds since 1970, or nil while it is not revoked.
    public internal(set) var revokedAt: Int64?

    /// The source of all that is published with it, which is its own if the terms name none.
    public var source: String { terms.source ?? "/pushfan/keys/\(id)" }

    /// The state of a key.
    public enum State: String, Sendable {
        case active, expired, revoked
    }

    /// The state of the key at a time, in seconds since 1970.
    ///
    /// - Parameter seconds: The present, in seconds since 1970.
    /// - Returns: The state at that time.
    public func state(at seconds: Int64) -> State {
        if revokedAt != nil { return .revoked }
        return (terms.expiresAt ?? .max) <= seconds ? .expired : .active
    }
}

extension APIKey: Concealed {
    /// The id of the key, never the hash.
    public var description: String { "APIKey(\(id))" }
}

/// A key with its secret: to be shown once, and not kept.
public struct NewKey: Sendable {
    /// The part that the file keeps.
    public let key: APIKey
    /// `pf_ID_SECRET`, as a client sends it.
    public let text: String

    /// Makes a key with an id and a secret of its own.
    ///
    /// - Parameters:
    ///   - terms: The purpose of the key.
    ///   - seconds: The present, in seconds since 1970.
    /// - Throws: `CryptoError.openSSL` when there is no entropy.
    public init(_ terms: KeyTerms, at seconds: Int64) throws(CryptoError) {
        let id = String(
            decoding: try randomBytes(PresentedKey.idLength).map { PresentedKey.idAlphabet[Int($0 & 31)] }, as: UTF8.self)
        let secret = PresentedKey.secret(of: try randomBytes(32))
        key = APIKey(id: id, digest: SHA256.digest(of: secret), terms: terms, createdAt: seconds)
        text = "pf_\(id)_" + String(decoding: secret, as: UTF8.self)
    }
}

extension NewKey: Concealed {
    /// A fixed text, never the secret.
    public var description: String { "NewKey(redacted)" }
}
