import COpenSSL

/// Authenticated encryption with AES-256 in Galois/Counter Mode (NIST SP 800-38D), without additional data.
///
/// One key and one nonce together must seal one message only.
public enum AES256GCM {
    /// Length of a key in bytes.
    public static let keyByteCount = 32
    /// Length of a nonce in bytes.
    public static let nonceByteCount = 12
    /// The number of bytes by which a sealed message is longer than the message.
    public static let tagByteCount = 16

    /// Encrypts a message.
    ///
    /// - Parameters:
    ///   - message: The bytes to hide; may be empty.
    ///   - key: 32 bytes.
    ///   - nonce: 12 bytes.
    /// - Returns: The encrypted message, and the tag of 16 bytes behind it.
    /// - Throws: `CryptoError.openSSL` when key or nonce has another length, the library refuses, or is out of memory.
    public static func seal(_ message: [UInt8], key: [UInt8], nonce: [UInt8]) throws(CryptoError) -> [UInt8] {
        let context = try begin(key, nonce: nonce, isSealing: true)
        defer { EVP_CIPHER_CTX_free(context) }
        var sealed = try update(context, with: message)
        var tag = [UInt8](repeating: 0, count: tagByteCount)
        var rest: Int32 = 0
        guard EVP_CipherFinal_ex(context, &tag, &rest) == 1, rest == 0,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagByteCount), &tag) == 1
        else { throw .last("seal a message") }
        sealed += tag
        return sealed
    }

    /// Decrypts a message.
    ///
    /// - Parameters:
    ///   - sealed: What `seal` has returned.
    ///   - key: The key that sealed it.
    ///   - nonce: The nonce that sealed it.
    /// - Returns: The message; nil when it was sealed with another key or nonce, or was changed.
    /// - Throws: `CryptoError.openSSL` when key or nonce has another length, the library refuses, or is out of memory.
    public static func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) throws(CryptoError) -> [UInt8]? {
        guard sealed.count >= tagByteCount else { return nil }
        let context = try begin(key, nonce: nonce, isSealing: false)
        defer { EVP_CIPHER_CTX_free(context) }
        let message = try update(context, with: Array(sealed.dropLast(tagByteCount)))
        var tag = Array(sealed.suffix(tagByteCount))
        guard EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagByteCount), &tag) == 1
        else { throw .last("open a message") }
        var rest: Int32 = 0
        // It writes nothing; it wants a place to write to all the same.
        guard EVP_CipherFinal_ex(context, &tag, &rest) == 1 else {
            ERR_clear_error()
            return nil
        }
        return message
    }

    /// The caller owns the context and frees it.
    private static func begin(_ key: [UInt8], nonce: [UInt8], isSealing: Bool) throws(CryptoError) -> OpaquePointer {
        guard key.count == keyByteCount, nonce.count == nonceByteCount else {
            throw .openSSL(operation: "prepare a cipher", reason: "the key or the nonce has another length")
        }
        guard let context = EVP_CIPHER_CTX_new() else { throw .last("prepare a cipher") }
        guard EVP_CipherInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce, isSealing ? 1 : 0) == 1 else {
            let error = CryptoError.last("prepare a cipher")
            EVP_CIPHER_CTX_free(context)
            throw error
        }
        return context
    }

    private static func update(_ context: OpaquePointer, with input: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard !input.isEmpty else { return [] }
        var output = [UInt8](repeating: 0, count: input.count)
        var written: Int32 = 0
        guard let length = Int32(exactly: input.count),
            EVP_CipherUpdate(context, &output, &written, input, length) == 1, written == length
        else { throw .last("encrypt or decrypt a message") }
        return output
    }
}
