import Delivery
import PushModel

/// The hub that a request goes to.
extension Flight {
    /// The destination of a request.
    struct Destination: Equatable {
        /// The hub's number: of several hubs the first one's. Of none, that of some hub in use.
        var port: Int
        /// The spread to whose hubs its parts go, by number, when it goes to several.
        var spread: Int?
        /// The reason that it goes to no hub, if it does not.
        var fault: HubRouter.Fault?
    }

    /// Notes whose request it is.
    func nameTenant() { tenant = namedTenant }

    /// The tenant that the request names, whichever queue its calls wait in.
    var namedTenant: TenantID {
        guard let name = request.tenant else { return .none }
        return lend(&request) { TenantID($0.document.span(name)) }
    }

    /// Notes the destination of the request. The pool must hear of it (`FlightPool.moved`).
    func setDestination(_ destination: Destination) {
        port = destination.port
        spread = destination.spread
        routeFault = destination.fault
    }
}
