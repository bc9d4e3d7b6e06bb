import Delivery

extension Flight {
    /// The way of a request's calls: the hub that they go to, and the queues that they wait in.
    struct Route {
        /// The lane whose queue its calls wait in.
        private(set) var lane = Lane.normal
        /// In whose queue of the lane they wait: a tenant's own, or a shared one.
        private(set) var tenant = TenantID.none
        /// The ordering key whose turn it is. The next request of the key waits for this one's end.
        private(set) var key: RequestIdentity?
        /// The hub that its calls go to, by its number among the loop's.
        var port = 0
        /// The spread to whose hubs its parts go, by number, when it goes to several.
        var spread: Int?
        /// The reason that it goes to no hub, if it does not.
        var fault: HubRouter.Fault?

        init(lane: Lane = .normal) { self.lane = lane }

        /// Leads to a hub, to several, or to none. The pool must hear of it (`FlightPool.moved`).
        mutating func lead(to destination: HubPorts.Destination) {
            port = destination.port
            spread = destination.spread
            fault = destination.fault
        }

        /// Leads to a hub. The pool must hear of it.
        mutating func lead(to port: HubPort) { self.port = port.number }

        /// Notes the queue that the calls wait in.
        mutating func join(_ tenant: TenantID) { self.tenant = tenant }

        /// Joins the tenant's queue at a hub. A request whose calls are planned is divided among hubs no more.
        ///
        /// - Returns: Whether its calls can be made there. False if it has no hub, or several.
        mutating func joinQueue(of port: HubPort) -> Bool {
            tenant = port.ready.fresh(in: lane).queue(of: tenant)
            defer { spread = nil }
            return fault == nil && spread == nil
        }

        /// Notes that its key's turn is its own.
        mutating func takeTurn(of key: RequestIdentity?) { self.key = key }

        /// Releases its key's turn: its record waits for it now.
        mutating func releaseTurn() { key = nil }
    }
}
