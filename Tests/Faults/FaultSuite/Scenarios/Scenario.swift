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
    /// What is published over HTTP, in the scenarios that have gateways.
    var overHTTP: HTTPLoad?
    /// Partitions of each topic.
    var partitions = 6
    /// Hub calls that one worker may have under way.
    var maxInFlight = 16
    /// Whether counts and times follow `--scale`.
    var isScaled = true
    /// Whether the workers' first key is one that the hub does not know, and the second one that it does.
    var withdrawsFirstKey = false
    /// Whether there is a second hub, for the requests that name it.
    var hasSecondHub = false
    /// Whether the outcome of every call is followed.
    var tracksOutcomes = false
    /// Whether the crew runs before the scenario's own part begins.
    var startsCrew = true
    /// Whether the workload is published from the beginning; otherwise the scenario does it.
    var publishes = true
    /// Settings of the workers beyond the suite's own, by variable.
    var settings: [String: String] = [:]
    /// Settings of the crew's first start alone.
    var firstSettings: [String: String] = [:]
    /// More options of the emulator.
    var hubOptions: [String] = []
    /// How long the whole may take, before scaling.
    var deadline = Duration.seconds(120)
    /// Invariants with a limit other than the oracle's; infinity for figures that are told and not judged.
    var limits: [Invariant: Double] = [:]
    /// Invariants of which at least one must be violated: the oracle's own test.
    var mustFail: Set<Invariant> = []
    /// Prepares the folder before brokers of the scenario's own are started in its subfolder `kafka`.
    var prepare: (@Sendable (String) throws -> Void)?
    /// Undoes what `prepare` did, in every way out.
    var tidy: (@Sendable (String) -> Void)?
    /// What is to be found beyond the oracle's own findings.
    var check: (@Sendable (Stage, Evidence) -> [Finding])?
    /// A table of what was measured: the columns' names, and the rows.
    var table: (@Sendable (Stage, Evidence) -> [[String]])?
    /// Does the harm, and returns when it is over.
    var act: @Sendable (Stage) throws -> Void

    init(_ name: String, _ claim: String, act: @escaping @Sendable (Stage) throws -> Void) {
        self.name = name
        self.claim = claim
        self.act = act
    }

    /// The same scenario with another part of its own.
    func acting(_ act: @escaping @Sendable (Stage) throws -> Void) -> Scenario {
        with { $0.act = act }
    }

    /// The same scenario with some of it changed.
    func with(_ change: (inout Scenario) -> Void) -> Scenario {
        var copy = self
        change(&copy)
        return copy
    }
}
