import CurlHTTP
public import Kafka
public import Observability

/// Every setting of pushfan, checked.
///
/// A flag beats the environment, which beats the file, which beats the default.
public struct Settings: Sendable {
    /// The settings of the connection to Kafka and of its use.
    public let kafka: KafkaSettings
    /// The settings of a worker.
    public let worker: WorkerSettings
    /// The settings of the hub. With several hubs, they are the defaults of the others.
    public let hub: HubSettings
    /// The hubs beside it, in the file's order.
    public let namedHubs: [HubSettings]
    /// Names that stand for several hubs.
    public let spreads: [SpreadSettings]
    /// The hub, or the spread, of a tenant's requests that name none.
    public let tenantHubs: [TenantHubSetting]
    /// The hub, or the spread, of all others that name none, or nil to refuse them.
    public let defaultHub: String?
    /// The delays between repeated calls.
    public let retry: RetrySettings
    /// The settings of the gateway for apps and back ends.
    public let gateway: GatewaySettings
    /// The address of health and metrics.
    public let listen: ListenAddress
    /// The settings of the log.
    public let log: LogSettings

    /// The environment's proxy variables, which may hold logins.
    let proxyVariables: Redacted<[String: String]>

    /// No setting: hears whether a broker answers the Kafka clients that are made with these.
    public var brokerWatch: BrokerWatch?

    private let values: SettingValues

    /// Gathers, weighs and checks all settings.
    ///
    /// - Parameters:
    ///   - flags: The flags of the command line. Of two for one key the later counts.
    ///   - configPath: The settings file that a flag names. `PUSHFAN_CONFIG` counts when it is nil.
    ///   - environment: All variables. Only names that begin with `PUSHFAN_` and those of proxies count.
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
        let namedHubs = values.named.hubs.map { HubSettings(values, keys: $0, like: hub) }
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

    /// Every key with its value and its source, in the schema's order, without secrets.
    public func describe() -> [SettingRow] {
        let named = values.named.definitions.filter { values.shown($0) != nil }
        return (SettingsSchema.all + named).map { definition in
            SettingRow(
                key: definition.name, value: values.shown(definition) ?? "", origin: values.origin(of: definition))
        }
    }
}

/// The settings of the log.
public struct LogSettings: Sendable {
    /// The lowest level that is written.
    public let level: LogLevel
    /// The format of log lines.
    public let format: LogFormat
}
