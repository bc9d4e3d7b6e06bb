import Basics
package import Crypto
package import HubServer

/// Hides handles in a file with a key of the settings, or leaves them plain where there is none.
package struct HandleSeal: Sendable {
    /// The keys, each for one use.
    private struct Keys: Sendable {
        let cipher, nonce, fingerprint, check: [UInt8]
    }

    /// First bytes of what is kept.
    private static let (plain, sealed): (UInt8, UInt8) = (0, 1)
    /// Length of a fingerprint, and of a check.
    private static let digestByteCount = 16

    private let keys: Keys?

    /// A seal with a key of 32 bytes, or nil for none.
    package init(key: [UInt8]?) throws(CryptoError) {
        guard let key else {
            keys = nil
            return
        }
        func derive(_ use: String) throws(CryptoError) -> [UInt8] {
            try HKDFSHA256.key(
                from: key, info: Array("pushfan hub \(use)".utf8), byteCount: AES256GCM.keyByteCount)
        }
        keys = Keys(
            cipher: try derive("cipher"), nonce: try derive("nonce"), fingerprint: try derive("fingerprint"),
            check: try derive("check"))
    }

    /// True if there is a key.
    package var isSealing: Bool { keys != nil }

    /// Tells one key from another, and says nothing of it. Empty without a key.
    var check: [UInt8] { keys.map { Array($0.check.prefix(Self.digestByteCount)) } ?? [] }

    /// The bytes as the file keeps them. The same ones always give the same, which is the length of a seal longer.
    package func sealed(_ bytes: [UInt8]) throws(RefusedCall) -> [UInt8] {
        guard let keys else { return [Self.plain] + bytes }
        do throws(CryptoError) {
            // A nonce of the content: one message only has it, however many are sealed in the life of a key.
            let nonce = Array(try HMACSHA256.code(of: bytes, key: keys.nonce).prefix(AES256GCM.nonceByteCount))
            return [Self.sealed] + nonce + (try AES256GCM.seal(bytes, key: keys.cipher, nonce: nonce))
        } catch {
            throw Self.refusal
        }
    }

    /// The bytes that were sealed.
    package func opened(_ bytes: [UInt8]) throws(RefusedCall) -> [UInt8] {
        if bytes.first == Self.plain { return Array(bytes.dropFirst()) }
        guard let keys, bytes.first == Self.sealed, bytes.count > AES256GCM.nonceByteCount else { throw Self.refusal }
        let (nonce, rest) = (bytes[1...AES256GCM.nonceByteCount], bytes[(1 + AES256GCM.nonceByteCount)...])
        do throws(CryptoError) {
            if let opened = try AES256GCM.open(Array(rest), key: keys.cipher, nonce: Array(nonce)) { return opened }
        } catch {}
        throw Self.refusal
    }

    /// The 16 bytes by which a device is found. They say nothing of its handle to those without the key.
    package func fingerprint(of device: DeviceKey) throws(RefusedCall) -> [UInt8] {
        let text = Array("\(device.platform.code):\(device.handle)".utf8)
        guard let keys else { return Array(SHA256.digest(of: text).prefix(Self.digestByteCount)) }
        do throws(CryptoError) {
            return Array(try HMACSHA256.code(of: text, key: keys.fingerprint).prefix(Self.digestByteCount))
        } catch {
            throw Self.refusal
        }
    }

    private static var refusal: RefusedCall { .unavailable("A handle in the hub's file cannot be sealed or opened") }
}

extension HandleSeal: Concealed {
    /// The kind of it alone.
    package var description: String { "HandleSeal(redacted)" }
}
