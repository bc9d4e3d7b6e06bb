import Delivery
import Observability
import WorkerRuntime

/// The one table of every key. What is not here does not exist.
public enum SettingsSchema {
    static let bootstrapServers = SettingKey(
        "kafka.bootstrap_servers", type: .list(of: .broker), default: "127.0.0.1:9092", summary: "The brokers to ask first.")
    static let groupID = SettingKey(
        "kafka.group_id", type: .name("a consumer group", atMost: 249), default: "pushfan",
        summary: "The consumer group that all workers share.")
    static let properties = SettingKey(
        "kafka.properties", type: .properties, summary: "Properties of librdkafka, passed on unchanged; may hold passwords.")
    static let requestsTopic = topic("requests", default: "push.requests.v1", summary: "The topic that requests are read from.")
    static let requestsHighTopic = topic(
        "requests_high", default: nil,
        summary: "The topic that urgent requests are read from; named after kafka.topics.requests by default.")
    static let requestsBulkTopic = topic(
        "requests_bulk", default: nil,
        summary: "The topic that requests to many are read from; named after kafka.topics.requests by default.")
    static let requestsOwnTopic = topic(
        "requests_own", default: nil,
        summary:
            "The topic of parts of large requests, and of replays, which publishers must not write to; named after kafka.topics.requests by default."
    )
    /// One for each length of `DelayLanes`.
    static let delayTopics = DelayLanes.names.map { length in
        topic(
            "delay_\(length)", default: nil,
            summary: "The topic where requests wait \(length) before they go on; named after kafka.topics.requests by default.")
    }
    static let resultsTopic = topic("results", default: "push.results.v1", summary: "The topic that results are written to.")
    static let deadLetterTopic = topic(
        "deadletter", default: "push.deadletter.v1", summary: "The topic for records that cannot be understood.")
    static let controlTopic = topic(
        "control", default: nil, summary: "The topic that cancels requests; named after kafka.topics.requests by default.")
    static let parentsTopic = topic(
        "parents", default: nil,
        summary: "The topic that keeps large requests until their parts have ended; named after kafka.topics.requests by default."
    )
    static let heldTopic = topic(
        "held", default: nil,
        summary:
            "The topic where requests wait behind one with the same ordering key; named after kafka.topics.requests by default.")
    static let handlesTopic = topic(
        "handles", default: nil,
        summary: "The topic that lists dead device handles; named after kafka.topics.requests by default.")
    static let sharesTopic = topic(
        "shares", default: nil,
        summary: "The topic by which workers divide a hub's rate; named after kafka.topics.requests by default.")
    static let secureTopic = topic(
        "secure", default: nil,
        summary: "The topic that keeps the texts of secure push, encrypted; named after kafka.topics.requests by default.")
    static let replaysTopic = topic(
        "replays", default: "push.replays.v1",
        summary: "The topic in which replays, and the collecting of dead handles, keep how far they are.")
    static let guarantee =
        SettingKey(
            "kafka.delivery_guarantee", type: .choice, default: "exactly_once",
            summary: "Whether results and offsets are one transaction; `at_least_once` may repeat results after a crash."
        ) as SettingKey<DeliveryGuarantee>
    static let start = SettingKey(
        "kafka.start", type: .start, default: "safe",
        summary:
            "Start offset without a committed offset; `safe` leaves partitions in which requests older than 10 minutes wait to `group start`."
    )
    static let sessionTimeout = SettingKey(
        "kafka.session_timeout", type: .duration(.seconds(6) ... .seconds(300)), default: "10s",
        summary: "How long Kafka waits for a silent worker before it reassigns its partitions.")
    static let transactionTimeout = SettingKey(
        // The library waits 10 s for a broker's answer, and refuses a transaction that would end before.
        "kafka.transaction_timeout", type: .duration(.seconds(10) ... .seconds(900)), default: "15s",
        summary: "How long a transaction of a dead worker may hold back readers of results.")

    static let workerID = SettingKey(
        "worker.id", type: .name("a name", atMost: 128),
        summary:
            "The stable name of this worker, from which its membership and transactional id come; the host's name by default.")
    static let loops = SettingKey(
        "worker.loops", type: .integer(1...64), default: "1", unit: "loops",
        summary: "Loops of this process: each a thread and a member of the group, with calls and connections of its own.")
    static let maxInFlight = SettingKey(
        "worker.max_in_flight", type: .integer(1...4096), default: "64", unit: "calls",
        summary: "Hub calls that one loop may have in flight.")
    static let highWeight = weight("high", default: "8", of: "urgent requests")
    static let normalWeight = weight("normal", default: "4", of: "all other requests")
    static let bulkWeight = weight("bulk", default: "1", of: "requests to many")
    static let ownWeight = weight("own", default: "1", of: "parts of large requests, and replays,")
    static let tenantWeights = SettingKey(
        "worker.tenant_weights", type: .tenantWeights,
        summary:
            "The shares of tenants in a lane, beside those of the other tenants that have requests there; 1 for those not named.")
    static let window = SettingKey(
        "worker.window", type: .integer(16...16_384), default: "16384", unit: "offsets",
        summary: "How far one partition is read beyond its oldest unfinished request.")
    static let memory = SettingKey(
        "worker.memory", type: .integer(32...65_536), default: "256", unit: "MiB",
        summary: "Memory limit of a loop for requests and results; at the limit it stops reading (backpressure).")
    static let drainTimeout = SettingKey(
        "worker.drain_timeout", type: .duration(.zero ... .seconds(600)), default: "20s",
        summary: "How long calls in flight may take to finish when the worker stops or loses a partition.")
    static let commitInterval = SettingKey(
        "worker.commit_interval", type: .duration(.milliseconds(1) ... .seconds(5)), default: "60ms",
        summary:
            "Shortest time between commits of results and offsets; at least 250 ms while results are few, 120 ms above 4,000 per s."
    )
    static let deadLetterHeaders =
        SettingKey(
            "worker.dlq_headers", type: .list(of: .choice), default: "native",
            summary: "The spellings of the headers of dead letters."
        ) as SettingKey<[DeadLetterSpelling]>

    static let dedupeWindow = SettingKey(
        "dedupe.window", type: .duration(.zero ... .seconds(604_800)), default: "24h",
        summary: "How long a request with the source and id of an earlier one is a duplicate; 0s checks dedupe keys only.")
    static let dedupeReach = SettingKey(
        "dedupe.reach", type: .integer(0...1_000_000), default: "4000", unit: "offsets",
        summary: "How far back in its partition a duplicate is looked for; 0 sends all, and rejects requests with a dedupe key.")

    static let connectionString = SettingKey(
        "hub.connection_string", type: .secret, summary: "The hub's connection string, with a policy that may send.")
    static let secondaryKey = SettingKey(
        "hub.secondary_key", type: .secret, summary: "The other key of the same policy, tried when the first is refused.")
    static let hubName = SettingKey("hub.name", type: .name("a hub's name", atMost: 260), summary: "The hub's name.")
    static let region = SettingKey(
        "hub.region", type: .line("a name such as westeurope"), summary: "Where the hub is, for people.")
    static let apiVersion = SettingKey(
        "hub.api_version", type: .month, default: "2020-06", summary: "The version of the hub's REST API.")
    static let requestTimeout = SettingKey(
        "hub.request_timeout", type: .duration(.milliseconds(100) ... .seconds(300)), default: "30s",
        summary: "How long a hub call may take from its first byte to its answer.")
    static let connectTimeout = SettingKey(
        "hub.connect_timeout", type: .duration(.milliseconds(100) ... .seconds(60)), default: "5s",
        summary: "How long opening a connection to the hub may take, name and TLS included.")
    static let tokenLifetime = SettingKey(
        "hub.token_lifetime", type: .duration(.seconds(300) ... .seconds(86_400)), default: "1h",
        summary: "How long a signed token is valid; it is renewed at nine tenths of that.")
    static let maxConnections = SettingKey(
        "hub.max_connections", type: .integer(0...4096), default: "0", unit: "connections",
        summary: "Connections kept open to the hub; 0 for as many as worker.max_in_flight.")
    static let maxConnectionAge = SettingKey(
        "hub.max_connection_age", type: .duration(.seconds(1) ... .seconds(86_400)), default: "15m",
        summary: "How old a connection to the hub may grow; each is replaced at an age of its own in the last quarter of that.")
    static let authorityFile = SettingKey(
        "hub.ca_file", type: .line("the path of a PEM file"), summary: "Certificates to trust instead of the system's.")
    static let rateLimit = SettingKey(
        "hub.rate_limit", type: .integer(0...1_000_000), default: "0", unit: "calls per second",
        summary: "What all workers together may send to the hub; 0 for no limit.")
    static let adaptsConcurrency = SettingKey(
        "hub.adaptive_concurrency", type: .boolean, default: "true",
        summary: "Whether fewer calls than worker.max_in_flight are in flight when the hub gets slow or loses them.")
    static let platforms = SettingKey(
        "hub.platforms", type: .list(of: .word(platformWords)), default: "apple,fcmv1,windows",
        summary: "The platforms a message goes to when its request names none.")
    static let userTag = SettingKey(
        "hub.user_tag", type: .userTag, default: "username:{user}", summary: "The tag that stands for a user of a request.")
    static let trackOutcome = SettingKey(
        "hub.track_outcome", type: .boolean, default: "false",
        summary: "Whether outcomes are followed of requests that do not say; Standard tier only.")
    static let outcomeDeadline = SettingKey(
        "hub.outcome_deadline", type: .duration(.seconds(10) ... .seconds(86_400)), default: "35m",
        summary: "How long the hub is polled for an outcome; it tells nothing new after 30 minutes.")
    static let proxy = SettingKey("hub.proxy", type: .proxy, summary: "The proxy to reach the hub through; may hold a login.")

    static let defaultHub = SettingKey(
        "default_hub", type: .name("a hub's name", atMost: 260),
        summary:
            "The hub, or the spread, of requests that name none and whose tenant has none; the one of section hub, or the only one, by default."
    )
    static let tenantHubs = SettingKey(
        "tenants", type: .tenantHubs, summary: "The hub, or the spread, of a tenant's requests that name none.")

    static let maxAttempts = SettingKey(
        "retry.max_attempts", type: .integer(1...20), default: "4", unit: "calls",
        summary: "Calls made for one send, the first included.")
    static let retryBase = SettingKey(
        "retry.base", type: .duration(.milliseconds(1) ... .seconds(3600)), default: "1s",
        summary: "The longest wait before the second call.")
    static let retryFactor = SettingKey(
        "retry.factor", type: .decimal(1...10), default: "2", summary: "How much longer each further wait may be.")
    static let retryCap = SettingKey(
        "retry.cap", type: .duration(.milliseconds(1) ... .seconds(3600)), default: "60s",
        summary: "The longest wait, unless the hub asks for a longer one.")

    static let usersFile = SettingKey(
        "gateway.users_file", type: .line("the path of a file"),
        summary: "The file of the people who sign in with name and password, which `pushfan users set` writes.")
    static let keysFile = SettingKey(
        "gateway.keys_file", type: .line("the path of a file"),
        summary: "The file of the keys that back ends publish with, which `pushfan keys create` writes.")
    static let gatewayListen = SettingKey(
        "gateway.listen", type: .address, default: "127.0.0.1:8080",
        summary: "Where the gateway serves apps; port 0 takes a free one.")
    static let demoAuth = SettingKey(
        "gateway.demo_auth", type: .boolean, default: "false",
        summary: "Whether everybody may sign in whose password is the name; on a loopback address only, for demonstrations.")
    static let trustProxy = SettingKey(
        "gateway.trust_proxy", type: .list(of: .peerAddress),
        summary:
            "The proxies in front, which end TLS and whose X-Forwarded-For counts; without one it listens on a loopback address only."
    )
    static let sendWait = SettingKey(
        "gateway.send_wait", type: .duration(.seconds(1) ... .seconds(300)),
        summary: "How long a notification of an app waits for its result; 10s by default, 45s with gateway.track_outcome.")
    static let gatewayTrackOutcome = SettingKey(
        "gateway.track_outcome", type: .boolean, default: "false",
        summary: "Whether a notification of an app also waits for the outcomes of its calls; Standard tier only.")
    static let sendLife = SettingKey(
        "gateway.send_ttl", type: .duration(.seconds(1) ... .seconds(2_419_200)), default: "1h",
        summary: "After which a notification of an app is not sent any more.")
    static let securePush =
        SettingKey(
            "gateway.secure_push", type: .word([(word: "on_request", value: false), (word: "always", value: true)]),
            default: "on_request",
            summary: "Which notifications of apps carry an id in place of their text: those with `?secure=true`, or all of them."
        ) as SettingKey<Bool>
    static let idempotencyFile = SettingKey(
        "gateway.idempotency_file", type: .line("the path of a file"),
        summary: "Where the answers to calls with an Idempotency-Key are kept for 24 h; without it in memory alone.")
    static let reservedTags = SettingKey(
        "gateway.reserved_tags", type: .list(of: .tag), summary: "The tags that no app may give its own device.")
    static let docsURL = SettingKey(
        "gateway.docs_url", type: .pages,
        summary: "The address before a code, where pages say what it means; the gateway's problems then have it as `type`.")

    static let listen = SettingKey(
        "listen", type: .address, default: "127.0.0.1:9464",
        summary:
            "Where /livez, /readyz, /startupz and /metrics are; port 0 takes a free one. The gateway's default is 127.0.0.1:9465."
    )
    static let logLevel = SettingKey(
        "log.level", type: .word(LogLevel.allCases.map { ($0.word, $0) }), default: "info",
        summary: "The lowest level that is logged.")
    static let logFormat =
        SettingKey(
            "log.format", type: .choice, default: "auto",
            summary: "How log lines look; `auto` is text on a terminal and JSON otherwise."
        ) as SettingKey<LogFormat>

    /// Every key, in the order in which people read them.
    public static let all: [SettingDefinition] =
        [
            bootstrapServers.definition, groupID.definition, properties.definition,
        ] + topics.map(\.definition) + [
            guarantee.definition, start.definition, sessionTimeout.definition,
            transactionTimeout.definition, workerID.definition, loops.definition, maxInFlight.definition,
            highWeight.definition, normalWeight.definition, bulkWeight.definition, ownWeight.definition, tenantWeights.definition,
            window.definition, memory.definition,
            drainTimeout.definition, commitInterval.definition, deadLetterHeaders.definition, dedupeWindow.definition,
            dedupeReach.definition, connectionString.definition,
            secondaryKey.definition, hubName.definition, region.definition, apiVersion.definition, requestTimeout.definition,
            connectTimeout.definition, tokenLifetime.definition, maxConnections.definition, maxConnectionAge.definition,
            authorityFile.definition, rateLimit.definition, adaptsConcurrency.definition,
            platforms.definition, userTag.definition, trackOutcome.definition, outcomeDeadline.definition, proxy.definition,
            defaultHub.definition, tenantHubs.definition,
            maxAttempts.definition, retryBase.definition,
            retryFactor.definition, retryCap.definition, gatewayListen.definition, usersFile.definition, keysFile.definition,
            demoAuth.definition, trustProxy.definition, sendWait.definition, gatewayTrackOutcome.definition, sendLife.definition,
            securePush.definition, idempotencyFile.definition, reservedTags.definition, docsURL.definition, listen.definition,
            logLevel.definition,
            logFormat.definition,
        ]

    /// The keys that name topics.
    static let topics =
        [requestsTopic, requestsHighTopic, requestsBulkTopic, requestsOwnTopic] + delayTopics + [
            resultsTopic, deadLetterTopic, replaysTopic, controlTopic, parentsTopic, heldTopic, handlesTopic,
            sharesTopic, secureTopic,
        ]

    /// The hub's words for platforms, and the names of the services behind them.
    private static let platformWords: [(word: String, value: String)] = [
        ("apple", "apple"), ("fcmv1", "fcmv1"), ("gcm", "gcm"), ("windows", "windows"), ("apns", "apple"), ("fcm", "fcmv1"),
        ("wns", "windows"),
    ]

    private static func weight(_ lane: String, default weight: String, of what: String) -> SettingKey<Int> {
        SettingKey(
            "worker.weights.\(lane)", type: .integer(1...1000), default: weight,
            summary: "The share of \(what) in what the worker sends, beside the weights of the other lanes that have some.")
    }

    /// The topics without a name of their own are named after that of the requests.
    static func derivedTopics(_ requests: String) -> [(definition: SettingDefinition, name: String)] {
        let family = TopicFamily(requests: requests)
        return [
            (requestsHighTopic.definition, family.lane("high")), (requestsBulkTopic.definition, family.lane("bulk")),
            (requestsOwnTopic.definition, family.lane("own")),
            (controlTopic.definition, family.topic("control")), (parentsTopic.definition, family.topic("parents")),
            (heldTopic.definition, family.topic("held")), (handlesTopic.definition, family.topic("handles")),
            (sharesTopic.definition, family.topic("shares")), (secureTopic.definition, family.topic("secure")),
        ] + zip(delayTopics, DelayLanes.names).map { ($0.definition, family.topic("delay-\($1)")) }
    }

    private static func topic(_ role: String, default name: String?, summary: String) -> SettingKey<String> {
        SettingKey("kafka.topics.\(role)", type: .name("a topic", atMost: 249), default: name, summary: summary)
    }
}
