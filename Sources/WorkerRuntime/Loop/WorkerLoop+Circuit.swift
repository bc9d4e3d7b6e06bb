import Delivery
import PushModel

/// The signs that calls give of the hub as a whole: when it is out, they stop and wait for it.
extension WorkerLoop {
    /// Notes that a call ended.
    ///
    /// - Parameters:
    ///   - flight: The call's request.
    ///   - index: The call.
    ///   - isHubFailure: Whether it ended as it does when the hub is out.
    ///   - isLost: Whether it ended as it does when there is too much at once.
    ///   - port: The hub that it was made to.
    func noteEnd(of flight: Flight, call index: Int, isHubFailure: Bool, isLost: Bool, at port: HubPort) {
        port.limits.noteEnd(startedAt: flight.calls[index].startedAt, now: now, isLost: isLost)
        guard let call = flight.calls[index].circuitCall else { return }
        flight.calls[index].circuitCall = nil
        let before = port.limits.circuit.state
        if isHubFailure {
            port.limits.circuit.noteFailure(call, isOwnFault: flight.calls[index].failsAlone, now: now, using: &generator)
        } else {
            port.limits.circuit.succeeded(call, now: now)
        }
        port.reportCircuit(before, to: log)
    }

    /// Notes that the flight's calls are not waited for any more.
    func abandonCircuitCalls(of flight: Flight) {
        for index in flight.calls.indices {
            guard let call = flight.calls[index].circuitCall else { continue }
            flight.calls[index].circuitCall = nil
            let port = ports[flight.port]
            let before = port.limits.circuit.state
            port.limits.circuit.abandoned(call, now: now, using: &generator)
            port.reportCircuit(before, to: log)
        }
    }
}

extension Verdict {
    /// True if the hub itself is at fault, or the key: then the next request would fare no better.
    func isHubFailure(status: Int) -> Bool { outcome == .auth || status == 404 || status >= 500 }
}
