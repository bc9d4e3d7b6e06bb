import Basics
import Crypto
import EventLoop
import Tokens

/// A set of keys, ready to verify signatures with.
struct VerifyingKeys: Sendable {
    /// The set that they were made from.
    let listed: KeySet
    /// The keys at the places of the set. Nil for one that is no key, such as a point off the curve.
    private let keys: [SignatureKey?]

    /// Makes the keys of a set.
    init(_ set: KeySet) {
        listed = set
        keys = set.keys.map { key in
            switch key.numbers {
            case .rsa(let modulus, let exponent): try? SignatureKey(modulus: modulus, exponent: exponent)
            case .p256(let x, let y): try? SignatureKey(x: x, y: y)
            }
        }
    }

    /// The number of keys.
    var count: Int { keys.count { $0 != nil } }
    /// The number of keys in the set that are of no use.
    var skippedCount: Int { listed.skippedCount + keys.count - count }

    /// The keys that may have signed a token.
    func candidates(for token: JSONWebToken) -> [SignatureKey] { listed.places(for: token).compactMap { keys[$0] } }
}

/// A file with a set of keys.
struct KeySetFile: FileContent {
    static let maximumByteCount = KeySet.maximumByteCount

    let bytes: [UInt8]
    /// The set, which only a file that does not exist yet has not.
    let listed: KeySet?

    init() { (bytes, listed) = ([], nil) }

    init(_ bytes: [UInt8]) throws(KeySetFault) {
        listed = try KeySet(bytes)
        self.bytes = bytes
    }

    var count: Int { listed?.keys.count ?? 0 }

    /// Always true: a JSON text that ends too early is no JSON text.
    func keepsAll(of other: KeySetFile) -> Bool { true }
}

/// The keys of a file at one moment.
struct KnownKeySet: KnownContent {
    let keys: VerifyingKeys
    let generation: Int

    init(_ content: KeySetFile, generation: Int) throws(FileError<KeySetFault>) {
        self.generation = generation
        guard let set = content.listed else { throw .fault(.noKeySet) }
        keys = VerifyingKeys(set)
    }
}
