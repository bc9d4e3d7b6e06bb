import Keys

/// A back end whose key was right. Two keys of one tenant and source are one publisher.
struct Publisher: Sendable, Equatable {
    /// The key's id, which is no secret.
    let keyID: String
    /// The tenant of all that it publishes; nil where its requests name theirs.
    let tenant: String?
    package let source: String
    /// What it may do.
    let scopes: Set<Scope>
    /// The comment on the key, for people.
    var comment: String?
}

extension Publisher {
    init(_ key: APIKey) {
        self.init(
            keyID: key.id, tenant: key.terms.tenant, source: key.source, scopes: key.terms.scopes, comment: key.terms.comment)
    }
}
