import Delivery
import PushModel

/// The hub that a request goes to.
extension Flight {
    /// Notes whose request it is.
    func nameTenant() { tenant = namedTenant }

    /// The tenant that the request names, whichever queue its calls wait in.
    var namedTenant: TenantID {
        guard let name = request.tenant else { return .none }
        return lend(&request) { TenantID($0.document.span(name)) }
    }

    /// Notes the destination of the request. The pool must hear of it (`FlightPool.moved`).
    func setDestination(_ destination: HubPorts.Destination) {
        port = destination.port
        spread = destination.spread
        routeFault = destination.fault
    }
}
