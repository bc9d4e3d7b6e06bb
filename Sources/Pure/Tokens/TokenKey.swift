internal import PushModel

/// A public key of a set (RFC 7517, RFC 7518 section 6).
public struct TokenKey: Sendable, Equatable {
    /// The numbers of a key, big-endian.
    public enum Numbers: Sendable, Equatable {
        /// A modulus of 2,048 to 8,192 bits and an odd exponent of at most four bytes, both without zeros in front.
        case rsa(modulus: [UInt8], exponent: [UInt8])
        /// The coordinates of a point, 32 bytes each. Nothing says that it is on the curve.
        case p256(x: [UInt8], y: [UInt8])
    }

    /// The name by which tokens mean it.
    public let id: String?
    /// The numbers.
    public let numbers: Numbers

    /// The way to sign with it.
    public var algorithm: SignatureAlgorithm {
        switch numbers {
        case .rsa: .rs256
        case .p256: .es256
        }
    }

    /// Reads a key of a set. Nil for one that is not for these signatures, is too short or too long, or is private.
    init?(_ node: JSONDocument.Node, of set: JSONDocument) {
        guard let numbers = Self.numbers(node, of: set), set.member("d", of: node) == nil else { return nil }
        self.numbers = numbers
        let id = set.value("kid", of: node)
        self.id = id.flatMap { set.content(of: $0) }
        guard id == nil || self.id != nil, Self.isForSignatures(node, of: set) else { return nil }
        if let name = set.value("alg", of: node), set.content(of: name) != algorithm.rawValue { return nil }
    }

    private static func isForSignatures(_ node: JSONDocument.Node, of set: JSONDocument) -> Bool {
        if let use = set.value("use", of: node), set.content(of: use) != "sig" { return false }
        guard let operations = set.value("key_ops", of: node) else { return true }
        return set.texts(at: operations)?.contains("verify") == true
    }

    private static func numbers(_ node: JSONDocument.Node, of set: JSONDocument) -> Numbers? {
        switch set.text("kty", of: node) {
        case "RSA":
            guard let modulus = number("n", in: node, of: set), let exponent = number("e", in: node, of: set) else { return nil }
            let isLong = (256...1024).contains(modulus.count) && (modulus.count > 256 || modulus[0] >= 0x80)
            let isOdd = modulus.last.map { $0 & 1 } == 1 && exponent.last.map { $0 & 1 } == 1
            guard isLong, isOdd, exponent.count <= 4, exponent != [1] else { return nil }
            return .rsa(modulus: modulus, exponent: exponent)
        case "EC":
            guard set.text("crv", of: node) == "P-256", let x = set.bytes("x", of: node), let y = set.bytes("y", of: node),
                x.count == 32, y.count == 32
            else { return nil }
            return .p256(x: x, y: y)
        default: return nil
        }
    }

    private static func number(_ name: StaticString, in node: JSONDocument.Node, of set: JSONDocument) -> [UInt8]? {
        set.bytes(name, of: node).map { Array($0.drop { $0 == 0 }) }
    }
}
