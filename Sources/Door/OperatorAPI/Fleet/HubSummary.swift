import Groups
import PushModel
import Results

/// One hub as all workers see it: the worst of their circuits, and the sums of their figures.
struct HubSummary: Sendable {
    package let name: String
    private var total = WorkerPage.Hub()
    private var rate: Double?
    private var workers = 0

    private init(_ name: String) {
        self.name = name
        total.isRetired = true
    }

    /// The hubs of some workers, by name.
    static func all(of pages: [WorkerPage]) -> [HubSummary] {
        var found: [String: HubSummary] = [:]
        for page in pages {
            var names: Set<String> = []
            for hub in page.loops.flatMap(\.hubs) {
                let name = page.name(of: hub)
                found[name, default: HubSummary(name)].add(hub, isFirst: names.insert(name).inserted)
            }
        }
        return found.values.sorted { $0.name < $1.name }
    }

    /// True if nothing speaks against it.
    var isGood: Bool { total.isGood && total.throttledUntil == nil }

    /// Adds what one loop says, the first of its worker or a further one.
    private mutating func add(_ hub: WorkerPage.Hub, isFirst: Bool) {
        if isFirst { workers += 1 }
        addCircuit(of: hub)
        total.isRetired = total.isRetired && hub.isRetired
        total.problem = total.problem ?? hub.problem
        total.limit = Self.sum(total.limit, and: hub.limit)
        total.inFlight = Self.sum(total.inFlight, and: hub.inFlight)
        total.waitingForTurn = Self.sum(total.waitingForTurn, and: hub.waitingForTurn)
        total.waitingForTimer = Self.sum(total.waitingForTimer, and: hub.waitingForTimer)
        total.throttledUntil = [total.throttledUntil, hub.throttledUntil].compactMap { $0 }.max()
        if let share = hub.ratePerSecond.flatMap({ Double($0) }), share.isFinite { rate = (rate ?? 0) + max(0, share) }
    }

    private mutating func addCircuit(of hub: WorkerPage.Hub) {
        if hub.gravity > total.gravity {
            (total.circuit, total.circuitReason, total.circuitChange) = (hub.circuit, hub.circuitReason, hub.circuitChange)
        } else if hub.gravity == total.gravity, hub.gravity > 0 {
            total.circuitReason = total.circuitReason ?? hub.circuitReason
            total.circuitChange = [total.circuitChange, hub.circuitChange].compactMap { $0 }.min()
        }
    }

    private static func sum(_ one: Int?, and other: Int?) -> Int { max(0, one ?? 0).addingSaturated(max(0, other ?? 0)) }

    /// As JSON, with its calls a second if they are known.
    func json(callsPerSecond: Double?) -> [UInt8] {
        var json = JSONObject([
            "hub": name, "circuit": total.gravity == 0 ? "closed" : total.circuit,
            "circuit_reason": total.circuitReason.map(FleetEvent.cut), "circuit_change": total.circuitChange?.text,
            "trouble": total.problem.map(FleetEvent.cut), "in_flight": total.inFlight, "limit": total.limit,
            "waiting_for_turn": total.waitingForTurn, "waiting_for_timer": total.waitingForTimer,
        ])
        if let callsPerSecond { json.add("calls_per_second", tenths: callsPerSecond) }
        if let rate { json.add("rate_per_second", tenths: rate) }
        json.add(["throttled_until": total.throttledUntil?.text, "workers": workers, "retired": total.isRetired ? true : nil])
        return json.bytes
    }
}

extension WorkerPage.Hub {
    /// True if its circuit is closed and it counts as working.
    var isGood: Bool { gravity == 0 && problem == nil }
}
