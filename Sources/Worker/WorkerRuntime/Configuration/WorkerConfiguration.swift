import Basics
public import CurlHTTP
public import Delivery
public import FanOut
public import HubREST
public import Kafka
public import Observability
public import Outcomes
public import Payloads

/// The way a worker records what it did.
public enum DeliveryGuarantee: String, Sendable, CaseIterable {
    /// Results and consumed offsets in one Kafka transaction: exactly one final result per request.
    case exactlyOnce = "exactly_once"
    /// Results first, then offsets: after a crash a result can appear twice. For brokers without transactions.
    case atLeastOnce = "at_least_once"
}

/// Everything that a worker gets when it starts.
public struct WorkerConfiguration: Sendable {
    /// The spellings in which a dead letter says where it came from.
    public struct DeadLetterHeaders: OptionSet, Sendable {
        /// Bits of the spellings.
        public let rawValue: UInt8
        /// The set with the given bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// `pushfan-dlq-…`, all text, always written.
        public static let native = DeadLetterHeaders(rawValue: 1)
        /// `__connect.errors.…`, text, as Kafka Connect writes them.
        public static let connect = DeadLetterHeaders(rawValue: 2)
        /// `kafka_dlt-…`, numbers as big-endian bytes, as Spring for Kafka writes them.
        public static let spring = DeadLetterHeaders(rawValue: 4)
    }

    /// The way duplicates are detected.
    public struct Dedupe: Sendable, Equatable {
        /// The longest distance between the times of two requests of one source and id, default 24 h. Zero to look at keys only,
        /// which have windows of their own.
        public var window: Duration
        /// The number of offsets before a request that are looked at, 1–1,000,000, default 4,000. Each takes 50 to 100 bytes,
        /// with a key twice that.
        public var reach: Int

        /// A window and a reach.
        public init(window: Duration = .seconds(86_400), reach: Int = 4000) {
            self.window = window
            self.reach = reach
        }
    }

    /// The worker's stable name, of at most 128 characters: static membership and the transactional id come from it.
    public var workerID: String
    /// The number of the loop that this is the configuration of, from 1, among several. It is part of `workerID` then.
    var loop: Int?
    /// This run of the worker. With it the worker looks who has its name: it takes the name when no other process has it, and ends when
    /// another has taken it. Nil, the default, to take it without looking, and to end when fenced.
    public var incarnation: Incarnation?
    /// The program's version, for results.
    public var version: String
    /// Brokers and client properties.
    public var kafka: KafkaConfiguration
    /// The consumer group, default `pushfan`.
    public var groupID = "pushfan"
    /// The rule for the beginning of partitions of requests of which the group has no position, default `safe`.
    public var start = StartRule.safe
    /// The bytes that each loop may hold in memory of requests and results, at least 16 MiB, default 256 MiB.
    public var memoryBudget = 256 << 20
    /// The partitions of `topics.shared` that the worker takes by itself, without joining its group, whose positions it still keeps. For a
    /// worker that is alone and records `atLeastOnce`. Nil, the default, for what the group assigns.
    public var fixedPartitions: [TopicPartition]?
    /// The time that the group waits for a silent worker, default 10 s.
    public var sessionTimeout = Duration.seconds(10)
    /// The time that the broker keeps a transaction open for a silent worker, default 15 s.
    public var transactionTimeout = Duration.seconds(15)
    /// The time that one step of a commit may take, all of Kafka's own time-outs included, before its producer is given up as
    /// stuck. Default 60 s.
    public var committerTimeout = Duration.seconds(60)
    /// The topics.
    public var topics = Topics()
    /// The weights by which the lanes share the worker.
    public var laneWeights = LaneWeights()
    /// The weights by which the tenants share a lane.
    public var tenantWeights = TenantWeights()
    /// The way results are recorded.
    public var guarantee = DeliveryGuarantee.exactlyOnce
    /// The hubs, at least one, each under a name of its own. The first is that of `hub`, `hubName` and the others that speak of
    /// one hub.
    public var hubs: [Hub]
    /// Names that stand for several hubs.
    public var spreads: [Spread] = []
    /// True if hubs are asked, by a call that sends nothing, whether they are there and take the key: at the start, when they are
    /// new or changed, and while they do not work and there is nothing to send. Default yes. Without it they count as good until
    /// calls fail.
    public var checksHubs = true
    /// The hub, or the spread, of requests that name none and whose tenant has none either, or nil to refuse them. Default the
    /// first hub.
    public var defaultHub: String?
    /// The time after a start or a reload that requests wait for a hub that the settings do not have. Default 60 s.
    public var settlingTime = Duration.seconds(60)
    /// The hub, or the spread, of a tenant's requests that name none.
    public var tenantHubs: [String: String] = [:]
    /// The number of loops in this process, 1–64, default 1. Each is a thread and a member of the group, with calls and
    /// connections of its own.
    public var loops = 1
    /// Offsets per partition between the first unfinished record and the next to read, 16–16,384.
    public var window = OffsetLedger.maximumWindow
    /// The same for partitions of held requests, which must have room for what another worker has written.
    var heldWindow = OffsetLedger.maximumWindow
    /// The least time between two commits while results come in numbers, default 60 ms (see `CommitSchedule`).
    public var commitInterval = Duration.milliseconds(60)
    /// The time that brokers reject a result, while its topic takes others, before a dead letter stands for it. Default 5 min. A
    /// setting that is wrong for a while loses no result.
    public var refusalPatience = Duration.nanoseconds(CommitCycle.refusalPatience)
    /// The time that calls in flight may take to finish when the worker stops or loses partitions. Default 20 s.
    public var drainTimeout = Duration.seconds(20)
    /// The schedule on which failed calls are tried again.
    public var retry = RetrySchedule()
    /// The terms on which the hub is asked for outcomes: when, and for how long. Questions wait in a delay lane. What is shorter
    /// than the first of those waits as long as that.
    public var outcomes = OutcomeTracking.Terms(firstWait: 10_000, jitter: 0)
    /// The way audiences become calls.
    public var planning = FanOutPlanner.Configuration()
    /// The way duplicates are detected. Nil for not at all, and then those with a key are refused.
    public var dedupe: Dedupe? = Dedupe()
    /// The way content is formatted.
    public var formatting = PayloadFormatter.Configuration()
    /// The spellings of dead-letter headers.
    public var deadLetterHeaders: DeadLetterHeaders = .native
    /// True if results have headers: the attributes of a CloudEvent, the content type and the trace. Their values are the same without.
    public var resultsHaveHeaders = true
    /// The requests about whose end the log has a line, default those that fail.
    public var loggedRequests = LoggedRequests.failures

    /// A configuration with the defaults for everything else.
    public init(
        workerID: String, version: String, kafka: KafkaConfiguration, hub: HubConfiguration,
        connections: ConnectionPoolConfiguration
    ) {
        self.workerID = workerID
        self.version = version
        self.kafka = kafka
        hubs = [Hub(hub, connections: connections)]
        defaultHub = hubs[0].name
    }
}

extension WorkerConfiguration {
    /// The terms that the commit cycle goes by.
    var commitTerms: CommitCycle.Terms {
        var terms = CommitCycle.Terms(
            interval: commitInterval.wholeNanoseconds, transactionTimeout: transactionTimeout.wholeNanoseconds)
        terms.refusalPatience = refusalPatience.wholeNanoseconds
        return terms
    }

    /// The terms that the membership goes by.
    var membershipTerms: Membership.Terms {
        Membership.Terms(
            drainTimeout: drainTimeout.wholeNanoseconds, transactionTimeout: transactionTimeout.wholeNanoseconds,
            checksForUnread: guarantee == .exactlyOnce, sessionTimeout: sessionTimeout.wholeNanoseconds)
    }
}

/// The names by which brokers tell members and producers apart. Neither groups nor workers have a ':' in their names, so no two of them
/// meet.
extension WorkerConfiguration {
    /// The member's stable name in its group: `WORKER`, or `WORKER:LOOP`.
    var instanceID: String {
        guard let loop else { return Self.instanceID(worker: workerID, loop: nil) }
        return Self.instanceID(worker: String(workerID.dropLast("-\(loop)".count)), loop: loop)
    }

    /// The way its member of the group reaches the brokers: the group shows which run it is.
    var memberKafka: KafkaConfiguration {
        guard let incarnation else { return kafka }
        var member = kafka
        member.clientID = incarnation.clientID(kafka.clientID)
        return member
    }

    /// The transactional id: `GROUP:WORKER`, or `GROUP:WORKER:LOOP`.
    var transactionalID: String { Self.transactionalID(group: groupID, instance: instanceID) }

    /// The stable name of a worker's loop in its group.
    ///
    /// - Parameters:
    ///   - worker: The worker's name.
    ///   - loop: The loop, counted from 1; nil where there is only one.
    /// - Returns: `WORKER`, or `WORKER:LOOP`.
    public static func instanceID(worker: String, loop: Int?) -> String { loop.map { "\(worker):\($0)" } ?? worker }

    /// The transactional id of a worker's loop.
    ///
    /// - Parameters:
    ///   - group: The group's name.
    ///   - instance: The loop's name in it.
    /// - Returns: `GROUP:INSTANCE`.
    public static func transactionalID(group: String, instance: String) -> String { "\(group):\(instance)" }
}
