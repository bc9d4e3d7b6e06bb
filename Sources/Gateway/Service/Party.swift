/// A holder of what the gateway keeps for all: a tenant, or a publisher without one, which is known by its source.
///
/// All keys and sources of a tenant are one party, so that whoever has more of them has no greater share.
struct Party: Hashable, Sendable {
    private let tenant: String?
    private let source: String

    /// The party of a publisher. The source counts where there is no tenant.
    init(tenant: String?, source: String?) {
        self.tenant = tenant
        self.source = tenant == nil ? source ?? "" : ""
    }
}

extension Party: CustomStringConvertible {
    /// Another text for each party.
    var description: String { tenant.map { "tenant \($0)" } ?? "source \(source)" }
}

extension Party {
    init(_ publisher: Publisher) { self.init(tenant: publisher.tenant, source: publisher.source) }
}
