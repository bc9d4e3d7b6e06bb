internal import COpenSSL

/// A public key that verifies signatures over SHA-256: RSASSA-PKCS1-v1_5 (RFC 8017 section 8.2), or ECDSA with P-256 (FIPS 186-5).
///
/// `@unchecked Sendable`: `key` is set once and nothing here changes it. Several threads may use an EVP_PKEY that none changes, and
/// OpenSSL guards what it remembers inside with a lock of its own (openssl-threads(7)).
public final class SignatureKey: @unchecked Sendable {
    /// The length of an ECDSA signature: two numbers of 32 bytes (RFC 7518, section 3.4).
    private static let ecdsaByteCount = 64

    private let key: OpaquePointer
    private let isECDSA: Bool

    /// Makes an RSA key.
    ///
    /// - Parameters:
    ///   - modulus: The modulus, big-endian. The caller bounds its length, and with it the cost.
    ///   - exponent: The public exponent, big-endian.
    /// - Throws: `CryptoError.openSSL` when these are no key.
    public init(modulus: [UInt8], exponent: [UInt8]) throws(CryptoError) {
        let numbers = DER.element(DER.sequence, content: DER.integer(modulus) + DER.integer(exponent))
        key = try Self.key(DER.rsa, bits: numbers)
        isECDSA = false
    }

    /// Makes a P-256 key.
    ///
    /// - Parameters:
    ///   - x: A coordinate of 32 bytes, big-endian.
    ///   - y: The other one.
    /// - Throws: `CryptoError.openSSL` when there is no such point on the curve.
    public init(x: [UInt8], y: [UInt8]) throws(CryptoError) {
        // 4 stands for a point that is not compressed (SEC 1 section 2.3.3).
        key = try Self.key(DER.p256, bits: [4] + x + y)
        isECDSA = true
    }

    deinit { EVP_PKEY_free(key) }

    /// Verifies a signature. Whatever the signature is, the answer is yes or no.
    ///
    /// - Parameters:
    ///   - signature: As JSON Web Signatures have it: of ECDSA two numbers of 32 bytes.
    ///   - message: The bytes that were signed.
    /// - Returns: Whether the owner of the key signed the message.
    public func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
        guard !isECDSA || signature.count == Self.ecdsaByteCount, let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        let half = Self.ecdsaByteCount / 2
        let signature =
            isECDSA
            ? DER.element(
                DER.sequence, content: DER.integer(Array(signature.prefix(half))) + DER.integer(Array(signature.suffix(half))))
            : signature
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
            && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    /// Reads a SubjectPublicKeyInfo (RFC 5280, section 4.1).
    private static func key(_ algorithm: [UInt8], bits: [UInt8]) throws(CryptoError) -> OpaquePointer {
        let info = DER.element(DER.sequence, content: algorithm + DER.element(DER.bitString, content: [0] + bits))
        let key = info.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_PUBKEY(nil, &start, bytes.count)
        }
        guard let key else { throw .last("read a public key") }
        return key
    }
}

/// The little of the Distinguished Encoding Rules that keys and signatures need (X.690).
private enum DER {
    static let sequence: UInt8 = 0x30
    static let bitString: UInt8 = 3

    /// The algorithm `rsaEncryption` with its empty parameters (RFC 3279, section 2.3.1).
    static let rsa: [UInt8] = [0x30, 13, 6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1, 5, 0]
    /// The algorithm `id-ecPublicKey` with the curve `secp256r1` (RFC 5480, section 2.1.1).
    static let p256: [UInt8] = [
        0x30, 19, 6, 7, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1, 6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7,
    ]

    /// A tag, the length of the content, and the content.
    static func element(_ tag: UInt8, content: [UInt8]) -> [UInt8] {
        guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }

    /// A number that is not negative, in as few bytes as it has.
    static func integer(_ number: [UInt8]) -> [UInt8] {
        let digits = Array(number.drop { $0 == 0 })
        let isPadded = digits.first.map { $0 >= 0x80 } ?? true
        return element(2, content: (isPadded ? [0] : []) + digits)
    }
}
