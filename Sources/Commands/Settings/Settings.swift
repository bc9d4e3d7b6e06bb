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
    /// The settings of the service that calls receivers.
    public let callbacks: CallbackSettings
    /// The address of health and metrics.
    public let listen: ListenAddress
    /// The settings of the log.
    public let log: LogSettings

    /// The environment's proxy variables, which may hold logins.
    let proxyVariables: Redacted<[String: String]>

    /// The files that the hubs' connection strings and keys were read from.
    public private(set) var hubKeyFiles: [String] = []

    /// No setting: hears whether a broker answers the Kafka clients that are made with these.
    public var brokerWatch: BrokerWatch?
    /// No setting: the properties as they are now, for the Kafka clients that are made with these.
    public var liveProperties: LiveProperties?

    let values: SettingReader

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
        var reader = SettingReader(sources.candidates, named: sources.named, hostName: hostName)
        var settings: Settings
        do throws(SettingsError) {
            settings = try Settings(&reader, proxyVariables: environment.filter { ProxyChoice.isVariable($0.key) })
        } catch {
            throw SettingsError(problems: sources.problems + error.problems)
        }
        let problems = sources.problems + reader.problems + settings.contradictions() + settings.wrongNames()
        guard problems.isEmpty else { throw SettingsError(problems: problems) }
        settings.hubKeyFiles = sources.hubKeyFiles
        return settings
    }

    /// Every key that there is in a file that names these sections, in the order in which people read them.
    static func definitions(naming named: NamedSettings) -> [SettingDefinition] {
        var reader = SettingReader([:], named: named, hostName: "localhost")
        _ = try? Settings(&reader, proxyVariables: [:])
        return reader.definitions
    }

    private init(_ read: inout SettingReader, proxyVariables: [String: String]) throws(SettingsError) {
        kafka = try KafkaSettings(&read)
        let worker = try WorkerSettings(&read)
        self.worker = worker
        let hub = try HubSettings(&read, maxInFlight: worker.maxInFlight)
        self.hub = hub
        let only = read.named.hubs.count == 1 ? read.named.hubs.first : nil
        defaultHub =
            read.optional(
                "default_hub", as: .name("a hub's name", atMost: 260),
                summary:
                    "The hub, or the spread, of requests that name none and whose tenant has none; the one of section hub, or the only one, by default."
            ) ?? hub.name ?? only
        tenantHubs =
            read.optional("tenants", as: .tenantHubs, summary: "The hub, or the spread, of a tenant's requests that name none.")
            ?? []
        retry = try RetrySettings(&read)
        gateway = try GatewaySettings(&read)
        callbacks = try CallbackSettings(&read)
        listen = try read(
            "listen", as: .address, default: "127.0.0.1:9464",
            summary:
                "Where /livez, /readyz, /startupz and /metrics are; port 0 takes a free one. The gateway's default is 127.0.0.1:9465, that of `callbacks` 127.0.0.1:9466."
        )
        log = try LogSettings(
            level: read(
                "log.level", as: .word(LogLevel.allCases.map { ($0.word, $0) }), default: "info",
                summary: "The lowest level that is logged."),
            format: read(
                "log.format", as: .choice, default: "auto",
                summary: "How log lines look; `auto` is text on a terminal and JSON otherwise."),
            requests: read(
                "log.requests", as: .choice, default: "failures",
                summary:
                    "The requests about whose end a worker logs a line: none, those that failed (a warning each, 20 in 10 s at most), or all (level info)."
            ))
        var namedHubs: [HubSettings] = []
        for name in read.named.hubs {
            namedHubs.append(try HubSettings(&read, key: name, like: hub, maxInFlight: worker.maxInFlight))
        }
        self.namedHubs = namedHubs
        var spreads: [SpreadSettings] = []
        for name in read.named.spreads {
            let hubs = read.optional(
                "spreads.\(name)", as: .list(of: .name("a hub", atMost: 260)), summary: "The hubs that the name stands for.")
            spreads.append(SpreadSettings(name: name, hubs: hubs ?? []))
        }
        self.spreads = spreads
        self.proxyVariables = Redacted(proxyVariables)
        values = read
    }

    /// Every key with its value and its source, in the schema's order, without secrets.
    public func describe() -> [SettingRow] {
        values.definitions.compactMap { definition in
            let value = values.shown(definition)
            guard value != nil || !NamedSettings.isKey(definition.name) else { return nil }
            return SettingRow(key: definition.name, value: value ?? "", origin: values.origin(of: definition.name))
        }
    }
}

/// The settings of the log.
public struct LogSettings: Sendable {
    /// The lowest level that is written.
    public let level: LogLevel
    /// The format of log lines.
    public let format: LogFormat
    /// The requests about whose end a worker writes a line.
    public let requests: LoggedRequests
}
