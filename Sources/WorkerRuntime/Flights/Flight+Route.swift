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

    /// Notes the destination of the request. The pool must hear of it (`FlightPool.moved`).
    func setDestination(_ destination: HubPorts.Destination) {
        port = destination.port
        spread = destination.spread
        routeFault = destination.fault
    }
}
