import Delivery
import HubREST
import PushModel

// Goes to +Calls and +Delaying.
extension WorkerLoop {
    // hc

    /// Lets a request whose hub is gone wait for the one that it goes to now. With a call in flight, it does so when that has
    /// ended.
    func reroute(_ flight: Flight) {
        guard flight.poll == nil, !flight.calls.isEmpty, !flight.hasCallInFlight else { return }
        let waiting = flight.calls.count { $0.phase == .waiting }
        ports[flight.port].waitingForRetry -= waiting
        nameTenant(of: flight)
        findHub(of: flight)
        ports[flight.port].waitingForRetry += waiting
        flight.tenant = ports[flight.port].ready.fresh(in: flight.lane).queue(of: flight.tenant)
        guard flight.routeFault == nil, flight.spread == nil else {
            flight.spread = nil
            if flight.routeFault != nil, holdUnrouted(flight) { return }
            endUnrouted(flight)
            return
        }
        for index in flight.calls.indices where flight.calls[index].phase == .ready { queue(flight, call: index) }
    }

    // hh

    /// The time that a request that has no hub waits before it is routed again: milliseconds.
    static let unroutedStay = DelayLanes.lengths[0] + DelayLanes.margin

    /// Lets a planned request that has no hub wait while the settings are new, and ends it afterwards.
    ///
    /// A name that is missing from settings, or mistyped there, is seen and mended within seconds of a start or a reload, and requests that
    /// name a hub may be there before the workers know it. Later the mistake is more likely the publisher's, who should hear of it at once.
    func startUnrouted(_ flight: Flight) {
        if let delayed = flight.delayed, !flight.calls.isEmpty {
            guard restore(flight, from: delayed) else { return }
        }
        if holdUnrouted(flight) { return }
        guard flight.delayed?.report.attemptCount ?? 0 > 0 || mayHaveBeenBegun(flight), !flight.calls.isEmpty else {
            if let fault = flight.routeFault { flight.report.faults.append(ports.fault(fault)) }
            reject(flight)
            return
        }
        endUnrouted(flight)
    }

    // hc

    /// Ends the calls that wait of a request that has no hub. What an earlier attempt or worker did stays in the result.
    private func endUnrouted(_ flight: Flight) {
        for index in flight.calls.indices.reversed() where flight.isActive && flight.calls[index].phase.isWaiting {
            end(flight, call: index, as: .permanent, code: .unknownHub, detail: "the settings have no hub for the request")
        }
    }

    // hh

    /// - Returns: Whether the request is in a delay lane, or held, to be routed again.
    private func holdUnrouted(_ flight: Flight) -> Bool {
        let due = wallClock.adding(milliseconds: Self.unroutedStay)
        guard ports.routes.isSettling(now), !flight.request.options.dryRun, flight.cancellation == nil,
            flight.request.expiresAt.map({ $0 > due }) ?? true
        else { return false }
        for index in flight.calls.indices where flight.calls[index].phase.isWaiting {
            flight.calls[index].notBefore = max(flight.calls[index].notBefore ?? due, due)
        }
        return delay(flight, until: due)
    }
}
