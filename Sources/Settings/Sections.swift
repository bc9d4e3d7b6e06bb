public import Delivery
public import WorkerRuntime

/// The settings of the connection to Kafka and of its use.
public struct KafkaSettings: Sendable {
    /// The topics' names.
    public struct Topics: Sendable {
        /// Requests are read from here.
        public let requests: String
        /// Urgent requests are read from here.
        public let requestsHigh: String
        /// Requests that go to many are read from here.
        public let requestsBulk: String
        /// Requests that pushfan itself writes are read from here: parts of large ones, and replays.
        public let requestsOwn: String
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
        /// The texts of secure push are kept here, encrypted.
        public let secure: String
        /// Replays, and the collecting of dead handles, keep here how far they are.
        public let replays: String
    }

    /// The bootstrap servers, at least one `host:port`.
    public let bootstrapServers: [String]
    /// The consumer group.
    public let groupID: String
    /// Properties for librdkafka, in the order given.
    public let properties: [KafkaProperty]
    /// The topics' names, all different.
    public let topics: Topics
    /// The guarantee with which results and offsets are written.
    public let guarantee: DeliveryGuarantee
    /// The start of a partition in which the group has no position.
    public let start: StartRule
    /// The time after which Kafka gives a silent worker up.
    public let sessionTimeout: Duration
    /// The time after which Kafka aborts a transaction.
    public let transactionTimeout: Duration

    init(_ values: SettingValues) throws(SettingsError) {
        bootstrapServers = try values.value(SettingsSchema.bootstrapServers)
        groupID = try values.value(SettingsSchema.groupID)
        properties = values[SettingsSchema.properties] ?? []
        topics = try Topics(
            requests: values.value(SettingsSchema.requestsTopic), requestsHigh: values.value(SettingsSchema.requestsHighTopic),
            requestsBulk: values.value(SettingsSchema.requestsBulkTopic),
            requestsOwn: values.value(SettingsSchema.requestsOwnTopic),
            delays: SettingsSchema.delayTopics.map { (key) throws(SettingsError) in try values.value(key) },
            results: values.value(SettingsSchema.resultsTopic),
            deadLetter: values.value(SettingsSchema.deadLetterTopic), control: values.value(SettingsSchema.controlTopic),
            parents: values.value(SettingsSchema.parentsTopic), held: values.value(SettingsSchema.heldTopic),
            handles: values.value(SettingsSchema.handlesTopic),
            shares: values.value(SettingsSchema.sharesTopic), secure: values.value(SettingsSchema.secureTopic),
            replays: values.value(SettingsSchema.replaysTopic))
        guarantee = try values.value(SettingsSchema.guarantee)
        start = try values.value(SettingsSchema.start)
        sessionTimeout = try values.value(SettingsSchema.sessionTimeout)
        transactionTimeout = try values.value(SettingsSchema.transactionTimeout)
    }
}

/// The settings of a worker.
public struct WorkerSettings: Sendable {
    /// The worker's stable name.
    public let id: String
    /// Loops of the process.
    public let loops: Int
    /// Hub calls that one loop may have in flight.
    public let maxInFlight: Int
    /// Hub calls that all loops of the process may have in flight.
    public var maxInFlightOfAll: Int { loops * maxInFlight }
    /// The weights by which the lanes of requests share a loop.
    public let laneWeights: LaneWeights
    /// The weights by which tenants share a lane. Tenants without an entry have weight 1.
    public let tenantWeights: [TenantWeightSetting]
    /// Offsets of one partition that are read beyond its oldest unfinished request.
    public let window: Int
    /// The memory that each loop may use for requests and results, MiB.
    public let memory: Int
    /// The time limit of a drain. Zero parks calls at once.
    public let drainTimeout: Duration
    /// The shortest time between two commits.
    public let commitInterval: Duration
    /// The time for which a request with the source and id of an earlier one is a duplicate. Zero turns this off.
    public let dedupeWindow: Duration
    /// The number of offsets that are read back for duplicates. Zero turns this off.
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
        weights.own = try values.value(SettingsSchema.ownWeight)
        laneWeights = weights
        tenantWeights = values[SettingsSchema.tenantWeights] ?? []
        window = try values.value(SettingsSchema.window)
        memory = try values.value(SettingsSchema.memory)
        drainTimeout = try values.value(SettingsSchema.drainTimeout)
        commitInterval = try values.value(SettingsSchema.commitInterval)
        dedupeWindow = try values.value(SettingsSchema.dedupeWindow)
        dedupeReach = try values.value(SettingsSchema.dedupeReach)
        deadLetterHeaders = try values.value(SettingsSchema.deadLetterHeaders)
    }
}

/// The settings of the gateway for apps and back ends.
public struct GatewaySettings: Sendable {
    /// The address at which it serves them.
    public let listen: ListenAddress
    /// The file of the people who sign in with name and password.
    public let usersFile: String?
    /// The file of the keys that back ends publish with.
    public let keysFile: String?
    /// True if every user may sign in whose password is the name.
    public let allowsDemoSignIn: Bool
    /// Addresses, and ranges of them, of the proxies in front of it.
    public let trustedProxies: [String]
    /// The time for which a notification of an app waits for its result.
    public let sendWait: Duration
    /// True if it also waits for the outcome of its calls.
    public let tracksOutcome: Bool
    /// After which it is not sent any more.
    public let sendLife: Duration
    /// True if every notification of an app carries an id in place of its text, even without a request for it.
    public let isAlwaysSecure: Bool
    /// The file that keeps the answers to calls with an `Idempotency-Key`.
    public let idempotencyFile: String?
    /// The tags that no app may give its own device.
    public let reservedTags: [String]
    /// The address before a code, where pages say what it means.
    public let docsURL: String?

    init(_ values: SettingValues) throws(SettingsError) {
        listen = try values.value(SettingsSchema.gatewayListen)
        usersFile = values[SettingsSchema.usersFile]
        keysFile = values[SettingsSchema.keysFile]
        allowsDemoSignIn = try values.value(SettingsSchema.demoAuth)
        trustedProxies = values[SettingsSchema.trustProxy] ?? []
        let tracksOutcome = try values.value(SettingsSchema.gatewayTrackOutcome)
        self.tracksOutcome = tracksOutcome
        sendWait = values[SettingsSchema.sendWait] ?? (tracksOutcome ? .seconds(45) : .seconds(10))
        sendLife = try values.value(SettingsSchema.sendLife)
        isAlwaysSecure = try values.value(SettingsSchema.securePush)
        idempotencyFile = values[SettingsSchema.idempotencyFile]
        reservedTags = values[SettingsSchema.reservedTags] ?? []
        docsURL = values[SettingsSchema.docsURL]
    }
}

/// The delays between repeated calls.
public struct RetrySettings: Sendable {
    /// Calls for one send, the first included.
    public let maxAttempts: Int
    /// The longest wait before the second call.
    public let base: Duration
    /// The factor by which each further wait may be longer.
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
