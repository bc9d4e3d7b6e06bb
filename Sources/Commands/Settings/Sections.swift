public import Delivery
public import WorkerRuntime

/// The settings of the connection to Kafka and of its use.
public struct KafkaSettings: Sendable {
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

    init(_ read: inout SettingReader) throws(SettingsError) {
        bootstrapServers = try read(
            "kafka.bootstrap_servers", as: .list(of: .broker), default: "127.0.0.1:9092", summary: "The brokers to ask first.")
        groupID = try read(
            "kafka.group_id", as: .name("a consumer group", atMost: 249), default: "pushfan",
            summary: "The consumer group that all workers share.")
        properties =
            read.optional(
                "kafka.properties", as: .properties, summary: "Properties of librdkafka, passed on unchanged; may hold passwords."
            ) ?? []
        topics = try Self.topics(&read)
        guarantee = try read(
            "kafka.delivery_guarantee", as: .choice, default: "exactly_once",
            summary: "Whether results and offsets are one transaction; `at_least_once` may repeat results after a crash.")
        start = try read(
            "kafka.start", as: .start, default: "safe",
            summary:
                "Start offset without a committed offset; `safe` leaves partitions in which requests older than 10 minutes wait to `group start`."
        )
        sessionTimeout = try read(
            "kafka.session_timeout", as: .duration(.seconds(6) ... .seconds(300)), default: "10s",
            summary: "How long Kafka waits for a silent worker before it reassigns its partitions.")
        transactionTimeout = try read(
            // The library waits 10 s for a broker's answer, and refuses a transaction that would end before.
            "kafka.transaction_timeout", as: .duration(.seconds(10) ... .seconds(900)), default: "15s",
            summary: "How long a transaction of a dead worker may hold back readers of results.")
    }

    /// Topics are named by a prefix. Those that others read or write may have a name of their own, which the rest follow if it is that of
    /// the requests.
    private static func topics(_ read: inout SettingReader) throws(SettingsError) -> Topics {
        let prefix = try read(
            "kafka.topics.prefix", as: .name("the beginning of topic names", atMost: 200), default: "push.",
            summary: "The beginning of the names of all topics that have no name of their own.")
        let name = SettingType<String>.name("a topic", atMost: 249)
        var topics = Topics(
            requests: try read(
                "kafka.topics.requests", as: name, default: prefix + "requests.v1",
                summary: "The topic that requests are read from. All topics without a default here are named after it."))
        topics.results = try read(
            "kafka.topics.results", as: name, default: prefix + "results.v1", summary: "The topic that results are written to.")
        topics.deadLetters = try read(
            "kafka.topics.deadletter", as: name, default: prefix + "deadletter.v1",
            summary: "The topic for records that cannot be understood.")
        topics.replays = try read(
            "kafka.topics.replays", as: name, default: prefix + "replays.v1",
            summary: "The topic in which replays, and the collecting of dead handles, keep how far they are.")
        let following = "; named after kafka.topics.requests by default."
        topics.control = try read(
            "kafka.topics.control", as: name, default: topics.control, dependsOnPlace: true,
            summary: "The topic that cancels requests" + following)
        topics.handles = try read(
            "kafka.topics.handles", as: name, default: topics.handles, dependsOnPlace: true,
            summary: "The topic that lists dead device handles" + following)
        topics.shares = try read(
            "kafka.topics.shares", as: name, default: topics.shares, dependsOnPlace: true,
            summary: "The topic by which workers divide a hub's rate" + following)
        topics.callbacks = try read(
            "kafka.topics.callbacks", as: name, default: topics.callbacks, dependsOnPlace: true,
            summary: "The topic in which receivers of callbacks are paused" + following)
        topics.callbackDeadLetters = try read(
            "kafka.topics.callbacks_deadletter", as: name, default: topics.callbackDeadLetters, dependsOnPlace: true,
            summary: "The topic of results that a receiver did not take" + following)
        topics.callbackReplays = try read(
            "kafka.topics.callbacks_replay", as: name, default: topics.callbackReplays, dependsOnPlace: true,
            summary: "The topic of results that go to a receiver once more" + following)
        return topics
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
    /// True if results have headers.
    public let resultsHaveHeaders: Bool

    init(_ read: inout SettingReader) throws(SettingsError) {
        id = try read(
            "worker.id", as: .name("a name", atMost: 128), default: read.hostName, dependsOnPlace: true,
            summary:
                "The stable name of this worker, from which its membership and transactional id come; the host's name by default."
        )
        loops = try read(
            "worker.loops", as: .integer(1...64), default: "1", unit: "loops",
            summary: "Loops of this process: each a thread and a member of the group, with calls and connections of its own.")
        maxInFlight = try Self.maxInFlight("worker.max_in_flight", by: &read)
        func weight(_ lane: String, default text: String, of what: String) throws(SettingsError) -> Int {
            try read(
                "worker.weights.\(lane)", as: .integer(1...1000), default: text,
                summary: "The share of \(what) in what the worker sends, beside the weights of the other lanes that have some.")
        }
        var weights = LaneWeights()
        weights.high = try weight("high", default: "8", of: "urgent requests")
        weights.normal = try weight("normal", default: "4", of: "all other requests")
        weights.bulk = try weight("bulk", default: "1", of: "requests to many")
        weights.own = try weight("own", default: "1", of: "parts of large requests, and replays,")
        laneWeights = weights
        tenantWeights =
            read.optional(
                "worker.tenant_weights", as: .tenantWeights,
                summary:
                    "The shares of tenants in a lane, beside those of the other tenants that have requests there; 1 for those not named."
            ) ?? []
        window = try read(
            "worker.window", as: .integer(16...16_384), default: "16384", unit: "offsets",
            summary: "How far one partition is read beyond its oldest unfinished request.")
        memory = try read(
            "worker.memory", as: .integer(32...65_536), default: "256", unit: "MiB",
            summary: "Memory limit of a loop for requests and results; at the limit it stops reading (backpressure).")
        drainTimeout = try read(
            "worker.drain_timeout", as: .duration(.zero ... .seconds(600)), default: "20s",
            summary: "How long calls in flight may take to finish when the worker stops or loses a partition.")
        commitInterval = try read(
            "worker.commit_interval", as: .duration(.milliseconds(1) ... .seconds(5)), default: "60ms",
            summary:
                "Shortest time between commits of results and offsets; at least 250 ms while results are few, 120 ms above 4,000 per s."
        )
        deadLetterHeaders = try read(
            "worker.dlq_headers", as: .list(of: .choice), default: "native",
            summary: "The spellings of the headers of dead letters.")
        resultsHaveHeaders = try read(
            "results.headers", as: .word([(word: "cloudevents", value: true), (word: "none", value: false)]),
            default: "cloudevents",
            summary: "The headers of results; with `none` they have none, and cost less. Their values are the same.")
        dedupeWindow = try read(
            "dedupe.window", as: .duration(.zero ... .seconds(604_800)), default: "24h",
            summary: "How long a request with the source and id of an earlier one is a duplicate; 0s checks dedupe keys only.")
        dedupeReach = try read(
            "dedupe.reach", as: .integer(0...1_000_000), default: "4000", unit: "offsets",
            summary:
                "How far back in its partition a duplicate is looked for; 0 sends all, and rejects requests with a dedupe key.")
    }
}

extension WorkerSettings {
    /// Reads the number of calls in flight, of which a hub among several may have one of its own.
    static func maxInFlight(
        _ name: String, by read: inout SettingReader, like base: Int? = nil
    ) throws(SettingsError) -> Int {
        try read(
            name, as: .integer(1...4096), default: "64", like: base, unit: "calls",
            summary: "Hub calls that one loop may have in flight.")
    }
}

/// The rule by which the gateway's web page is served.
public enum PageRule: Sendable {
    /// On a loopback address, where there are keys to sign in with.
    case auto
    /// Always, which needs keys.
    case on
    /// Never.
    case off
}

/// The rule for names and titles in the index of requests.
public enum IndexNamesRule: String, Sendable, CaseIterable {
    case plain, encrypted, omit
}

/// The settings of the gateway for apps and back ends.
public struct GatewaySettings: Sendable {
    /// The address at which it serves them.
    public let listen: ListenAddress
    /// The file of the people who sign in with name and password.
    public let usersFile: String?
    /// The file of the keys that back ends publish with.
    public let keysFile: String?
    /// The tokens with which users sign in.
    public let tokens: TokenSettings
    /// The rule by which the web page is served.
    public let page: PageRule
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
    /// The calls a second to each hub about devices.
    public let deviceRate: Int
    /// The name of the environment, which the page shows.
    public let title: String?
    /// The folder of plans of replays and of the indexes.
    public let stateFolder: String?
    /// The age at which requests leave their index, and its most bytes.
    public let (indexKeep, indexBytes): (Duration, Int)
    /// The rule for names and titles in the index of requests, and the file with the secret that encrypts them.
    public let (indexNames, indexKeyFile): (IndexNamesRule, String?)

    init(_ read: inout SettingReader) throws(SettingsError) {
        listen = try read(
            "gateway.listen", as: .address, default: "127.0.0.1:8080",
            summary: "Where the gateway serves apps; port 0 takes a free one.")
        usersFile = read.optional(
            "gateway.users_file", as: .file("the path of a file"),
            summary: "The file of the people who sign in with name and password, which `pushfan users set` writes.")
        keysFile = read.optional(
            "gateway.keys_file", as: .file("the path of a file"),
            summary: "The file of the keys that back ends publish with, which `pushfan keys create` writes.")
        tokens = try TokenSettings(&read)
        page = try read(
            "gateway.ui", as: .word([(word: "auto", value: .auto), (word: "on", value: .on), (word: "off", value: .off)]),
            default: "auto",
            summary:
                "Whether the web page is served at /ui, for those with a key; auto is on where gateway.listen is loopback, a keys file is set, and gateway.trust_proxy is not."
        )
        allowsDemoSignIn = try read(
            "gateway.demo_auth", as: .boolean, default: "false",
            summary: "Whether everybody may sign in whose password is the name; on a loopback address only, for demonstrations.")
        trustedProxies =
            read.optional(
                "gateway.trust_proxy", as: .list(of: .peerAddress),
                summary:
                    "The proxies in front, which end TLS and whose X-Forwarded-For counts; without one it listens on a loopback address only."
            ) ?? []
        let tracksOutcome = try read(
            "gateway.track_outcome", as: .boolean, default: "false",
            summary: "Whether a notification of an app also waits for the outcomes of its calls; Standard tier only.")
        self.tracksOutcome = tracksOutcome
        sendWait =
            read.optional(
                "gateway.send_wait", as: .duration(.seconds(1) ... .seconds(300)),
                summary: "How long a notification of an app waits for its result; 10s by default, 45s with gateway.track_outcome."
            ) ?? (tracksOutcome ? .seconds(45) : .seconds(10))
        sendLife = try read(
            "gateway.send_ttl", as: .duration(.seconds(1) ... .seconds(2_419_200)), default: "1h",
            summary: "After which a notification of an app is not sent any more.")
        isAlwaysSecure = try read(
            "gateway.secure_push", as: .word([(word: "on_request", value: false), (word: "always", value: true)]),
            default: "on_request",
            summary: "Which notifications of apps carry an id in place of their text: those with `?secure=true`, or all of them.")
        idempotencyFile = read.optional(
            "gateway.idempotency_file", as: .line("the path of a file"),
            summary: "Where the answers to calls with an Idempotency-Key are kept for 24 h; without it in memory alone.")
        reservedTags =
            read.optional("gateway.reserved_tags", as: .list(of: .tag), summary: "The tags that no app may give its own device.")
            ?? []
        deviceRate = try read(
            "gateway.device_rate", as: .integer(1...100_000), default: "200", unit: "calls per second",
            summary: "What the gateway may ask each hub about devices; after a rest twice as much at once.")
        docsURL = read.optional(
            "gateway.docs_url", as: .pages,
            summary: "The address before a code, where pages say what it means; the gateway's problems then have it as `type`.")
        title = read.optional(
            "gateway.title", as: .line("a name of 1 to 40 characters", atMost: 40),
            summary: "The name of the environment, such as production, which the page shows beside its own.")
        stateFolder = read.optional(
            "gateway.state_dir", as: .line("the path of a folder"),
            summary:
                "The folder of indexes of requests and results, and of plans of replays; without it both are read from Kafka, and nothing is planned."
        )
        indexKeep = try read(
            "gateway.index.keep", as: .duration(.seconds(3600) ... .seconds(2_419_200)), default: "168h",
            summary: "The age at which requests leave the index in gateway.state_dir; what is older is read from Kafka.")
        indexBytes = try read(
            "gateway.index.bytes", as: .byteCount(64 << 20...1 << 40), default: "8GiB",
            summary: "The most bytes of the index of requests; beyond them the oldest hour goes.")
        indexNames = try read(
            "gateway.index.names", as: .choice, default: "plain",
            summary: "How users, installations and titles stand in the index of requests: as they are, encrypted, or not at all.")
        indexKeyFile = read.optional(
            "gateway.index.key_file", as: .file("the path of a file"),
            summary:
                "The file with 32 random bytes or more that encrypt the index of requests, for gateway.index.names: encrypted.")
    }
}

/// The settings of the service that calls receivers.
public struct CallbackSettings: Sendable {
    /// The file of the receivers.
    public let receiversFile: String?
    /// The consumer group by which several processes share the work.
    public let groupID: String
    /// The stable name of this process in it.
    public let instance: String

    init(_ read: inout SettingReader) throws(SettingsError) {
        receiversFile = read.optional(
            "callbacks.receivers_file", as: .file("the path of a file"),
            summary: "The file of the receivers of callbacks, with their secrets; read again within 2 s of a change.")
        groupID = try read(
            "callbacks.group_id", as: .name("a consumer group", atMost: 249), default: "pushfan-callbacks",
            summary:
                "The consumer group by which several `pushfan callbacks` share the work; each receiver has one of its own besides."
        )
        instance = try read(
            "callbacks.instance", as: .name("a name", atMost: 128), default: read.hostName, dependsOnPlace: true,
            summary: "The stable name of this `pushfan callbacks` in that group; the host's name by default.")
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

    init(_ read: inout SettingReader) throws(SettingsError) {
        maxAttempts = try read(
            "retry.max_attempts", as: .integer(1...20), default: "4", unit: "calls",
            summary: "Calls made for one send, the first included.")
        base = try read(
            "retry.base", as: .duration(.milliseconds(1) ... .seconds(3600)), default: "1s",
            summary: "The longest wait before the second call.")
        factor = try read(
            "retry.factor", as: .decimal(1...10), default: "2", summary: "How much longer each further wait may be.")
        cap = try read(
            "retry.cap", as: .duration(.milliseconds(1) ... .seconds(3600)), default: "60s",
            summary: "The longest wait, unless the hub asks for a longer one.")
    }
}
