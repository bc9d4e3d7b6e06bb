import Basics
import Delivery
import Dispatch
import HubREST
import Observability

/// The loop's hubs: how they are opened, share a rate with the fleet, change while the worker runs, and are closed.
///
/// A hub whose settings are what they were goes on as it is. One that is new, or changed, gets a port of its own. One that is gone, or
/// was changed, lets the calls in flight finish. Its other requests are routed again, and end when there is no hub for them. So other hubs
/// are there from one turn to the next, and no request is lost by it.
extension WorkerLoop {
    /// Opens a port, in the place of one that is closed if there is one.
    ///
    /// - Returns: Its number.
    @discardableResult
    func openPort(_ hub: WorkerConfiguration.Hub) throws -> Int {
        let port = try HubPort(
            ports.nextNumber, settings: hub, of: configuration, poller: sources.poller, now: clock.monotonic,
            metrics: metrics.ofHub(hub.name, isRateLimited: hub.rateLimit > 0), health: health.newHub(),
            generator: &ports.generator)
        ports.add(port)
        scheduler.buffers.addHub(port.number)
        return port.number
    }

    /// Takes what the other workers have announced, and announces what they are to know.
    func handleFleet() { ports.forEachMarked { $0.handleFleet(configuration.topics.shares, now: now, log: log) } }

    /// Takes in how many partitions of requests this worker has now, and how many there are, as far as that is known.
    func noteOwnership(_ requestCount: Int, of all: Int?) {
        for port in ports.markAll() { port.limits.rate?.owns(requestCount, now: now) }
        limited.owns(requestCount, of: all)
        limitsChanged()
    }

    /// Lends this worker's share until it has partitions again. Others may be at work still, or again before it is, because a transaction
    /// that a killed worker left open holds its positions back.
    func lendShares() { for port in ports.markAll() { port.limits.rate?.rests(now: now) } }

    /// Takes in what the settings say of hubs now.
    func reload(_ new: WorkerConfiguration) {
        var numbers: [Int] = []
        var opened: [Int] = []
        do {
            for hub in new.hubs {
                if let port = ports.port(with: hub) {
                    numbers.append(port.number)
                } else {
                    numbers.append(try openPort(hub))
                    opened.append(numbers[numbers.count - 1])
                }
            }
        } catch {
            for number in opened { ports.close(ports[number]) }
            log.error(
                .configurationLoaded, "the hubs of the new settings cannot be used; those from before stay",
                [.reason: .string("\(error)")])
            return
        }
        let retired = ports.filter { !$0.isRetired && !numbers.contains($0.number) }
        configuration.takeHubs(of: new)
        ports.routes = configuration.routes(numbers: numbers, since: now)
        facts.unrouted.removeAll { ports.routes.router.route(named: $0) != nil }
        for number in opened {
            ports[number].joinFleet(configuration, mail: ports.mail, wakeUp: control.wakeUp)
            ports[number].limits.rate?.owns(partitions.count { $0.role.hasRequests }, now: now)
        }
        ports.markAll()
        for port in retired { retire(port) }
        limitsChanged()
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
        // Whoever has the hub now gets the share at once, and to take leave can take a moment.
        if let fleet = port.leaveFleet(now: now) { DispatchQueue.global().async { fleet.close(within: .seconds(1)) } }
    }

    /// Routes everything that is not in flight by the new names.
    private func rerouteWaiting() {
        let active = flights.flights.filter { $0.isActive && $0.wait.deadLetter == nil }.sorted {
            $0.place.receivedAt < $1.place.receivedAt
        }
        for port in ports where port.isRetired {
            scheduler.buffers.displace(hub: port.number)
            port.ready.removeAll { _ in false }
            port.polls.queue.removeAll { _ in true }
        }
        for flight in active where flight.isActive {
            if let poll = flight.wait.poll {
                if poll.phase == .ready, ports[flight.route.port].isRetired { startPoll(flight, poll: poll) }
            } else if flight.work.calls.isEmpty {
                // It was read, and waits for its time or for room.
                findHub(of: flight)
            } else if ports[flight.route.port].isRetired, !flight.work.hasCallInFlight {
                reroute(flight)
            }
        }
    }

    /// Leaves this worker's shares to the others, and closes everything.
    func closePorts() {
        let fleets = ports.compactMap { $0.leaveFleet(now: now) }
        for fleet in fleets { fleet.close(within: .seconds(1)) }
        for port in ports { port.close(keepsMetrics: false) }
    }
}
