import Delivery
package import HubREST
package import PushModel

/// The names of the hubs that requests go to, by settings.
package struct HubNames: Sendable {
    private let routes: HubRoutes
    /// By the numbers of the routes.
    private let names: [String?]

    /// Names by routes, whose numbers are places in `names`.
    package init(_ routes: HubRoutes, names: [String?]) {
        self.routes = routes
        self.names = names
    }

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
