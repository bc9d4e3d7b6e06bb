/// A holder of what the gateway keeps for all: a tenant, or a publisher without one, which is known by its source.
///
/// All keys and sources of a tenant are one party, so that whoever has more of them has no greater share.
package struct Party: Hashable, Sendable {
    /// Computed once, because a party is looked for a dozen times for each request.
    private let digest: Int
    private let tenant: String?
    private let source: String

    /// The party of a publisher. The source counts where there is no tenant.
    package init(tenant: String?, source: String?) {
        self.tenant = tenant
        self.source = tenant == nil ? source ?? "" : ""
        var hasher = Hasher()
        hasher.combine(self.tenant)
        hasher.combine(self.source)
        digest = hasher.finalize()
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

extension Party: CustomStringConvertible {
    /// Another text for each party.
    package var description: String { tenant.map { "tenant \($0)" } ?? "source \(source)" }
}

extension Party {
    package init(_ publisher: Publisher) { self.init(tenant: publisher.tenant, source: publisher.source) }
}
