public import Observability
import PushModel

/// The settings of a hub and of the calls to it.
public struct HubSettings: Sendable {
    /// The hub's name in a file with several, or nil for the hub of the section `hub`.
    public let key: String?
    /// The connection string, not read yet.
    public let connectionString: Redacted<String>?
    /// The policy's other key.
    public let secondaryKey: Redacted<String>?
    /// The hub's name, as it stands in the path.
    public let name: String?
    /// The region of the hub.
    public let region: String?
    /// The version of the REST API, as `YYYY-MM`.
    public let apiVersion: String
    /// The time limit of a call.
    public let requestTimeout: Duration
    /// The time limit of opening a connection.
    public let connectTimeout: Duration
    /// The lifetime of a signed token.
    public let tokenLifetime: Duration
    /// The number of connections kept open, at least one.
    public let maxConnections: Int
    /// Calls that one loop may have in flight.
    public let maxInFlight: Int
    /// The age at which a connection is replaced.
    public let maxConnectionAge: Duration
    /// A PEM file of certificates to trust instead of the system's.
    public let authorityFile: String?
    /// The number of sends that all workers together may make in a second, or 0 for no limit.
    public let rateLimit: Int
    /// True if fewer calls are in flight when the hub gets slow or loses them.
    public let adaptsConcurrency: Bool
    /// The platforms a message goes to when its request names none, in the hub's words.
    public let platforms: [String]
    /// The tag of a user, with `{user}` for the user's name.
    public let userTag: String
    /// True if outcomes are followed of requests that do not choose.
    public let tracksOutcomes: Bool
    /// The longest time for which the hub is polled for an outcome.
    public let outcomeDeadline: Duration
    /// The proxy's URL.
    public let proxy: Redacted<String>?

    /// The connections that the settings name, or 0 for as many as calls in flight.
    private let connectionSetting: Int

    /// Reads the hub of the section `hub`, or with `key` one of several, which is like `base` where it has no value of its own.
    /// `calls` is what a loop may have in flight, of the section `worker`.
    init(
        _ read: inout SettingReader, key: String? = nil, like base: HubSettings? = nil, maxInFlight calls: Int
    ) throws(SettingsError) {
        let section = key.map { "hubs.\($0)" } ?? "hub"
        self.key = key
        let own = read.optional(
            section + ".connection_string", as: .secret, summary: "The hub's connection string, with a policy that may send.")
        connectionString = own ?? base?.connectionString
        // Both keys are of one policy.
        secondaryKey =
            read.optional(
                section + ".secondary_key", as: .secret,
                summary: "The other key of the same policy, tried when the first is refused.")
            ?? (own == nil ? base?.secondaryKey : nil)
        name = read.optional(section + ".name", as: .name("a hub's name", atMost: 260), summary: "The hub's name.") ?? key
        region =
            read.optional(section + ".region", as: .line("a name such as westeurope"), summary: "Where the hub is, for people.")
            ?? base?.region
        apiVersion = try read(
            section + ".api_version", as: .month, default: "2020-06", like: base?.apiVersion,
            summary: "The version of the hub's REST API.")
        requestTimeout = try read(
            section + ".request_timeout", as: .duration(.milliseconds(100) ... .seconds(300)), default: "30s",
            like: base?.requestTimeout, summary: "How long a hub call may take from its first byte to its answer.")
        connectTimeout = try read(
            section + ".connect_timeout", as: .duration(.milliseconds(100) ... .seconds(60)), default: "5s",
            like: base?.connectTimeout, summary: "How long opening a connection to the hub may take, name and TLS included.")
        tokenLifetime = try read(
            section + ".token_lifetime", as: .duration(.seconds(300) ... .seconds(86_400)), default: "1h",
            like: base?.tokenLifetime, summary: "How long a signed token is valid; it is renewed at nine tenths of that.")
        connectionSetting = try read(
            section + ".max_connections", as: .integer(0...4096), default: "0", like: base?.connectionSetting,
            unit: "connections", summary: "Connections kept open to the hub; 0 for as many as worker.max_in_flight.")
        maxConnectionAge = try read(
            section + ".max_connection_age", as: .duration(.seconds(1) ... .seconds(86_400)), default: "15m",
            like: base?.maxConnectionAge,
            summary:
                "How old a connection to the hub may grow; each is replaced at an age of its own in the last quarter of that.")
        maxInFlight =
            base == nil ? calls : try WorkerSettings.maxInFlight(section + ".max_in_flight", by: &read, like: calls)
        maxConnections = connectionSetting > 0 ? connectionSetting : maxInFlight
        authorityFile =
            read.optional(
                section + ".ca_file", as: .file("the path of a PEM file"),
                summary: "Certificates to trust instead of the system's.") ?? base?.authorityFile
        rateLimit = try read(
            section + ".rate_limit", as: .integer(0...1_000_000), default: "0", like: base?.rateLimit, unit: "calls per second",
            summary: "What all workers together may send to the hub; 0 for no limit.")
        adaptsConcurrency = try read(
            section + ".adaptive_concurrency", as: .boolean, default: "true", like: base?.adaptsConcurrency,
            summary: "Whether fewer calls than worker.max_in_flight are in flight when the hub gets slow or loses them.")
        tracksOutcomes = try read(
            section + ".track_outcome", as: .boolean, default: "false", like: base?.tracksOutcomes,
            summary: "Whether outcomes are followed of requests that do not say; Standard tier only.")
        proxy =
            read.optional(section + ".proxy", as: .proxy, summary: "The proxy to reach the hub through; may hold a login.")
            ?? base?.proxy
        if let base {
            (platforms, userTag, outcomeDeadline) = (base.platforms, base.userTag, base.outcomeDeadline)
            return
        }
        platforms = try read(
            "hub.platforms", as: .list(of: .word(Self.platformWords)), default: "apple,fcmv1,windows",
            summary: "The platforms a message goes to when its request names none.")
        userTag = try read(
            "hub.user_tag", as: .userTag, default: "username:{user}", summary: "The tag that stands for a user of a request.")
        outcomeDeadline = try read(
            "hub.outcome_deadline", as: .duration(.seconds(10) ... .seconds(86_400)), default: "35m",
            summary: "How long the hub is polled for an outcome; it tells nothing new after 30 minutes.")
    }

    /// The hub's words for platforms, and the names of the services behind them.
    static let platformWords: [(word: String, value: String)] =
        ["apple", "fcmv1", "gcm", "windows", "apns", "fcm", "wns"].compactMap { word in
            Platform(name: word).map { (word, "\($0.name)") }
        }
}

/// A name that stands for several hubs.
public struct SpreadSettings: Sendable, Equatable {
    /// The name, as requests have it.
    public let name: String
    /// The names of its hubs.
    public let hubs: [String]
}
