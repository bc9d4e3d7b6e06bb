import Delivery
import Dispatch
import HubREST
import Observability
import PushModel

/// Hubs that change while the worker runs: others are there from one turn to the next, and no request is lost by it.
///
/// A hub whose settings are what they were goes on as it is. One that is new, or changed, gets a port of its own. One that is gone, or
/// was changed, lets the calls in flight finish; what waits for it is routed again, and ends when there is no hub for it.
extension WorkerLoop {
    /// Takes in what the settings say of hubs now.
    func reload(_ new: WorkerConfiguration) {
        var numbers: [Int] = []
        var opened: [Int] = []
        do {
            for hub in new.hubs {
                if let port = ports.first(where: { !$0.isRetired && $0.settings == hub }) {
                    numbers.append(port.number)
                } else {
                    numbers.append(try openPort(hub))
                    opened.append(numbers[numbers.count - 1])
                }
            }
        } catch {
            for number in opened { close(ports[number]) }
            log.error(
                .configurationLoaded, "the hubs of the new settings cannot be used; those from before stay",
                [.reason: .string("\(error)")])
            return
        }
        let retired = ports.filter { !$0.isRetired && !numbers.contains($0.number) }
        configuration.hubs = new.hubs
        configuration.spreads = new.spreads
        configuration.defaultHub = new.defaultHub
        configuration.tenantHubs = new.tenantHubs
        routes = configuration.routes(numbers: numbers, since: now)
        for number in opened {
            joinFleet(of: ports[number])
            ports[number].limits.rate?.owns(partitions.count { $0.role.hasRequests }, now: now)
        }
        for port in retired { retire(port) }
        rerouteWaiting()
        log.info(
            .configurationLoaded, "the hubs of the new settings are used",
            [
                .count: LogValue(new.hubs.count),
                .reason: .string("\(opened.count) new or changed, \(retired.count) gone or changed"),
            ])
    }

    private func retire(_ port: HubPort) {
        port.isRetired = true
        port.health.leave()
        // Whoever has the hub now gets the share at once; to take leave can take a moment.
        if let fleet = leaveFleet(of: port) { DispatchQueue.global().async { fleet.close(within: .seconds(1)) } }
    }

    /// Routes everything that is not in flight by the new names.
    private func rerouteWaiting() {
        let active = flights.flights.filter { $0.isActive && $0.deadLetter == nil }.sorted { $0.receivedAt < $1.receivedAt }
        for port in ports where port.isRetired {
            scheduler.displace(hub: port.number)
            port.ready.removeAll { _, _ in false }
            port.polls.queue.removeAll { _, _ in false }
        }
        for flight in active where flight.isActive {
            if let poll = flight.poll {
                if poll.phase == .ready, ports[flight.port].isRetired { startPoll(flight, poll: poll) }
            } else if flight.calls.isEmpty {
                // It was read, and waits for its time or for room.
                findHub(of: flight)
            } else if ports[flight.port].isRetired, !flight.hasCallInFlight {
                reroute(flight)
            }
        }
    }

    /// Once a second: closes the ports at which nothing is in flight any more.
    func closeRetiredPorts() {
        for port in ports where port.isRetired && !port.isClosed && port.limits.inFlight == 0 { close(port) }
    }

    private func close(_ port: HubPort) {
        port.isRetired = true
        let isNameInUse = ports.contains { $0 !== port && !$0.isClosed && $0.name == port.name }
        port.close(keepsMetrics: isNameInUse)
        noteOnlyPort()
    }
}
