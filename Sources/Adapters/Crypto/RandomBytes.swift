import COpenSSL

/// Draws bytes from OpenSSL's cryptographic generator (`RAND_bytes(3)`).
///
/// - Parameter count: How many; nothing or less gives an empty array.
/// - Returns: `count` unpredictable bytes.
/// - Throws: `CryptoError.openSSL` when the generator has no entropy.
public func randomBytes(_ count: Int) throws(CryptoError) -> [UInt8] {
    guard count > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: count)
    guard let length = Int32(exactly: count), RAND_bytes(&bytes, length) == 1 else { throw .last("draw random bytes") }
    return bytes
}
