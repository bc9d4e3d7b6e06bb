import Basics
import Crypto
import FanOut

/// A text of secure push, and the user who may read it: what a record of the topic has, encrypted, as its value.
package struct SecureText: Sendable, Equatable {
    /// How long a text can be read after its record was written, in milliseconds.
    static let lifetime: Int64 = 86_400_000
    /// What the key is for; another layout of records needs another one.
    private static let purpose = Array("pushfan secure push 1".utf8)
    /// What stands between user and text. No tag has it.
    private static let separator = UInt8(ascii: "\n")

    /// The user's tag in lower case.
    let user: String
    let text: String

    init(_ text: String, for user: UserTag) {
        self.init(user: user.folded, text: text)
    }

    private init(user: String, text: String) {
        self.user = user
        self.text = text
    }

    /// Encrypts user and text to a record's value. `secret` is the random bytes of an id that was never used before: key and
    /// nonce come from them alone.
    func sealed(by secret: [UInt8]) throws(CryptoError) -> [UInt8] {
        let (key, nonce) = try Self.key(secret)
        return try AES256GCM.seal(Array(user.utf8) + [Self.separator] + Array(text.utf8), key: key, nonce: nonce)
    }

    /// Decrypts a record's value by the random bytes of the id by which it is asked for. Nil when it was sealed by others, or is
    /// no such record at all.
    static func opened(_ value: [UInt8], by secret: [UInt8]) throws(CryptoError) -> SecureText? {
        let (key, nonce) = try Self.key(secret)
        guard let bytes = try AES256GCM.open(value, key: key, nonce: nonce), let end = bytes.firstIndex(of: separator)
        else { return nil }
        return SecureText(
            user: String(decoding: bytes[..<end], as: UTF8.self), text: String(decoding: bytes[(end + 1)...], as: UTF8.self))
    }

    private static func key(_ secret: [UInt8]) throws(CryptoError) -> (key: [UInt8], nonce: [UInt8]) {
        let (keyLength, nonceLength) = (AES256GCM.keyByteCount, AES256GCM.nonceByteCount)
        let bytes = try HKDFSHA256.key(from: secret, info: purpose, byteCount: keyLength + nonceLength)
        return (Array(bytes.prefix(keyLength)), Array(bytes.suffix(nonceLength)))
    }
}

extension SecureText: Concealed {
    /// Says what it is; neither user nor text.
    package var description: String { "SecureText(redacted)" }
}
