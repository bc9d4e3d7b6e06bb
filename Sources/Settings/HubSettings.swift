public import Observability

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

    init(_ values: SettingValues) throws(SettingsError) {
        key = nil
        region = values[SettingsSchema.region]
        maxInFlight = try values.value(SettingsSchema.maxInFlight)
        connectionString = values[SettingsSchema.connectionString]
        secondaryKey = values[SettingsSchema.secondaryKey]
        name = values[SettingsSchema.hubName]
        apiVersion = try values.value(SettingsSchema.apiVersion)
        requestTimeout = try values.value(SettingsSchema.requestTimeout)
        connectTimeout = try values.value(SettingsSchema.connectTimeout)
        tokenLifetime = try values.value(SettingsSchema.tokenLifetime)
        let connections = try values.value(SettingsSchema.maxConnections)
        maxConnections = connections > 0 ? connections : maxInFlight
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

    /// One of several hubs. A missing value is as in `base`.
    init(_ values: SettingValues, keys: HubKeys, like base: HubSettings) {
        key = keys.name
        let own = values[keys.connectionString]
        connectionString = own ?? base.connectionString
        // Both keys are of one policy.
        secondaryKey = values[keys.secondaryKey] ?? (own == nil ? base.secondaryKey : nil)
        name = values[keys.hubName] ?? keys.name
        region = values[keys.region] ?? base.region
        apiVersion = values[keys.apiVersion] ?? base.apiVersion
        requestTimeout = values[keys.requestTimeout] ?? base.requestTimeout
        connectTimeout = values[keys.connectTimeout] ?? base.connectTimeout
        tokenLifetime = values[keys.tokenLifetime] ?? base.tokenLifetime
        maxInFlight = values[keys.maxInFlight] ?? base.maxInFlight
        let connections = values[keys.maxConnections] ?? values[SettingsSchema.maxConnections] ?? 0
        maxConnections = connections > 0 ? connections : maxInFlight
        maxConnectionAge = values[keys.maxConnectionAge] ?? base.maxConnectionAge
        authorityFile = values[keys.authorityFile] ?? base.authorityFile
        rateLimit = values[keys.rateLimit] ?? base.rateLimit
        adaptsConcurrency = values[keys.adaptsConcurrency] ?? base.adaptsConcurrency
        platforms = base.platforms
        userTag = base.userTag
        tracksOutcomes = values[keys.trackOutcome] ?? base.tracksOutcomes
        outcomeDeadline = base.outcomeDeadline
        proxy = values[keys.proxy] ?? base.proxy
    }
}

/// A name that stands for several hubs.
public struct SpreadSettings: Sendable, Equatable {
    /// The name, as requests have it.
    public let name: String
    /// The names of its hubs.
    public let hubs: [String]
}
