package import Keys

/// A back end whose key was right. Two keys of one tenant and source are one publisher.
package struct Publisher: Sendable, Equatable {
    /// The key's id, which is no secret.
    package let keyID: String
    /// The tenant of all that it publishes; nil where its requests name theirs.
    package let tenant: String?
    package let source: String
    /// What it may do.
    package let scopes: Set<Scope>
    /// The comment on the key, for people.
    package var comment: String?

    package init(keyID: String, tenant: String?, source: String, scopes: Set<Scope>, comment: String? = nil) {
        self.keyID = keyID
        self.tenant = tenant
        self.source = source
        self.scopes = scopes
        self.comment = comment
    }
}

extension Publisher {
    package init(_ key: APIKey) {
        self.init(
            keyID: key.id, tenant: key.terms.tenant, source: key.source, scopes: key.terms.scopes, comment: key.terms.comment)
    }
}
