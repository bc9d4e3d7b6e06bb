internal import Basics
public import PushModel

/// The choice of the hub that a request goes to: the one it names, else its tenant's, else the default.
///
/// Hubs and spreads have numbers of their own, which are their owner's business.
public struct HubRouter: Sendable {
    /// The destination of a request.
    public enum Route: Sendable, Hashable {
        /// To the hub of that number.
        case hub(Int)
        /// To some hubs, or all, of the spread of that number.
        case spread(Int)
    }

    /// The reason why there is no way.
    public enum Fault: Error, Sendable, Equatable {
        /// No hub has the name that the request, its tenant's rule or the default says.
        case unknown
        /// The request names none, and there is no default.
        case unnamed
    }

    /// By the hashes of the names.
    private let names: [UInt64: [(name: [UInt8], route: Route)]]
    private let tenants: [TenantID: Route?]
    private let fallback: Route?
    private let hasDefault: Bool

    /// A router.
    ///
    /// - Parameters:
    ///   - names: What can be named, each once, and where it leads.
    ///   - tenants: The name for each tenant that has one.
    ///   - defaultName: The name for all other requests that name none; nil to refuse them.
    public init(_ names: [(name: String, route: Route)], tenants: [String: String] = [:], defaultName: String?) {
        let routes = Dictionary(names.map { ($0.name, $0.route) }) { first, _ in first }
        self.names = Dictionary(grouping: names.map { (name: Array($0.name.utf8), route: $0.route) }) { FNV1a.hash(of: $0.name) }
        self.tenants = Dictionary(tenants.map { (TenantID($0.key), routes[$0.value]) }) { first, _ in first }
        fallback = defaultName.flatMap { routes[$0] }
        hasDefault = defaultName != nil
    }

    /// The way of a request. Throws the reason that it has none.
    public func route(of request: borrowing PushRequest, tenant: TenantID) throws(Fault) -> Route {
        if let hub = request.hub {
            guard let route = route(named: request.document.span(hub)) else { throw .unknown }
            return route
        }
        return try route(of: tenant)
    }

    /// The way of a tenant's requests that name no hub. Throws the reason that they have none.
    public func route(of tenant: TenantID) throws(Fault) -> Route {
        if tenant != .none, !tenants.isEmpty, let own = tenants[tenant] {
            guard let own else { throw .unknown }
            return own
        }
        guard let fallback else { throw hasDefault ? .unknown : .unnamed }
        return fallback
    }

    /// True if a tenant has a name of its own, known or not.
    public func hasRule(for tenant: TenantID) -> Bool { tenant != .none && tenants[tenant] != nil }

    /// The ways of the requests that name no hub: of those without a tenant, and of all tenants that have a name of their own but one.
    public func routes(besides tenant: TenantID) -> Set<Route> {
        Set(tenants.compactMap { $0.key == tenant ? nil : $0.value } + [fallback].compactMap { $0 })
    }

    /// The route that a name leads to, or nil for one that is not known.
    public func route(named name: Span<UInt8>) -> Route? {
        guard let entries = names[FNV1a.hash(of: name)] else { return nil }
        for entry in entries where entry.name.span.equals(name) { return entry.route }
        return nil
    }

    /// The route that a name leads to, or nil for one that is not known.
    public func route(named name: String) -> Route? { route(named: Array(name.utf8).span) }
}
