import Delivery
package import HubREST
package import PushModel

/// The names of the hubs that requests go to, by settings.
package struct HubNames: Sendable {
    private let routes: HubRoutes
    /// By the numbers of the routes.
    private let names: [String?]

    /// True if the settings have every hub that a worker's have, as far as they say.
    package let areWhole: Bool

    /// Names by routes, whose numbers are places in `names`.
    package init(_ routes: HubRoutes, names: [String?], areWhole: Bool = false) {
        self.routes = routes
        self.names = names
        self.areWhole = areWhole
    }

    /// The name that leads nowhere, or nil for one that leads to a hub, and while it is not known.
    package func unknown(_ name: String?) -> String? {
        guard areWhole, let name, routes.router.route(named: name) == nil else { return nil }
        return name
    }

    /// All names that a request may have.
    package var all: [String] { names.compactMap(\.self) + routes.spreads.map(\.name) }

    /// The hub that a request goes to, as far as it is known. Of one whose hub is not known here that is the name in it.
    package func name(of request: borrowing PushRequest) -> String? {
        let tenant = request.tenant.map { TenantID(request.document.span($0)) } ?? .none
        let named = request.hub.map { request.document.string($0) }
        switch try? routes.route(of: request, tenant: tenant) {
        case .hub(let number): return names.indices.contains(number) ? names[number] : named
        case .parts: return nil
        case nil: return named
        }
    }
}
