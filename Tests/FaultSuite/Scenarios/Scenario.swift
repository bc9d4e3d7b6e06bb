import FaultOracle

/// One way to make things go wrong, and what must be true afterwards.
struct Scenario: Sendable {
    /// The brokers that it needs.
    enum BrokerNeed: Sendable, Equatable {
        /// One that other scenarios use as well: it is not harmed.
        case shared
        /// Brokers of its own.
        case own(nodes: Int = 1, settings: [String] = [])
    }

    /// Its name on the command line.
    let name: String
    /// What must hold, in one line.
    let claim: String
    /// Whether it belongs to the fast selection.
    var isFast = false
    /// The brokers.
    var broker = BrokerNeed.shared
    /// Whether workers reach the broker through the proxy.
    var isBehindProxy = false
    /// Workers that run at the beginning.
    var workers = 3
    /// Workers that exist, some of which a scenario starts by itself; at least `workers`.
    var spareWorkers = 0
    /// The workload, before scaling.
    var workload = Workload(6_000, rate: 400)
    /// Partitions of each topic.
    var partitions = 6
    /// Settings of the workers beyond the suite's own, by variable.
    var settings: [String: String] = [:]
    /// More options of the emulator.
    var hubOptions: [String] = []
    /// How long the whole may take, before scaling.
    var deadline = Duration.seconds(120)
    /// Invariants with a limit other than the oracle's; nil for figures that are told and not judged.
    var limits: [Invariant: Double?] = [:]
    /// Invariants of which at least one must be violated: the oracle's own test.
    var mustFail: Set<Invariant> = []
    /// Does the harm, and returns when it is over.
    let act: @Sendable (Stage) throws -> Void

    init(_ name: String, _ claim: String, act: @escaping @Sendable (Stage) throws -> Void) {
        self.name = name
        self.claim = claim
        self.act = act
    }

    /// The same scenario with some of it changed.
    func with(_ change: (inout Scenario) -> Void) -> Scenario {
        var copy = self
        change(&copy)
        return copy
    }
}
