import Delivery
import Observability
import PushModel

/// What calls tell about the hub as a whole: when it is out, they stop and wait for it.
extension WorkerLoop {
    /// Notes that a call ended, and whether it ended as it does when the hub is out.
    func noteCircuit(_ flight: Flight, _ index: Int, isHubFailure: Bool) {
        guard let call = flight.calls[index].circuitCall else { return }
        flight.calls[index].circuitCall = nil
        let before = circuit.state
        if isHubFailure {
            circuit.failed(call, now: now, using: &generator)
        } else {
            circuit.succeeded(call, now: now)
        }
        reportCircuit(before)
    }

    /// Notes that nobody waits for the flight's calls any more.
    func abandonCircuitCalls(of flight: Flight) {
        for index in flight.calls.indices {
            guard let call = flight.calls[index].circuitCall else { continue }
            flight.calls[index].circuitCall = nil
            let before = circuit.state
            circuit.abandoned(call, now: now, using: &generator)
            reportCircuit(before)
        }
    }

    private func reportCircuit(_ before: CircuitBreaker.State) {
        switch (before, circuit.state) {
        case (.closed, .open):
            log.error(
                .circuitChanged, "the hub is out; calls wait, and a probe goes now and then",
                [
                    .hub: .string(configuration.hubName), .state: "open",
                    .reason: .string(circuit.reason?.rawValue ?? ""),
                ])
        case (.halfOpen, .closed):
            log.info(
                .circuitChanged, "the hub answers again; calls go on", [.hub: .string(configuration.hubName), .state: "closed"])
        default: break
        }
    }
}

extension CircuitBreaker.State {
    /// The state as its metric has it.
    var code: Int {
        switch self {
        case .closed: 0
        case .halfOpen: 1
        case .open: 2
        }
    }
}

extension Verdict {
    /// Whether the hub itself is at fault, or the key: then the next request would fare no better.
    func isHubFailure(status: Int) -> Bool { outcome == .auth || status == 404 || status >= 500 }
}
