import COpenSSL

/// Compares two byte strings in a time that depends on their lengths only (`CRYPTO_memcmp(3)`).
///
/// - Parameters:
///   - left: For example the expected signature.
///   - right: For example the signature a peer sent.
/// - Returns: Whether both have the same length and the same bytes.
public func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
}
