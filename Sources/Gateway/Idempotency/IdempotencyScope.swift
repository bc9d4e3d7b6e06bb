import Crypto

/// A digest of what one `Idempotency-Key` belongs to: the API key and the route. The key itself is not kept.
struct IdempotencyScope: Hashable, Sendable {
    /// A SHA-256 digest, 32 bytes.
    let digest: [UInt8]

    /// A scope as it was kept.
    init(digest: [UInt8]) { self.digest = digest }

    /// The scope of a call.
    ///
    /// - Parameters:
    ///   - key: The value of `Idempotency-Key`, without quotes.
    ///   - apiKey: The id of the caller's API key, without a NUL.
    ///   - route: The route's label, without a NUL.
    /// - Throws: The library for digests fails.
    init(_ key: String, apiKey: String, route: String) throws(CryptoError) {
        digest = try SHA256.digest(of: Array(apiKey.utf8) + [0] + Array(route.utf8) + [0] + Array(key.utf8))
    }
}
