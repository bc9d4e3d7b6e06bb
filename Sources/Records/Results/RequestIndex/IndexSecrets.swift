import Crypto
import LZ4

/// The keys of an index of requests: for its tokens, and for its facts where those are encrypted.
struct IndexSecrets: Sendable {
    /// The hash of tokens.
    let hash: TokenHash
    /// Tells the settings under which an index was made from others. It betrays nothing of a key.
    let mark: [UInt8]
    private let sealing: [UInt8]?

    /// The keys by a rule and a salt of the index.
    init(_ names: RequestIndexSettings.Names, salt: [UInt8]) throws(CryptoError) {
        var secret: [UInt8] = []
        var word = "plain"
        switch names {
        case .plain: break
        case .omitted: word = "omitted"
        case .encrypted(let bytes): (secret, word) = (bytes, "encrypted")
        }
        func key(_ use: String, byteCount: Int) throws(CryptoError) -> [UInt8] {
            try HKDFSHA256.key(
                from: secret + salt, salt: salt, info: Array("pushfan request index: \(use)".utf8), byteCount: byteCount)
        }
        hash = TokenHash(key: try key("tokens", byteCount: TokenHash.keyByteCount))
        mark = Array(word.utf8) + [0] + (try key("mark", byteCount: 16))
        sealing = secret.isEmpty ? nil : try key("facts", byteCount: AES256GCM.keyByteCount)
    }

    /// Packs facts, and encrypts them where that is the rule. Nil for more than can be packed.
    func pack(_ facts: Span<UInt8>) -> [UInt8]? {
        guard let packed = try? LZ4Block.pack(facts) else { return nil }
        guard let sealing else { return packed }
        guard let nonce = try? randomBytes(AES256GCM.nonceByteCount),
            let sealed = try? AES256GCM.seal(packed, key: sealing, nonce: nonce)
        else { return nil }
        return nonce + sealed
    }

    /// Unpacks what `pack` has made. Nil for anything else.
    func unpack(_ content: Span<UInt8>) -> [UInt8]? {
        guard let sealing else { return try? LZ4Block.unpack(content) }
        let bytes = content.withUnsafeBufferPointer { Array($0) }
        let nonce = Array(bytes.prefix(AES256GCM.nonceByteCount))
        let sealed = Array(bytes.dropFirst(AES256GCM.nonceByteCount))
        guard nonce.count == AES256GCM.nonceByteCount,
            let packed = (try? AES256GCM.open(sealed, key: sealing, nonce: nonce)) ?? nil
        else { return nil }
        return try? LZ4Block.unpack(packed.span)
    }
}
