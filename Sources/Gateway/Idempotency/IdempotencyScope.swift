import Crypto

/// A digest of what one `Idempotency-Key` belongs to: the API key and the route. The key itself is not kept.
struct IdempotencyScope: Hashable, Sendable {
    /// A SHA-256 digest, 32 bytes.
    let digest: [UInt8]

    /// A scope as it was kept.
    init(digest: [UInt8]) { self.digest = digest }

    /// The scope of a call. `key` has no quotes, `apiKey` (its id) and `route` have no NUL.
    init(_ key: String, apiKey: String, route: String) throws(CryptoError) {
        digest = try SHA256.digest(of: Array(apiKey.utf8) + [0] + Array(route.utf8) + [0] + Array(key.utf8))
    }
}
