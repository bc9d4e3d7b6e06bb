public import Delivery

/// Everything that was collected about one scenario when nothing moved any more.
public struct Evidence: Sendable {
    /// Records that the publisher was told are written.
    public var published = 0
    /// The publisher used transactions, whose markers take offsets of their own.
    public var hasMarkers = false
    /// The requests topic.
    public var inputs: [InputFact] = []
    /// The results topic, committed records only.
    public var results: [ResultFact] = []
    /// Outcome results, committed ones only; nil when nobody followed calls.
    public var outcomes: [OutcomeFact]?
    /// Requests that repeat others; neither they nor their results are among the other facts.
    public internal(set) var replays: [ReplayFact] = []
    /// The results of those.
    public internal(set) var replayResults: [ResultFact] = []
    /// Requests that were published more than once; all but one record of each, and its results, are not among the other facts.
    public internal(set) var repetitions: [RepetitionFact] = []
    /// Calls of `POST /v1/requests`, of each connection in the order of their answers.
    public internal(set) var httpCalls: [HTTPCallFact] = []
    /// The records of the requests topic that those calls can have written.
    public internal(set) var httpRecords: [HTTPRecordFact] = []
    /// The name of that topic.
    var httpTopic = ""
    /// The dead-letter topic, committed records only.
    public var deadLetters: [DeadLetterFact] = []
    /// The results of large requests; they are not among the other results.
    public var wholes: [WholeFact] = []
    /// The results of the parts of those, which are not among the others either.
    public var parts: [PartFact] = []
    /// The users of each large request.
    public var usersOfLarge = 0
    /// What the group committed.
    public var positions: [PositionFact] = []
    /// What the hub recorded, in the order of its answers.
    public var calls: [CallFact] = []
    /// What was done to the workers.
    public var disturbances: [Disturbance] = []
    /// Hub calls that one worker may have under way.
    public var maxInFlight = 16
    /// The shortest time that the hub takes for an answer, milliseconds; at least 1.
    public var hubDelay: Int64 = 20
    /// The time from the end of the last fault to the next new result, milliseconds; nil when it was not measured.
    public var resumption: Int64?
    /// The time from there until every partition had a new result, milliseconds; nil when it was not measured.
    public var wholeResumption: Int64?
    /// A full outage of the hub, if there was one.
    public var outage: Outage?
    /// Transactions of which the broker's own log says that it committed them, crashed, and left out markers after its restart.
    public var tornTransactions: [TornTransaction] = []
    /// Workers that were asked to stop and ended otherwise than with exit code 0.
    public var uncleanExits: [String] = []
    /// Workers that ended although nobody asked them to.
    public var crashes: [String] = []

    /// No evidence yet.
    public init() {}
}

/// What the group committed for one partition.
public struct PositionFact: Sendable {
    /// The partition's number.
    public var partition: Int32
    /// The committed offset; nil if there is none.
    public var committed: Int64?
    /// What the commit's metadata says is finished above it; nil when that cannot be read.
    public var finished: FinishedOffsets?

    /// A committed position.
    public init(_ partition: Int32, committed: Int64?, finished: FinishedOffsets? = FinishedOffsets()) {
        self.partition = partition
        self.committed = committed
        self.finished = finished
    }
}

/// Something that was done to a worker, or to all of them.
public struct Disturbance: Sendable {
    /// What it was.
    public enum Kind: Sendable, Equatable {
        /// SIGKILL: what was in flight or finished and not committed may be called again.
        case kill
        /// SIGSTOP for longer than the session lasts: as a kill.
        case freeze
        /// The broker went away: as a kill, but the worker must notice by itself that nothing is committed any more.
        case outage
        /// SIGTERM: nothing may be called again.
        case drain
    }

    /// What it was.
    public var kind: Kind
    /// The worker's name.
    public var worker: String
    /// When the worker was started, milliseconds since 1970.
    public var startedAt: Int64
    /// When it was stopped, milliseconds since 1970; for an outage, when that was begun.
    public var at: Int64
    /// When it was surely so: a broker that is to be killed goes on for as long as that takes.
    public var doneAt: Int64
    /// Until when it may still have made calls; the same as `at` for a kill.
    public var until: Int64

    /// A disturbance of one worker.
    public init(_ kind: Kind, worker: String, startedAt: Int64, at: Int64, until: Int64? = nil) {
        self.kind = kind
        self.worker = worker
        self.startedAt = startedAt
        self.at = at
        doneAt = at
        self.until = until ?? at
    }
}

/// A transaction that a broker began to commit before it crashed, and took for committed after it had restarted, without writing its
/// markers to partitions whose leader it did not know yet. What shows of it, results or offsets, is up to when the crash came.
public struct TornTransaction: Sendable, Equatable {
    /// The worker whose it was.
    public var worker: String
    /// When it began, milliseconds since 1970.
    public var begin: Int64
    /// When the broker decided to commit it, milliseconds since 1970.
    public var end: Int64

    /// A torn transaction.
    public init(worker: String, begin: Int64, end: Int64) {
        self.worker = worker
        self.begin = begin
        self.end = end
    }

    /// The most time between handing the first record to the library and the beginning of the transaction at the broker, milliseconds.
    private static let lead: Int64 = 1000

    /// Whether a result can be of it.
    func holds(_ result: ResultFact) -> Bool {
        result.worker == worker && result.at >= begin - Self.lead && result.at <= end
    }
}

/// A time in which the hub answered nobody.
public struct Outage: Sendable {
    /// Its begin, milliseconds since 1970, with the time left out that a worker may take to notice.
    public var begin: Int64
    /// Its end, milliseconds since 1970.
    public var end: Int64
    /// The workers that ran.
    public var workers: Int
    /// Calls that the hub did not see, as the workers count them.
    public var unseenCalls: Int

    /// An outage.
    public init(begin: Int64, end: Int64, workers: Int, unseenCalls: Int = 0) {
        self.begin = begin
        self.end = end
        self.workers = workers
        self.unseenCalls = unseenCalls
    }
}
