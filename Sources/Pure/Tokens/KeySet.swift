internal import PushModel

/// The public keys of an issuer (RFC 7517, section 5).
public struct KeySet: Sendable, Equatable {
    /// The longest set, in bytes.
    public static let maximumByteCount = 1 << 20
    /// The most keys that count. No issuer has as many.
    static let maximumKeyCount = 100
    /// The most keys that a token is tried with, which bounds its cost.
    static let maximumTries = 4

    /// The keys that can verify a signature. None where the issuer has withdrawn all.
    public let keys: [TokenKey]
    /// The number of keys that are in the set and cannot.
    public let skippedCount: Int

    /// Reads a set. Keys of an unknown kind are passed over, as RFC 7517 says.
    ///
    /// - Parameter bytes: The set's text.
    /// - Throws: The reason for which it cannot be used.
    public init(_ bytes: [UInt8]) throws(KeySetFault) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLarge }
        guard let set = JSONDocument(objectIn: bytes), let list = set.claim("keys"), set.kind(of: list) == .array else {
            throw .noKeySet
        }
        var keys: [TokenKey] = []
        set.forEachElement(of: list) { node in
            if keys.count < Self.maximumKeyCount, let key = TokenKey(node, of: set) { keys.append(key) }
        }
        self.keys = keys
        skippedCount = set.childCount(of: list) - keys.count
    }

    /// The places of the keys that may have signed a token: those of its algorithm with its key's name, or with any where it names none.
    public func places(for token: JSONWebToken) -> ArraySlice<Int> {
        keys.indices.filter { place in
            keys[place].algorithm == token.algorithm && (token.keyID == nil || Self.isSame(keys[place].id, as: token.keyID))
        }.prefix(Self.maximumTries)
    }

    /// Says if a key has the name that a token's key has, whatever it is for. A token without a name has no key.
    public func hasKey(of token: JSONWebToken) -> Bool { keys.contains { Self.isSame($0.id, as: token.keyID) } }

    private static func isSame(_ name: String?, as other: String?) -> Bool {
        guard let name, let other else { return false }
        return name.utf8.elementsEqual(other.utf8)
    }
}

/// The reason for which a set of keys cannot be used. No part of the set is in it.
public enum KeySetFault: Error, Sendable, Equatable, CustomStringConvertible {
    /// It has more than 1 MiB.
    case tooLarge
    /// It is no JSON object with a list `keys`, or an object in it has a member twice.
    case noKeySet
    /// None of its keys can verify a signature.
    case noUsableKey

    /// The end of a sentence that begins with the set.
    public var description: String {
        switch self {
        case .tooLarge: "more than \(KeySet.maximumByteCount >> 20) MiB"
        case .noKeySet: "this is no JSON object with a list `keys` (RFC 7517), or a member is there twice"
        case .noUsableKey: "no key in it is a public one for RS256 (2,048 to 8,192 bits) or ES256"
        }
    }
}
