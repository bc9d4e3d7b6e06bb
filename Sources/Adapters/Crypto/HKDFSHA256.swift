/// Derivation of keys with HMAC and SHA-256 (HKDF, RFC 5869).
public enum HKDFSHA256 {
    /// The most bytes that can be derived at once (RFC 5869 section 2.3).
    public static let maximumByteCount = 255 * HMACSHA256.byteCount

    /// Derives a key.
    ///
    /// - Parameters:
    ///   - material: A secret with as many unpredictable bits as the key must be worth.
    ///   - salt: Not secret; may be empty.
    ///   - info: What the key is for.
    ///   - byteCount: The length of the key, 1…8160.
    /// - Returns: The key.
    /// - Throws: `CryptoError.openSSL` for another length, and when the library refuses or is out of memory.
    public static func key(
        from material: [UInt8], salt: [UInt8] = [], info: [UInt8], byteCount: Int
    ) throws(CryptoError) -> [UInt8] {
        guard (1...maximumByteCount).contains(byteCount) else {
            throw .openSSL(operation: "derive a key", reason: "no key can have \(byteCount) bytes")
        }
        let secret = try HMACSHA256.code(of: material, key: salt)
        var key: [UInt8] = []
        var block: [UInt8] = []
        var number: UInt8 = 0
        while key.count < byteCount {
            number += 1
            block = try HMACSHA256.code(of: block + info + [number], key: secret)
            key += block
        }
        return Array(key.prefix(byteCount))
    }
}
