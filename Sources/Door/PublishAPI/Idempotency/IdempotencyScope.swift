import Basics
import GatewayAPI

/// A digest of what one `Idempotency-Key` belongs to: the publisher, which is a tenant and a source, and the route. The key itself is not
/// kept.
package struct IdempotencyScope: Hashable, Sendable {
    /// A SHA-256 digest, 32 bytes.
    let digest: [UInt8]
    /// The party whose share of what is kept it counts for. Nil is none in particular.
    let party: Party?

    /// A scope as it was kept.
    init(digest: [UInt8], of party: Party? = nil) {
        self.digest = digest
        self.party = party
    }

    /// The scope of a call. `key` has no quotes, tenant, source and `route` have no NUL.
    init(_ key: String, tenant: String?, source: String, route: String) {
        self.init([tenant ?? "", source, route, key], of: Party(tenant: tenant, source: source))
    }

    /// The scope under which files of answers have calls of the version that went by the API key's id.
    init(_ key: String, apiKey: String, route: String) { self.init([apiKey, route, key], of: nil) }

    private init(_ parts: [String], of party: Party?) {
        self.party = party
        digest = SHA256.digest(of: Array(parts.map { Array($0.utf8) }.joined(separator: [0])))
    }

    /// The digest alone names a scope.
    package static func == (scope: IdempotencyScope, other: IdempotencyScope) -> Bool { scope.digest == other.digest }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
