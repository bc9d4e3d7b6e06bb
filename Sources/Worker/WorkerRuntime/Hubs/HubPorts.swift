import Basics
import CurlHTTP
import Delivery
import HubREST
import PushModel

/// The loop's ports to its hubs, each at the place of its number, and the destinations of the names of hubs.
///
/// The place of a closed port is used again, so that numbers stay few. While one port alone is open, nothing has to be looked up.
///
/// A turn looks at the ports that are marked. Whoever asks for one by its number may change it, which marks it, and so do its moment, and
/// news of its fleet. All are looked at when the one thing changes that they share, and now and then, for what no moment is known of.
///
/// Belongs to the loop's thread. A class, so that a call with it copies nothing: a value would be copied for each request, with a count of
/// references for each array in it.
final class HubPorts: Sequence {
    private var ports: [HubPort] = []
    /// The ports that this turn looks at, by number.
    private var marked: [Int] = []
    /// The moments that ports wait for, by number.
    private var moments: [MonotonicTime] = []
    /// Not later than the first of them.
    private var firstMoment = MonotonicTime.never
    /// The moment when all are looked at.
    private var nextRound = MonotonicTime.past
    private var wasCommitOverdue = false
    private let sums = HubSums()
    /// The hubs of whose fleets there is news.
    let mail = HubMail()
    /// Draws the times of retries and probes.
    var generator = QuickRandom()
    /// The only open port, or nil while there are several.
    private(set) var only: HubPort?
    /// The hubs that have as much buffered of a lane as may be, by lane.
    var fullOfBuffered = Lane.allCases.map { _ in FullHubs() }
    /// The hubs that have as many calls from delay lanes as may wait, or no memory for them.
    var fullOfDelayed = FullHubs()
    /// The destinations of the names of hubs. The numbers are those of the ports.
    var routes: HubRoutes

    /// No ports yet.
    init(routes: HubRoutes) { self.routes = routes }

    /// The ports, those that are closed included.
    var count: Int { ports.count }

    /// The port of a number, which the turn looks at.
    subscript(number: Int) -> HubPort {
        mark(number)
        return ports[number]
    }

    /// The port of a number, for a look that changes nothing. It is not marked.
    func peek(at number: Int) -> HubPort { ports[number] }

    /// Iterates over the ports alone, without a copy of the routes. It marks none.
    func makeIterator() -> IndexingIterator<[HubPort]> { ports.makeIterator() }
}

// Opening and closing.
extension HubPorts {
    /// The number of the port that is opened next: the place of a closed one, if there is one.
    var nextNumber: Int { ports.firstIndex(where: \.isClosed) ?? ports.count }

    /// Adds a port, whose number is `nextNumber`.
    func add(_ port: HubPort) {
        if port.number < ports.count {
            ports[port.number].leave(sums)
            ports[port.number] = port
        } else {
            ports.append(port)
            moments.append(.never)
        }
        port.join(sums)
        mark(port.number)
        noteOnly()
    }

    /// Closes a port. Its metrics are kept if another open port has its name.
    func close(_ port: HubPort) {
        port.isRetired = true
        port.close(keepsMetrics: ports.contains { $0 !== port && !$0.isClosed && $0.name == port.name })
        mark(port.number)
        noteOnly()
    }

    /// Closes the ports at which nothing is in flight any more.
    func closeRetired() {
        for port in ports where port.isRetired && !port.isClosed && port.limits.inFlight == 0 { close(port) }
    }

    private func noteOnly() {
        let open = ports.filter { !$0.isClosed }
        only = open.count == 1 ? open[0] : nil
    }
}

// Routes.
extension HubPorts {
    /// The destination of a request, of which the tenant is known.
    func route(of request: borrowing PushRequest, tenant: TenantID) -> Flight.Destination {
        do throws(HubRouter.Fault) {
            switch try routes.route(of: request, tenant: tenant) {
            case .hub(let number): return Flight.Destination(port: number)
            case .parts(let spread): return Flight.Destination(port: routes.spreads[spread].numbers[0], spread: spread)
            }
        } catch {
            return Flight.Destination(port: ports.firstIndex { !$0.isRetired } ?? 0, fault: error)
        }
    }

    /// The fault of a request that has no hub.
    func fault(_ fault: HubRouter.Fault) -> RequestFault {
        guard fault == .unknown else {
            return RequestFault(.unknownHub, at: "/hub", message: "The request names no hub, and this worker has no default.")
        }
        let names = ports.filter { !$0.isRetired }.map(\.name) + routes.spreads.map(\.name)
        guard names.count > 1 else {
            return RequestFault(.unknownHub, at: "/hub", message: "This worker knows the hub \(names.first ?? "") only.")
        }
        let shown = names.prefix(10).joined(separator: ", ") + (names.count > 10 ? ", …" : "")
        return RequestFault(.unknownHub, at: "/hub", message: "This worker knows the hubs \(shown) only.")
    }

    /// The name of the hub that a request without a route should go to: its own word, or `unnamed` where settings would have to say it.
    func missingHub(of flight: Flight) -> String {
        flight.request.hub.map { flight.request.document.string($0) } ?? UnroutedWaits.unnamed
    }

    /// The member of a request's result that names the hub it went to, the spread whose hubs its parts go to, or else the hub it asks for.
    func hubMember(of flight: Flight) -> ByteWriter {
        if flight.route.fault == nil && flight.route.spread == nil { return ports[flight.route.port].resultMember }
        if let spread = flight.route.spread { return ResultWriter.hub(routes.spreads[spread].name) }
        return flight.request.hub.map { ResultWriter.hub(flight.request.document.string($0)) } ?? ByteWriter()
    }

    /// The port that counts a large request whose parts went to the hub, or the spread, of that name: of a spread, the first hub's.
    func countingPort(named name: String?) -> HubPort {
        switch name.flatMap({ routes.router.route(named: $0) }) {
        case .hub(let number): return ports[number]
        case .spread(let number): return ports[routes.spreads[number].numbers[0]]
        case nil: return ports.first { !$0.isRetired } ?? ports[0]
        }
    }

    /// The port of the hub of that name, or nil when there is none.
    func port(named name: String) -> HubPort? {
        if case .hub(let number) = routes.router.route(named: name), !ports[number].isRetired, ports[number].name == name {
            return self[number]
        }
        return ports.first { !$0.isRetired && $0.name == name }.map { self[$0.number] }
    }

    /// The port of a hub whose settings are exactly these, or nil when there is none.
    func port(with settings: WorkerConfiguration.Hub) -> HubPort? { ports.first { !$0.isRetired && $0.settings == settings } }
}

// The room of hubs.
extension HubPorts {
    /// True if the worker can take requests: for a hub that takes its key, or is away. Until then others in the group have them.
    var hasUseful: Bool { ports.contains { !$0.isRetired && $0.standing.hold?.allowsJoining ?? true } }

    /// True if requests of several hubs come together, so that those of one must not keep those of another from being read.
    var areSeveral: Bool { only == nil }

    /// True if a hub may have another request in work beside its own. Among several, each has its share of the memory.
    ///
    /// - Parameters:
    ///   - port: The hub.
    ///   - flight: The request, if it is counted already.
    ///   - byteCounts: The memory that requests in work take, by the hubs' numbers.
    ///   - memory: The memory that there is.
    /// - Returns: Whether it has room.
    func hasShare(_ port: HubPort, for flight: Flight? = nil, among byteCounts: [Int], of memory: MemoryBudget) -> Bool {
        guard areSeveral else { return true }
        let shares = memory.hubs(ports.count)
        return shares.hasRoom(for: port.number, among: byteCounts, besides: flight?.size.counted.byteCount ?? 0)
    }

    /// The calls from delay lanes that wait for their turn.
    var delayedReadyCount: Int { sums.delayedReadyCount }

    /// The calls that wait for a timer.
    var waitingForRetry: Int { sums.waitingForRetry }
}

// Turns of the loop.
extension HubPorts {
    /// The longest time between two looks at a port: 50 ms in nanoseconds. By then a slow call, or a lane's use of places, may count for
    /// something else than before, which no moment tells. It causes no wake-up.
    private static let roundTime: Int64 = 50_000_000

    /// Lets the turn look at the port of a number.
    private func mark(_ number: Int) {
        let port = ports[number]
        guard !port.isMarked else { return }
        port.isMarked = true
        marked.append(number)
    }

    /// Lets the turn look at all, and returns them.
    @discardableResult
    func markAll() -> [HubPort] {
        for number in ports.indices { mark(number) }
        return ports
    }

    /// Lets the turn look at those of whose fleets there is news.
    func markMailed() { for number in mail.take() { mark(number) } }

    /// Lets the turn look at those whose moment has come.
    func markDue(_ now: MonotonicTime) {
        if now >= nextRound {
            nextRound = now + Self.roundTime
            markAll()
        }
        guard firstMoment <= now else { return }
        firstMoment = .never
        for number in moments.indices {
            if moments[number] <= now { mark(number) } else { firstMoment = Swift.min(firstMoment, moments[number]) }
        }
    }

    /// Lets those whose moment has come, and the others that the turn looks at, do what is due on their connections.
    func handleTimers(_ now: MonotonicTime) {
        markDue(now)
        forEachMarked { $0.connections.handleTimers(now) }
    }

    /// Calls `body` with each port that the turn looks at, those included that `body` marks.
    func forEachMarked(_ body: (HubPort) -> Void) {
        var index = 0
        while index < marked.count {
            body(ports[marked[index]])
            index += 1
        }
    }

    /// The moment when the loop must turn for the sake of hubs, as the end of the last turn has left them. It may lie in the past.
    var wakeTime: MonotonicTime { marked.isEmpty ? firstMoment : .past }

    /// Takes down at the end of a turn what the turn has left. No call is begun while a commit is overdue.
    func endTurn(isCommitOverdue: Bool, now: MonotonicTime) {
        if isCommitOverdue != wasCommitOverdue {
            wasCommitOverdue = isCommitOverdue
            markAll()
        }
        for number in marked {
            let port = ports[number]
            port.isMarked = false
            port.endTurn(isCommitOverdue: isCommitOverdue, now: now)
            moments[number] = port.isClosed ? .never : port.wakeTime(isCommitOverdue: isCommitOverdue, now: now)
            firstMoment = Swift.min(firstMoment, moments[number])
        }
        marked.removeAll(keepingCapacity: true)
    }
}
