/// What must be true of every scenario's evidence.
public enum Invariant: String, Sendable, CaseIterable {
    /// Every request that was published stands on the topic.
    case published = "published and not on the topic"
    /// Every request has a final result.
    case lost = "requests without a final result"
    /// No request has two.
    case repeated = "repeated final results"
    /// Results of transactions that the broker says it has torn: told, not judged.
    case torn = "final results repeated because the broker tore a transaction"
    /// Every result belongs to a request.
    case foreign = "results and calls that belong to no request"
    /// Every unreadable record is kept, byte for byte.
    case unreadableLost = "unreadable records lost or changed"
    /// No unreadable record is kept twice.
    case unreadableRepeated = "unreadable records repeated"
    /// No result says what the hub's record denies.
    case contradictions = "results that contradict the hub"
    /// The group stands at the end of every partition.
    case position = "records not behind the committed position"
    /// Calls are repeated only within the window of a kill.
    case repeatedCalls = "repeated hub calls"
    /// No single kill repeats more calls than were in its window.
    case repeatedCallsPerKill = "repeated hub calls beyond the window of their kill"
    /// How soon work goes on after a fault: told, not judged.
    case resumption = "milliseconds to the next result"
    /// The same for the partition that takes longest.
    case wholeResumption = "milliseconds until every partition has a new result"
    /// Where the brokers are slow.
    case writing = "milliseconds from the first call to the last result"
    /// Where a hub loses some of its calls: the worst of some measurements.
    case goodAnswers = "good answers missing of those wanted, in a thousand"
    case median = "milliseconds within which half of the requests get results"
    /// A hub that is down is left in peace.
    case outageCalls = "calls per second and worker in an outage"
    /// A hub that asked for time gets it, and so does a request that waits for a moment.
    case earlyCalls = "calls before their time"
    /// A process that dies at a named moment leaves behind what the table of crash windows says.
    case crashWindow = "crash windows unlike their description"
    /// What failed was replayed once, and nothing else was.
    case replays = "calls not replayed exactly once"
    /// A large request has each of its parts once, and one result that counts them.
    case parts = "parts of large requests lost, repeated or counted wrongly"
    /// Calls of parts are repeated only within the windows of kills.
    case repeatedPieces = "repeated hub calls of parts"
    /// Of each call that the hub accepted it was told once what became of it, and of no other.
    case outcomes = "outcomes not told exactly once"
    /// Of what was published more than once, one record is sent and all others end as duplicates.
    case repetitions = "repeated requests not sent exactly once"
    /// Each 202 of the gateway is true.
    case accepted = "202s whose record is not at its place with its id"
    /// What a gateway answered with 503 is not written.
    case surplusRecords = "records that neither a 202 nor a call in doubt explains"
    /// An Idempotency-Key gives one id, at every gateway.
    case requestIDs = "keys with more than one id"
    /// A gateway gives one answer to a key for as long as it runs.
    case sameAnswer = "keys with more than one 202 at one gateway"
    /// Of each request that a gateway wrote, one record is sent.
    case sentOverHTTP = "requests over HTTP that were not sent"
    /// A request is not called before those ahead of it that share its ordering key have ended, but for what a kill makes again.
    case order = "calls before their turn"
    /// A hub that works gets its requests in time while another one is out, and each hub gets its own alone.
    case hubsApart = "calls late or missing for another hub's sake, or at the wrong hub"
    /// While a hold stands, nothing in its scope is begun.
    case holds = "calls that were begun while a hold stood"
    /// A worker's memory has a limit, whatever is published.
    case memory = "megabytes of memory that a worker had at most"
    /// A worker ends when, and only when, it is told to.
    case exits = "workers that ended wrongly"
}

/// What one invariant came to.
public struct Finding: Sendable {
    /// The invariant.
    public var invariant: Invariant
    /// The figure.
    public var measured: Double
    /// The most that is allowed.
    public var allowed: Double
    /// Some of what violates it, for a person to look at.
    public var examples: [String]

    /// A figure with its limit.
    public init(_ invariant: Invariant, measured: Double, allowed: Double = 0, examples: [String] = []) {
        self.invariant = invariant
        self.measured = measured
        self.allowed = allowed
        self.examples = examples
    }

    /// Whether the invariant holds.
    public var holds: Bool { measured <= allowed }

    /// A finding that counts `examples` and allows none; the first few are kept.
    static func none(_ invariant: Invariant, _ examples: [String]) -> Finding {
        Finding(invariant, measured: Double(examples.count), examples: Array(examples.prefix(5)))
    }
}
