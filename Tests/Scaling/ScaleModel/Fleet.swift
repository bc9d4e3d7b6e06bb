/// The workers of one group, and the partitions that they read, second by second.
///
/// A call is a request. Each second a worker makes what its calls in flight allow (Little's law), from the partitions that it owns.
struct Fleet {
    /// Figures that are taken for true of a worker and its group. Page Operations says where they come from.
    struct Figures: Sendable {
        var partitions = 12
        /// `worker.max_in_flight`.
        var inFlight = 64.0
        /// From a new pod to a member that is ready, seconds.
        var start = 20
        /// A rebalance, in which nobody reads, seconds.
        var rebalance = 3
        /// `kafka.session_timeout`, until which a static member that has left is not missed, seconds.
        var session = 10
        /// `worker.window`, offsets. What lies behind is unread.
        var window = 16_384.0
        /// The hub's Retry-After, seconds.
        var retryAfter = 2
        /// The longest wait of an open circuit for its next probe, seconds.
        var probe = 5
        /// `hub.request_timeout`, after which a call that hangs has failed, seconds.
        var timeout = 30
        /// The lowest limit of calls in flight while the hub refuses some.
        var floor = 3.0
    }

    private struct Worker {
        /// The second in which it is to be a member. Its pod is not ready before.
        var joinsAt: Int
        var isMember = false
        var pausedUntil = 0
        /// The second in which it begins its next probe.
        var circuitOpenUntil: Int?
        /// The second in which the probe that hangs has failed.
        var probeFailsAt: Int?
        /// Calls that may be in flight.
        var limit = 64.0
        var seen = WorkerFigures()
    }

    private let figures: Figures
    private var workers: [Worker] = []
    /// Workers that were stopped and are not missed yet.
    private var missedAt: [Int] = []
    private var owners: [Int?]
    private var queues: [RequestQueue]
    /// Requests of one ordering key, which go out one after the other.
    private var keyed = RequestQueue()
    private var rebalancedAt: Int?
    private var hubAllowance = 0.0
    private var random: SplitMix
    /// Rebalances of the group.
    private(set) var rebalances = 0

    init(_ figures: Figures = Figures(), seed: UInt64) {
        self.figures = figures
        owners = Array(repeating: nil, count: figures.partitions)
        queues = Array(repeating: RequestQueue(), count: figures.partitions)
        random = SplitMix(seed)
    }

    /// Pods that are ready. None is while the circuit of its only hub is open.
    func readyCount(_ hub: HubCondition) -> Int {
        workers.count { $0.isMember && ($0.circuitOpenUntil == nil || hub.hasOther) }
    }

    /// Records behind the positions of the group.
    var lagRecords: Double { queues.reduce(keyed.count) { $0 + $1.count } }

    /// The figures of each member at `/metrics`.
    var metrics: [WorkerFigures?] { workers.map { $0.isMember ? $0.seen : nil } }

    /// Seconds that the oldest request has been waiting, of partitions without an owner, too.
    func oldest(at now: Int) -> Double { queues.reduce(keyed.wait(at: now)) { max($0, $1.wait(at: now)) } }

    /// Starts pods, or stops those with the highest ordinals.
    mutating func scale(to count: Int, at now: Int) {
        while workers.count > count {
            let ordinal = workers.count - 1
            if workers.removeLast().isMember { missedAt.append(now + figures.session) }
            for partition in owners.indices where owners[partition] == ordinal { owners[partition] = nil }
        }
        while workers.count < count { workers.append(Worker(joinsAt: now + figures.start + random.below(5))) }
    }

    /// Publishes what is demanded in this second, unevenly by a seventh between the partitions.
    mutating func publish(_ count: Double, keyed keyedCount: Double, at now: Int) {
        for partition in queues.indices {
            let share = (1 + (Double(partition % 3) - 1) / 7) / Double(queues.count)
            queues[partition].add(count * share, at: now)
        }
        keyed.add(keyedCount, at: now)
    }

    /// Lets a second pass.
    mutating func work(_ hub: HubCondition, at now: Int) {
        changeMembers(at: now)
        let isResting = rebalancedAt != nil
        var offers = workers.indices.map { isResting ? 0 : offer(of: $0, hub, at: now) }
        let demand = offers.reduce(0, +)
        if demand > hub.rate {
            // Workers divide the rate by their partitions.
            let sharing = owners.count { $0.map { offers[$0] > 0 } ?? false }
            for index in offers.indices where offers[index] > 0 {
                let share = hub.rate * Double(owners.count { $0 == index }) / Double(sharing)
                if offers[index] > share { workers[index].seen.rateWait += 1 }
                offers[index] = min(offers[index], share)
            }
        }
        let made = offers.reduce(0, +)
        hubAllowance = min(hubAllowance + hub.ceiling, 2 * hub.ceiling)
        let taken = made > hubAllowance ? hubAllowance / made : 1
        hubAllowance -= made * taken
        for index in offers.indices {
            let served = offers[index] * taken
            if offers[index] > 0 { answer(isRefused: taken < 1, worker: index, at: now) }
            workers[index].seen.inFlight = workers[index].probeFailsAt == nil ? served * hub.callSeconds : 1
            workers[index].seen.limit = workers[index].limit
            serve(served, worker: index)
        }
        if !isResting, !hub.isOut, made > 0 { keyed.remove(1 / hub.callSeconds) }
        for index in workers.indices { look(index, at: now) }
    }

    private mutating func changeMembers(at now: Int) {
        let isMissed = missedAt.contains { $0 <= now }
        missedAt.removeAll { $0 <= now }
        let joining = workers.indices.filter { !workers[$0].isMember && workers[$0].joinsAt <= now }
        for index in joining { workers[index].isMember = true }
        if isMissed || !joining.isEmpty {
            rebalancedAt = now + figures.rebalance
            rebalances += 1
        }
        guard let end = rebalancedAt, end <= now else { return }
        rebalancedAt = nil
        let members = workers.indices.filter { workers[$0].isMember }
        for partition in owners.indices { owners[partition] = members.isEmpty ? nil : members[partition % members.count] }
    }

    /// The calls that a worker would make in this second.
    private mutating func offer(of index: Int, _ hub: HubCondition, at now: Int) -> Double {
        guard workers[index].isMember else { return 0 }
        probe(with: index, isOut: hub.isOut, at: now)
        guard workers[index].circuitOpenUntil == nil else { return 0 }
        guard workers[index].pausedUntil <= now else {
            workers[index].seen.throttled += 1
            return 0
        }
        let waiting = owners.indices.reduce(0.0) { owners[$1] == index ? $0 + queues[$1].count : $0 }
        return min(workers[index].limit / hub.callSeconds, waiting)
    }

    /// Opens the circuit of a hub whose calls hang, tries one call at a time, and closes it when the hub answers. By then the limit is 1.
    private mutating func probe(with index: Int, isOut: Bool, at now: Int) {
        if !isOut {
            workers[index].probeFailsAt = nil
            if let end = workers[index].circuitOpenUntil, end <= now { workers[index].circuitOpenUntil = nil }
        } else if let failure = workers[index].probeFailsAt {
            if failure <= now {
                workers[index].probeFailsAt = nil
                workers[index].circuitOpenUntil = now + figures.probe
            }
        } else if workers[index].circuitOpenUntil ?? now <= now {
            workers[index].limit = 1
            workers[index].circuitOpenUntil = now
            workers[index].probeFailsAt = now + figures.timeout
        }
        workers[index].seen.circuit = workers[index].circuitOpenUntil == nil ? 0 : workers[index].probeFailsAt == nil ? 2 : 1
    }

    /// Adapts the limit of calls in flight: a refusal takes a half, no refusal doubles it.
    private mutating func answer(isRefused: Bool, worker index: Int, at now: Int) {
        workers[index].limit =
            isRefused ? max(figures.floor, workers[index].limit / 2) : min(figures.inFlight, workers[index].limit * 2)
        if isRefused { workers[index].pausedUntil = now + 2 + random.below(figures.retryAfter) }
    }

    /// Takes the calls from the worker's partitions, from each as much as from the others, as far as it has them.
    private mutating func serve(_ calls: Double, worker: Int) {
        var rest = calls
        let owned = owners.indices.filter { owners[$0] == worker }.sorted { queues[$0].count < queues[$1].count }
        for (place, partition) in owned.enumerated() {
            let part = min(queues[partition].count, rest / Double(owned.count - place))
            queues[partition].remove(part)
            rest -= part
        }
    }

    private mutating func look(_ index: Int, at now: Int) {
        var oldest = 0.0
        var lag = 0.0
        for partition in owners.indices where owners[partition] == index {
            oldest = max(oldest, queues[partition].wait(at: now))
            lag = max(lag, queues[partition].wait(at: now, behind: figures.window))
        }
        // The partition of the ordering key is the first.
        if owners[0] == index { oldest = max(oldest, keyed.wait(at: now)) }
        workers[index].seen.oldest = oldest
        workers[index].seen.lag = lag
    }
}

/// The figures of one worker at `/metrics`.
struct WorkerFigures: Sendable {
    var oldest = 0.0
    var lag = 0.0
    var inFlight = 0.0
    var limit = 64.0
    var circuit = 0.0
    /// Seconds so far.
    var throttled = 0.0
    /// Seconds so far.
    var rateWait = 0.0
}

/// SplitMix64: the same numbers from the same seed.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}
