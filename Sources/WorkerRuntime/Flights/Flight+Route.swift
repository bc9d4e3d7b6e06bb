import Delivery
import PushModel

/// The hub that a request goes to.
extension Flight {
    /// Notes whose request it is.
    func nameTenant() {
        guard let name = request.tenant else {
            tenant = .none
            return
        }
        tenant = lend(&request) { TenantID($0.document.span(name)) }
    }

    /// Finds the hub that the request goes to, of which the tenant is named. A request without a route goes to none, and planning refuses
    /// it. The pool must hear of it (`FlightPool.moved`).
    @inline(__always)
    func findHub(among ports: borrowing HubPorts) {
        let destination = lend(&request) { ports.route(of: $0, tenant: tenant) }
        port = destination.port
        spread = destination.spread
        routeFault = destination.fault
    }
}
