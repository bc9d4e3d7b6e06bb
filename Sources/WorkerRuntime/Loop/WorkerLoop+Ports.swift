import Basics
import CurlHTTP
import Delivery
import HubREST
import Observability
import PushModel

/// The loop's hubs: which one a request goes to, and what they all want of a turn.
extension WorkerLoop {
    /// Opens a port, in the place of one that is closed if there is one.
    ///
    /// - Returns: Its number.
    @discardableResult
    func openPort(_ hub: WorkerConfiguration.Hub) throws -> Int {
        let number = ports.firstIndex(where: \.isClosed) ?? ports.count
        let port = try HubPort(
            number, settings: hub, of: configuration, poller: sources.poller, now: clock.monotonic,
            metrics: metrics.ofHub(hub.name, isRateLimited: hub.rateLimit > 0), health: health.newHub(),
            generator: &generator)
        if number < ports.count { ports[number] = port } else { ports.append(port) }
        noteOnlyPort()
        return number
    }

    /// Ensures that a single hub is treated as such: then nothing has to be looked up.
    func noteOnlyPort() {
        let open = ports.filter { !$0.isClosed }
        onlyPort = open.count == 1 ? open[0] : nil
    }

    /// Decides which hub a request goes to that was read just now. What has no way goes to none: `plan` refuses it.
    func findHub(of flight: Flight) {
        flight.routeFault = nil
        flight.spread = nil
        do throws(HubRouter.Fault) {
            let route = try lend(&flight.request) { (request) throws(HubRouter.Fault) in
                try routes.route(of: request, tenant: flight.tenant)
            }
            switch route {
            case .hub(let number): flight.port = number
            case .parts(let spread):
                flight.port = routes.spreads[spread].numbers[0]
                flight.spread = spread
            }
        } catch {
            flight.port = ports.firstIndex { !$0.isRetired } ?? 0
            flight.routeFault = error
        }
        flights.moved(flight)
    }

    /// The reason that a request has no hub.
    func fault(_ fault: HubRouter.Fault) -> RequestFault {
        switch fault {
        case .unnamed:
            return RequestFault(.unknownHub, at: "/hub", message: "The request names no hub, and this worker has no default.")
        case .unknown:
            let names = ports.lazy.filter { !$0.isRetired }.map(\.name) + routes.spreads.map(\.name)
            guard names.count > 1 else {
                return RequestFault(.unknownHub, at: "/hub", message: "This worker knows the hub \(names.first ?? "") only.")
            }
            let shown = names.prefix(10).joined(separator: ", ") + (names.count > 10 ? ", …" : "")
            return RequestFault(.unknownHub, at: "/hub", message: "This worker knows the hubs \(shown) only.")
        }
    }

    /// The member of a request's result that names the hub it went to, the spread whose hubs its parts go to, or else the hub it asks for.
    func hubMember(of flight: Flight) -> ByteWriter {
        if flight.routeFault == nil && flight.spread == nil { return ports[flight.port].resultMember }
        if let spread = flight.spread { return ResultWriter.hub(routes.spreads[spread].name) }
        return flight.request.hub.map { ResultWriter.hub(flight.request.document.string($0)) } ?? ByteWriter()
    }

    /// The name of the hub, or the spread, that a request went to which was sent in parts.
    private func hubName(of parent: ParentRecord) -> String? {
        parent.hub ?? parent.tenant.flatMap { configuration.tenantHubs[$0] } ?? configuration.defaultHub
    }

    /// The member of its result that names it.
    func hubMember(of parent: ParentRecord) -> ByteWriter { hubName(of: parent).map(ResultWriter.hub) ?? ByteWriter() }

    /// The hub that such a request is counted for: of a spread, the first.
    func port(of parent: ParentRecord) -> HubPort {
        let route = hubName(of: parent).flatMap { routes.router.route(named: $0) }
        switch route {
        case .hub(let number): return ports[number]
        case .spread(let number): return ports[routes.spreads[number].numbers[0]]
        case nil: return ports.first { !$0.isRetired } ?? ports[0]
        }
    }

    /// The hub of that name, or nil when there is none.
    func port(named name: String) -> HubPort? { ports.first { !$0.isRetired && $0.name == name } }

    /// True if the worker can take requests: for a hub that takes its key, or is away. Until then others in the group have them.
    var hasUsefulHub: Bool { ports.contains { !$0.isRetired && $0.standing.hold?.allowsJoining ?? true } }

    /// True if requests of several hubs come together, so that those of one must not keep those of another from being read.
    var hasSeveralHubs: Bool { onlyPort == nil }

    /// True if a lane's records may be read, as far as its own calls go.
    func hasRoom(_ lane: Lane) -> Bool {
        guard let port = onlyPort else { return canDefer || ports.allSatisfy { !isFull($0, for: lane) } }
        return hasTenants(lane) ? port.buffered[lane.rawValue].byteCount < memory.buffered : port.hasRoom(lane)
    }

    /// True if as many records of a lane are buffered for a hub as its part of the memory holds.
    func isFull(_ port: HubPort, for lane: Lane) -> Bool {
        port.buffered[lane.rawValue].byteCount >= memory.buffered / ports.count
    }

    /// True if a hub may have another request in work beside its own. Among several, each has its share of the memory.
    ///
    /// - Parameters:
    ///   - port: The hub.
    ///   - flight: The request, if it is counted already.
    /// - Returns: Whether it has room.
    func hasShare(_ port: HubPort, for flight: Flight? = nil) -> Bool {
        guard hasSeveralHubs else { return true }
        let shares = memory.hubs(ports.count)
        return shares.hasRoom(for: port.number, among: flights.byteCounts, besides: flight?.counted.byteCount ?? 0)
    }

    /// The calls from delay lanes that wait for their turn.
    var delayedReadyCount: Int { onlyPort?.ready.delayedCount ?? ports.reduce(0) { $0 + $1.ready.delayedCount } }

    /// The calls that wait for a timer.
    var waitingForRetry: Int { onlyPort?.waitingForRetry ?? ports.reduce(0) { $0 + $1.waitingForRetry } }

    /// The moment when the loop must turn for the sake of hubs. Not after `now` for at once.
    func wakeTimeOfPorts() -> MonotonicTime {
        var wake = MonotonicTime.never
        for port in ports where !port.isClosed {
            if !isCommitOverdue && port.ready.hasCalls(in: port.openLanes(now: now)) {
                wake = min(wake, port.limits.waitEnd(now: now) ?? now)
                if wake <= now { return now }
            }
            if let timer = port.connections.nextTimer { wake = min(wake, timer) }
            if port.isFleetOpen, let due = port.limits.rate?.nextDue { wake = min(wake, due) }
            if let moment = nextPollMoment(port) { wake = min(wake, moment) }
        }
        return wake
    }

    /// Takes down at the end of a turn what the turn has left.
    func endTurnOfPorts() {
        for port in ports {
            port.limits.noteWaiting(!port.ready.isEmpty && !isCommitOverdue, now: now)
            port.metrics.turnEnded(
                inFlight: port.limits.inFlight, waiting: port.waitingForRetry,
                throttled: port.limits.pause.totalNanoseconds)
        }
    }
}
