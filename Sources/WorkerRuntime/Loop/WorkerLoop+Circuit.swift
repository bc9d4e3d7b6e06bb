import Delivery
import Observability
import PushModel

/// What calls tell about the hub as a whole: when it is out, they stop and wait for it.
extension WorkerLoop {
    /// Notes that a call ended.
    ///
    /// - Parameters:
    ///   - flight: The call's request.
    ///   - index: The call.
    ///   - isHubFailure: Whether it ended as it does when the hub is out.
    ///   - isLost: Whether it ended as it does when there is too much at once.
    ///   - port: The hub that it was made to.
    func noteEnd(of flight: Flight, _ index: Int, isHubFailure: Bool, isLost: Bool, _ port: HubPort) {
        port.limits.noteEnd(startedAt: flight.calls[index].startedAt, now: now, isLost: isLost)
        guard let call = flight.calls[index].circuitCall else { return }
        flight.calls[index].circuitCall = nil
        let before = port.limits.circuit.state
        if isHubFailure {
            port.limits.circuit.failed(call, isOwnFault: flight.calls[index].failsAlone, now: now, using: &generator)
        } else {
            port.limits.circuit.succeeded(call, now: now)
        }
        reportCircuit(before, port)
    }

    /// Notes that the flight's calls are not waited for any more.
    func abandonCircuitCalls(of flight: Flight) {
        for index in flight.calls.indices {
            guard let call = flight.calls[index].circuitCall else { continue }
            flight.calls[index].circuitCall = nil
            let port = ports[flight.port]
            let before = port.limits.circuit.state
            port.limits.circuit.abandoned(call, now: now, using: &generator)
            reportCircuit(before, port)
        }
    }

    private func reportCircuit(_ before: CircuitBreaker.State, _ port: HubPort) {
        switch (before, port.limits.circuit.state) {
        case (.closed, .open):
            log.error(
                .circuitChanged, "circuit opened: hub unavailable; probing every 1 to 5 s",
                [
                    .hub: .string(port.name), .state: "open",
                    .reason: .string(port.limits.circuit.reason?.rawValue ?? ""),
                ])
        case (.halfOpen, .closed):
            log.info(
                .circuitChanged, "circuit closed: hub available again; calls go on", [.hub: .string(port.name), .state: "closed"])
        default: break
        }
    }
}

extension Verdict {
    /// Whether the hub itself is at fault, or the key: then the next request would fare no better.
    func isHubFailure(status: Int) -> Bool { outcome == .auth || status == 404 || status >= 500 }
}
