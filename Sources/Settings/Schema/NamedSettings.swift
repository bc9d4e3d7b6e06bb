import Observability

/// The keys of things that the settings file names: hubs, and spreads over hubs.
///
/// They are known after the file was read. A variable can set a key of a section that the file names, but not add a section.
struct NamedSettings: Sendable {
    /// The most hubs that a file can name.
    static let maximumHubs = 256

    /// The hubs, in the file's order.
    private(set) var hubs: [HubKeys] = []
    /// The spreads, in the file's order.
    private(set) var spreads: [SpreadKey] = []

    /// Every key of theirs.
    var definitions: [SettingDefinition] { hubs.flatMap(\.definitions) + spreads.map(\.key.definition) }

    /// The section of hubs, and that of spreads.
    static let sections = ["hubs", "spreads"]

    /// Takes a name in.
    ///
    /// - Parameters:
    ///   - name: The name as the file has it.
    ///   - section: One of `sections`.
    /// - Returns: The fault of the name, or nil when there is none.
    mutating func add(_ name: String, to section: String) -> String? {
        guard name.wholeMatch(of: #/[a-z0-9][a-z0-9._-]{0,62}/#) != nil else {
            return "is not a name that requests can have: 1 to 63 small letters, digits, '.', '_' and '-'"
        }
        guard section == "hubs" else {
            spreads.append(SpreadKey(name))
            return nil
        }
        guard hubs.count < Self.maximumHubs else { return "is one hub more than \(Self.maximumHubs)" }
        let keys = HubKeys(name)
        if let other = hubs.first(where: { $0.hubName.definition.variable == keys.hubName.definition.variable }) {
            return "has the same variables as \(other.name)"
        }
        hubs.append(keys)
        return nil
    }
}

/// The key of a name that stands for several hubs.
struct SpreadKey: Sendable {
    let name: String
    let key: SettingKey<[String]>

    fileprivate init(_ name: String) {
        self.name = name
        key = SettingKey(
            "spreads.\(name)", type: .list(of: .name("a hub", atMost: 260)), summary: "The hubs that the name stands for.")
    }
}

/// The keys of one hub among several. What is not set is as in the section `hub`.
struct HubKeys: Sendable {
    let name: String
    let connectionString: SettingKey<Redacted<String>>
    let secondaryKey: SettingKey<Redacted<String>>
    let hubName: SettingKey<String>
    let region: SettingKey<String>
    let apiVersion: SettingKey<String>
    let requestTimeout: SettingKey<Duration>
    let connectTimeout: SettingKey<Duration>
    let tokenLifetime: SettingKey<Duration>
    let maxConnections: SettingKey<Int>
    let maxConnectionAge: SettingKey<Duration>
    let maxInFlight: SettingKey<Int>
    let authorityFile: SettingKey<String>
    let rateLimit: SettingKey<Int>
    let adaptsConcurrency: SettingKey<Bool>
    let trackOutcome: SettingKey<Bool>
    let proxy: SettingKey<Redacted<String>>

    init(_ name: String) {
        self.name = name
        func key<Value>(_ role: String, like model: SettingKey<Value>) -> SettingKey<Value> {
            SettingKey("hubs.\(name).\(role)", type: model.type, unit: model.definition.unit, summary: model.definition.summary)
        }
        connectionString = key("connection_string", like: SettingsSchema.connectionString)
        secondaryKey = key("secondary_key", like: SettingsSchema.secondaryKey)
        hubName = key("name", like: SettingsSchema.hubName)
        region = key("region", like: SettingsSchema.region)
        apiVersion = key("api_version", like: SettingsSchema.apiVersion)
        requestTimeout = key("request_timeout", like: SettingsSchema.requestTimeout)
        connectTimeout = key("connect_timeout", like: SettingsSchema.connectTimeout)
        tokenLifetime = key("token_lifetime", like: SettingsSchema.tokenLifetime)
        maxConnections = key("max_connections", like: SettingsSchema.maxConnections)
        maxConnectionAge = key("max_connection_age", like: SettingsSchema.maxConnectionAge)
        maxInFlight = key("max_in_flight", like: SettingsSchema.maxInFlight)
        authorityFile = key("ca_file", like: SettingsSchema.authorityFile)
        rateLimit = key("rate_limit", like: SettingsSchema.rateLimit)
        adaptsConcurrency = key("adaptive_concurrency", like: SettingsSchema.adaptsConcurrency)
        trackOutcome = key("track_outcome", like: SettingsSchema.trackOutcome)
        proxy = key("proxy", like: SettingsSchema.proxy)
    }

    var definitions: [SettingDefinition] {
        [
            connectionString.definition, secondaryKey.definition, hubName.definition, region.definition, apiVersion.definition,
            requestTimeout.definition, connectTimeout.definition, tokenLifetime.definition, maxConnections.definition,
            maxConnectionAge.definition, maxInFlight.definition, authorityFile.definition, rateLimit.definition,
            adaptsConcurrency.definition, trackOutcome.definition, proxy.definition,
        ]
    }
}
