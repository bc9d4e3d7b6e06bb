import CurlHTTP
public import Kafka
public import Observability

/// Every setting of pushfan, checked.
///
/// A flag beats the environment, which beats the file, which beats the default.
public struct Settings: Sendable {
    /// How to reach and use Kafka.
    public let kafka: KafkaSettings
    /// How a worker works.
    public let worker: WorkerSettings
    /// How to reach and use the hub; where there are several, what holds for those that do not say otherwise.
    public let hub: HubSettings
    /// The hubs beside it, in the file's order.
    public let namedHubs: [HubSettings]
    /// Names that stand for several hubs.
    public let spreads: [SpreadSettings]
    /// The hub, or the spread, of a tenant's requests that name none.
    public let tenantHubs: [TenantHubSetting]
    /// The hub, or the spread, of all others that name none; nil to refuse them.
    public let defaultHub: String?
    /// When to call again.
    public let retry: RetrySettings
    /// How the gateway serves apps and back ends.
    public let gateway: GatewaySettings
    /// Where health and metrics are served.
    public let listen: ListenAddress
    /// What is logged, and how.
    public let log: LogSettings

    /// What the environment says of proxies; may hold logins.
    let proxyVariables: Redacted<[String: String]>

    /// No setting: hears whether a broker answers the Kafka clients that are made with these.
    public var brokerWatch: BrokerWatch?

    private let values: SettingValues

    /// Gathers, weighs and checks all settings.
    ///
    /// - Parameters:
    ///   - flags: From the command line; of two for one key the later counts.
    ///   - configPath: The settings file that a flag names; `PUSHFAN_CONFIG` counts when it is nil.
    ///   - environment: All of it; only names that begin with `PUSHFAN_` and those of proxies matter.
    ///   - hostName: The default of `worker.id`.
    ///   - readFile: Reads the settings file and the files of secrets.
    /// - Returns: Settings without a fault.
    /// - Throws: `SettingsError` with every problem there is.
    public static func load(
        flags: [SettingFlag] = [], configPath: String? = nil, environment: [String: String],
        hostName: String = Host.name, readFile: @escaping (String) throws -> [UInt8] = Host.readFile
    ) throws(SettingsError) -> Settings {
        var sources = SettingSources(readFile: readFile)
        if let path = configPath {
            sources.add(file: path, namedBy: .flag("--config"))
        } else if let path = environment[SettingVariables.file], !path.isEmpty {
            sources.add(file: path, namedBy: .variable(SettingVariables.file))
        }
        sources.add(environment: environment)
        sources.add(flags: flags)
        let values = SettingValues(sources.candidates, named: sources.named, hostName: hostName)
        let problems = sources.problems + values.problems()
        guard problems.isEmpty else { throw SettingsError(problems: problems) }
        return try Settings(values, proxyVariables: environment.filter { ProxyChoice.isVariable($0.key) })
    }

    private init(_ values: SettingValues, proxyVariables: [String: String]) throws(SettingsError) {
        kafka = try KafkaSettings(values)
        worker = try WorkerSettings(values)
        let hub = try HubSettings(values)
        self.hub = hub
        let namedHubs = values.named.hubs.map { HubSettings(values, $0, like: hub) }
        self.namedHubs = namedHubs
        spreads = values.named.spreads.map { SpreadSettings(name: $0.name, hubs: values[$0.key] ?? []) }
        tenantHubs = values[SettingsSchema.tenantHubs] ?? []
        defaultHub =
            values[SettingsSchema.defaultHub] ?? hub.name ?? (namedHubs.count == 1 ? namedHubs.first?.key : nil)
        retry = try RetrySettings(values)
        gateway = try GatewaySettings(values)
        listen = try values.value(SettingsSchema.listen)
        log = try LogSettings(
            level: values.value(SettingsSchema.logLevel), format: values.value(SettingsSchema.logFormat))
        self.proxyVariables = Redacted(proxyVariables)
        self.values = values
    }

    /// Every key with its value and where that came from, in the schema's order; no secret is among them.
    public func describe() -> [SettingRow] {
        let named = values.named.definitions.filter { values.shown($0) != nil }
        return (SettingsSchema.all + named).map { definition in
            SettingRow(
                key: definition.name, value: values.shown(definition) ?? "", origin: values.origin(of: definition))
        }
    }
}

/// What is logged, and how.
public struct LogSettings: Sendable {
    /// The lowest level that is written.
    public let level: LogLevel
    /// How lines look.
    public let format: LogFormat
}
