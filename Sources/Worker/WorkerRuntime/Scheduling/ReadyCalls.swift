import Delivery

/// Calls that wait to be sent: of each lane those of new requests and those that come from a delay lane, each in queues by tenant.
/// The lanes have turns by weight, the two kinds of a lane take turns, and the tenants of a kind have turns by weight.
struct ReadyCalls {
    /// The number of calls from delay lanes that may wait for their turn at a hub. More would only lie in memory.
    static let mostDelayed = 1024

    private struct LaneQueue {
        var fresh: TenantQueues
        var delayed: TenantQueues
        /// True if the delayed calls, and not the fresh ones, had the last turn.
        var wasDelayed = false

        var isEmpty: Bool { fresh.isEmpty && delayed.isEmpty }

        mutating func removeNext() -> WaitingCall? {
            wasDelayed = fresh.isEmpty || !wasDelayed && !delayed.isEmpty
            return wasDelayed ? delayed.removeNext() : fresh.removeNext()
        }
    }

    private var queues: [LaneQueue]
    private var turns: WeightedTurns
    /// The lanes that have calls, as bits.
    private var waiting: UInt64 = 0
    /// All calls.
    private(set) var count = 0
    /// Those that come from a delay lane.
    private(set) var delayedCount = 0

    init(_ weights: LaneWeights, tenants: TenantWeights = TenantWeights()) {
        queues = Lane.allCases.map { _ in
            LaneQueue(fresh: TenantQueues(weights: tenants), delayed: TenantQueues(weights: tenants))
        }
        turns = WeightedTurns(weights: weights.all)
    }

    var isEmpty: Bool { count == 0 }

    /// The calls of one lane's new requests.
    func freshCount(of lane: Lane) -> Int { queues[lane.rawValue].fresh.count }

    /// The queues of one lane's new requests.
    func fresh(in lane: Lane) -> TenantQueues { queues[lane.rawValue].fresh }

    /// Lets `removeServed` give a tenant when one of its new requests' calls has had its turn, or at once if none waits.
    mutating func watch(_ tenant: TenantID, in lane: Lane) { queues[lane.rawValue].fresh.watch(tenant) }

    /// Takes out the watched tenant of a lane that was served first of those that were.
    mutating func removeServed(in lane: Lane) -> TenantID? { queues[lane.rawValue].fresh.removeServed() }

    mutating func append(
        _ call: WaitingCall, to lane: Lane, tenant: TenantID = .none, isDelayed: Bool = false
    ) {
        if isDelayed {
            let tenant = queues[lane.rawValue].delayed.queue(of: tenant)
            queues[lane.rawValue].delayed.append(call, of: tenant)
            delayedCount += 1
        } else {
            queues[lane.rawValue].fresh.append(call, of: tenant)
        }
        waiting |= 1 << UInt64(lane.rawValue)
        count += 1
    }

    /// True if one of `lanes`, given as bits, has calls.
    func hasCalls(in lanes: UInt64) -> Bool { waiting & lanes != 0 }

    /// Takes out the call whose turn it is among the lanes given as bits.
    mutating func removeNext(in lanes: UInt64) -> WaitingCall? {
        guard let lane = turns.next(among: waiting & lanes), let next = queues[lane].removeNext() else { return nil }
        if queues[lane].wasDelayed { delayedCount -= 1 }
        if queues[lane].isEmpty { waiting &= ~(1 << UInt64(lane)) }
        count -= 1
        return next
    }

    /// Takes out the calls that are not wanted any more. The others keep their order.
    mutating func removeAll(unless isWanted: (WaitingCall) -> Bool) {
        for lane in queues.indices {
            queues[lane].fresh.removeAll(unless: isWanted)
            queues[lane].delayed.removeAll(unless: isWanted)
            if queues[lane].isEmpty { waiting &= ~(1 << UInt64(lane)) }
        }
        delayedCount = queues.reduce(0) { $0 + $1.delayed.count }
        count = queues.reduce(delayedCount) { $0 + $1.fresh.count }
    }
}
