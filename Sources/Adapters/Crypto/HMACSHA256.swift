import COpenSSL

/// Message authentication with HMAC and SHA-256 (RFC 2104, RFC 6234).
public enum HMACSHA256 {
    /// Length of a code in bytes.
    public static let byteCount = 32

    /// Computes the code of a message.
    ///
    /// - Parameters:
    ///   - message: The bytes to authenticate; may be empty.
    ///   - key: The key's bytes, of any length. A textual key is passed as its UTF-8 bytes.
    /// - Returns: 32 bytes.
    /// - Throws: `CryptoError.openSSL` when the library refuses or is out of memory.
    public static func code(of message: [UInt8], key: [UInt8]) throws(CryptoError) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: byteCount)
        var written: UInt32 = 0
        guard let keyLength = Int32(exactly: key.count),
            HMAC(EVP_sha256(), key, keyLength, message, message.count, &code, &written) != nil,
            Int(written) == byteCount
        else { throw .last("compute an HMAC") }
        return code
    }
}
