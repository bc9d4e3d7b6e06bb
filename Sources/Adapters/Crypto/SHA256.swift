import Basics
import COpenSSL

/// The SHA-256 digest (RFC 6234).
public enum SHA256 {
    /// Length of a digest in bytes.
    public static let byteCount = 32

    /// Computes the digest of some bytes.
    ///
    /// - Parameter bytes: The input; may be empty.
    /// - Returns: 32 bytes.
    /// - Throws: `CryptoError.openSSL` when the library refuses or is out of memory.
    public static func digest(of bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        var written: UInt32 = 0
        guard EVP_Digest(bytes, bytes.count, &digest, &written, EVP_sha256(), nil) == 1, Int(written) == byteCount
        else { throw .last("compute a SHA-256 digest") }
        return digest
    }

    /// Computes the digest of some bytes as 64 small hexadecimal digits.
    ///
    /// - Parameter bytes: The input; may be empty.
    /// - Returns: 64 ASCII characters.
    /// - Throws: As `digest(of:)` does.
    public static func hexadecimalDigest(of bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        Hexadecimal.digits(of: try digest(of: bytes))
    }
}
