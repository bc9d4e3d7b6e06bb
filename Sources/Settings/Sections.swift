public import Observability
public import WorkerRuntime

/// How to reach and use Kafka.
public struct KafkaSettings: Sendable {
    /// The topics' names.
    public struct Topics: Sendable {
        /// Requests are read from here.
        public let requests: String
        /// Urgent requests are read from here.
        public let requestsHigh: String
        /// Requests that go to many are read from here.
        public let requestsBulk: String
        /// Requests wait here that must not be sent yet, for 10 s, 1 min, 10 min and 1 h.
        public let delays: [String]
        /// Results are written here.
        public let results: String
        /// Records that cannot be understood are written here.
        public let deadLetter: String
        /// Requests are cancelled here.
        public let control: String
        /// Large requests are kept here until their parts have ended.
        public let parents: String
        /// Requests with ordering keys wait here that must not be sent yet, and those behind them.
        public let held: String
        /// Dead device handles are listed here.
        public let handles: String
        /// Workers share a hub's rate by it.
        public let shares: String
        /// Replays, and the collecting of dead handles, keep here how far they are.
        public let replays: String
    }

    /// The brokers to ask first; at least one `host:port`.
    public let bootstrapServers: [String]
    /// The consumer group.
    public let groupID: String
    /// Properties for librdkafka, in the order given.
    public let properties: [KafkaProperty]
    /// The topics' names, all different.
    public let topics: Topics
    /// How results and offsets are written.
    public let guarantee: DeliveryGuarantee
    /// When Kafka gives a silent worker up.
    public let sessionTimeout: Duration
    /// When Kafka gives a transaction up.
    public let transactionTimeout: Duration

    init(_ values: SettingValues) throws(SettingsError) {
        bootstrapServers = try values.value(SettingsSchema.bootstrapServers)
        groupID = try values.value(SettingsSchema.groupID)
        properties = values[SettingsSchema.properties] ?? []
        topics = try Topics(
            requests: values.value(SettingsSchema.requestsTopic), requestsHigh: values.value(SettingsSchema.requestsHighTopic),
            requestsBulk: values.value(SettingsSchema.requestsBulkTopic),
            delays: SettingsSchema.delayTopics.map { (key) throws(SettingsError) in try values.value(key) },
            results: values.value(SettingsSchema.resultsTopic),
            deadLetter: values.value(SettingsSchema.deadLetterTopic), control: values.value(SettingsSchema.controlTopic),
            parents: values.value(SettingsSchema.parentsTopic), held: values.value(SettingsSchema.heldTopic),
            handles: values.value(SettingsSchema.handlesTopic),
            shares: values.value(SettingsSchema.sharesTopic), replays: values.value(SettingsSchema.replaysTopic))
        guarantee = try values.value(SettingsSchema.guarantee)
        sessionTimeout = try values.value(SettingsSchema.sessionTimeout)
        transactionTimeout = try values.value(SettingsSchema.transactionTimeout)
    }
}

/// How a worker works.
public struct WorkerSettings: Sendable {
    /// The worker's stable name.
    public let id: String
    /// Loops of the process.
    public let loops: Int
    /// Hub calls that one loop may have under way at once.
    public let maxInFlight: Int
    /// Hub calls that all loops of the process may have under way at once.
    public var maxInFlightOfAll: Int { loops * maxInFlight }
    /// How the lanes of requests share a loop.
    public let laneWeights: LaneWeights
    /// How tenants share a lane; those not named have weight 1.
    public let tenantWeights: [TenantWeightSetting]
    /// Offsets of one partition that are read beyond its oldest unfinished request.
    public let window: Int
    /// How long a drain may take; zero parks calls at once.
    public let drainTimeout: Duration
    /// The shortest time between two commits.
    public let commitInterval: Duration
    /// How long a request with the source and id of another one is a repetition of it; zero when that does not count.
    public let dedupeWindow: Duration
    /// How many offsets are looked back for repetitions; zero when they are not looked for.
    public let dedupeReach: Int
    /// The spellings of a dead letter's headers.
    public let deadLetterHeaders: [DeadLetterSpelling]

    init(_ values: SettingValues) throws(SettingsError) {
        id = try values.value(SettingsSchema.workerID)
        loops = try values.value(SettingsSchema.loops)
        maxInFlight = try values.value(SettingsSchema.maxInFlight)
        var weights = LaneWeights()
        weights.high = try values.value(SettingsSchema.highWeight)
        weights.normal = try values.value(SettingsSchema.normalWeight)
        weights.bulk = try values.value(SettingsSchema.bulkWeight)
        laneWeights = weights
        tenantWeights = values[SettingsSchema.tenantWeights] ?? []
        window = try values.value(SettingsSchema.window)
        drainTimeout = try values.value(SettingsSchema.drainTimeout)
        commitInterval = try values.value(SettingsSchema.commitInterval)
        dedupeWindow = try values.value(SettingsSchema.dedupeWindow)
        dedupeReach = try values.value(SettingsSchema.dedupeReach)
        deadLetterHeaders = try values.value(SettingsSchema.deadLetterHeaders)
    }
}

/// How to reach and use the hub.
public struct HubSettings: Sendable {
    /// The connection string, not read yet.
    public let connectionString: Redacted<String>?
    /// The policy's other key.
    public let secondaryKey: Redacted<String>?
    /// The hub's name.
    public let name: String?
    /// The version of the REST API, as `YYYY-MM`.
    public let apiVersion: String
    /// How long a call may take.
    public let requestTimeout: Duration
    /// How long opening a connection may take.
    public let connectTimeout: Duration
    /// How long a signed token is valid.
    public let tokenLifetime: Duration
    /// Connections kept open; at least one.
    public let maxConnections: Int
    /// How old a connection may grow.
    public let maxConnectionAge: Duration
    /// A PEM file of certificates to trust instead of the system's.
    public let authorityFile: String?
    /// What all workers together may send in a second; 0 for no limit.
    public let rateLimit: Int
    /// Whether fewer calls are under way when the hub gets slow or loses them.
    public let adaptsConcurrency: Bool
    /// The platforms a message goes to when its request names none, in the hub's words.
    public let platforms: [String]
    /// The tag of a user, with `{user}` for the user's name.
    public let userTag: String
    /// Whether outcomes are followed of requests that do not say.
    public let tracksOutcomes: Bool
    /// How long the hub is asked for an outcome.
    public let outcomeDeadline: Duration
    /// The proxy's URL.
    public let proxy: Redacted<String>?

    init(_ values: SettingValues) throws(SettingsError) {
        connectionString = values[SettingsSchema.connectionString]
        secondaryKey = values[SettingsSchema.secondaryKey]
        name = values[SettingsSchema.hubName]
        apiVersion = try values.value(SettingsSchema.apiVersion)
        requestTimeout = try values.value(SettingsSchema.requestTimeout)
        connectTimeout = try values.value(SettingsSchema.connectTimeout)
        tokenLifetime = try values.value(SettingsSchema.tokenLifetime)
        let connections = try values.value(SettingsSchema.maxConnections)
        maxConnections = connections > 0 ? connections : try values.value(SettingsSchema.maxInFlight)
        maxConnectionAge = try values.value(SettingsSchema.maxConnectionAge)
        authorityFile = values[SettingsSchema.authorityFile]
        rateLimit = try values.value(SettingsSchema.rateLimit)
        adaptsConcurrency = try values.value(SettingsSchema.adaptsConcurrency)
        platforms = try values.value(SettingsSchema.platforms)
        userTag = try values.value(SettingsSchema.userTag)
        tracksOutcomes = try values.value(SettingsSchema.trackOutcome)
        outcomeDeadline = try values.value(SettingsSchema.outcomeDeadline)
        proxy = values[SettingsSchema.proxy]
    }
}

/// When to call again.
public struct RetrySettings: Sendable {
    /// Calls for one send, the first included.
    public let maxAttempts: Int
    /// The longest wait before the second call.
    public let base: Duration
    /// How much longer each further wait may be.
    public let factor: Double
    /// The longest wait that pushfan chooses itself.
    public let cap: Duration

    init(_ values: SettingValues) throws(SettingsError) {
        maxAttempts = try values.value(SettingsSchema.maxAttempts)
        base = try values.value(SettingsSchema.retryBase)
        factor = try values.value(SettingsSchema.retryFactor)
        cap = try values.value(SettingsSchema.retryCap)
    }
}
