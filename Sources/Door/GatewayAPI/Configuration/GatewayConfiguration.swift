public import CurlHTTP
public import Delivery
public import FanOut
package import GroupPositions
public import HubREST
public import Intake
public import Kafka
package import Publishing
public import UserTokens

/// Everything that a gateway gets when it starts.
public struct GatewayConfiguration: Sendable {
    /// The source of the requests of apps (CloudEvents, `source`).
    package static let source = "/pushfan/gateway"

    /// The program's version.
    public var version: String
    /// Where apps are served: `host:port`, IPv6 in brackets; port 0 takes a free one. Default `127.0.0.1:8080`.
    public var listen = "127.0.0.1:8080"
    /// The file of the people who sign in; nil where only the rule of demonstrations lets users in.
    public var usersFile: String?
    /// The file of the keys that back ends publish with; nil where none do.
    public var keysFile: String?
    /// True if the web page is served. It needs `keysFile`. Default no.
    public var servesPage = false
    /// Whether everybody may sign in whose password is the name, default no.
    public var allowsDemoSignIn = false
    /// The tokens that users may sign in with, or nil where they may not.
    public var tokens: TokenVerifier.Configuration?
    /// Addresses, and ranges of them such as `10.0.0.0/8`, of the proxies in front; their `X-Forwarded-For` is believed.
    public var trustedProxies: [String] = []
    /// How long a notification of an app waits for its result, default 10 s.
    public var sendWait = Duration.seconds(10)
    /// Whether it waits for the outcomes of its calls, too; default no.
    public var tracksOutcome = false
    /// After which it is not sent any more, default 1 h.
    public var sendLife = Duration.seconds(3600)
    /// Whether every notification of an app is a secure push, also one that does not ask for it; default no.
    public var isAlwaysSecure = false
    /// The file that keeps the answers to calls with an `Idempotency-Key` for 24 h, or nil to keep them in memory alone.
    public var idempotencyFile: String?
    /// Offsets back in its partition within which workers find a repeated request, default 4,000. For a warning alone.
    public var dedupeReach = 4_000
    /// The tags that no app may give its own device.
    public var reservedTags: [String] = []
    /// The address before a code, where pages say what it means, such as `https://example.com/pushfan#`; nil for none.
    public var docsURL: String?
    /// The name of the environment, such as `production`, that the page shows. Default none.
    public var title: String?
    /// The tag of a user, with `{user}` for the name, as the workers have it.
    public var userTag = "username:{user}"
    /// The hub of requests that name none, or the first of a spread that is the default.
    public var first: Hub
    /// The other hubs that devices are registered at. Default none.
    public var otherHubs: [Hub] = []
    /// The targets of the names of hubs and spreads. A hub's number is its place in `hubs`. Default to the first one.
    public var routes: HubRoutes
    /// The targets of the names of all hubs and spreads of the settings, whose numbers tell the hubs apart that there really are. They say
    /// which hub is a tenant's alone. Default nil: those of `routes`.
    public var tenancy: HubRoutes?
    /// Hubs and spreads of the settings that are not served, by name, and the reason. Default none.
    public var leftOut: [String: String] = [:]
    /// Calls a second about devices, to each hub. Default 200.
    public var deviceRate = 200
    /// The worker whose calls are shown to whoever has a request explained. Default one that has this hub alone.
    public var worker: WorkerSketch
    /// True if `worker` has several hubs, and every one of the settings. Of a single hub workers may have more. Default no.
    public var knowsAllHubs = false
    /// Brokers and client properties.
    public var kafka: KafkaConfiguration
    /// The names of topics.
    public var topics = Topics()
    /// The group of the workers, whose place in the topics is shown.
    public var groupID = "pushfan-workers"
    /// Where the group begins in partitions without a position.
    public var groupStart = StartRule.safe
    /// Folder of plans of replays and of the indexes; nil for none.
    public var stateFolder: String?
    /// The bounds and the secrecy of the index of requests in that folder.
    public var index = RequestIndexTerms()
    /// How a worker makes calls of audiences, for plans of replays.
    public var planning = FanOutPlanner.Configuration()
    /// Calls that a worker has in flight at once, for the price of a plan. Default 64.
    public var callsAtOnce = 64

    package var requestTopics: RequestTopics {
        RequestTopics(high: topics.requestsHigh, normal: topics.requests, bulk: topics.requestsBulk)
    }

    /// What decides where partitions begin.
    package var groupTerms: GroupTerms { GroupTerms(kafka: kafka, group: groupID, topics: topics, start: groupStart) }

    /// A gateway with the defaults.
    public init(
        version: String, hubName: String, hub: HubConfiguration, connections: ConnectionPoolConfiguration,
        kafka: KafkaConfiguration
    ) {
        self.version = version
        first = Hub(name: hubName, configuration: hub, connections: connections)
        routes = HubRoutes(hubs: [(hubName, 0)], defaultName: hubName)
        worker = WorkerSketch(only: WorkerSketch.Hub(name: hubName, configuration: hub))
        self.kafka = kafka
    }
}

extension GatewayConfiguration {
    /// One hub that devices are registered at.
    public struct Hub: Sendable {
        /// The name, as requests have it.
        public var name: String
        /// The hub, and whose rights to use: Listen for registrations, Send for telemetry, Manage for the devices of a user.
        public var configuration: HubConfiguration
        /// The way to reach it.
        public var connections: ConnectionPoolConfiguration
        /// The time that one call may take. Default 30 s.
        public var timeout = Duration.seconds(30)

        /// A hub with the defaults.
        public init(name: String, configuration: HubConfiguration, connections: ConnectionPoolConfiguration) {
            self.name = name
            self.configuration = configuration
            self.connections = connections
        }
    }

    /// All hubs that devices are registered at.
    public var hubs: [Hub] { [first] + otherHubs }
    /// The first hub's name, as requests have it.
    public var hubName: String { first.name }
    /// The first hub.
    public var hub: HubConfiguration { first.configuration }
    /// The connections to the first hub.
    public var connections: ConnectionPoolConfiguration { first.connections }
    /// The time that one call of the first hub may take.
    public var hubTimeout: Duration {
        get { first.timeout }
        set { first.timeout = newValue }
    }
}

/// The bounds and the secrecy of a gateway's index of requests.
public struct RequestIndexTerms: Sendable, Equatable {
    /// The rules for names of users and devices, and for titles.
    public enum Names: Sendable, Equatable {
        /// They are kept as they are.
        case plain
        /// They are kept encrypted, with the secret that the file holds.
        case encrypted(keyFile: String)
        /// They are not kept.
        case omitted
    }

    /// The age at which a request leaves the index. Default 7 days.
    public var keep = Duration.seconds(604_800)
    /// The most bytes of its files. Default 8 GiB.
    public var byteLimit = 8 << 30
    /// The rule for names. Default `plain`.
    public var names = Names.plain

    /// The defaults.
    public init() {}
}
