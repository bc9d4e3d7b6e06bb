public import CurlHTTP
public import HubAuth
public import HubREST
import Observability
import WorkerRuntime

/// From settings to the hubs that requests are sent through.
extension Settings {
    /// The hubs, at least one: that of the section `hub`, if it has a name or there is no other, and then those with names of their own.
    public var allHubs: [HubSettings] { (hub.name != nil || namedHubs.isEmpty ? [hub] : []) + namedHubs }

    /// The targets of the names of hubs and spreads. A hub's number is its place in `allHubs`.
    public var routes: HubRoutes {
        HubRoutes(
            hubs: allHubs.enumerated().compactMap { place, hub in hub.routeName.map { ($0, place) } },
            spreads: spreads.map { ($0.name, $0.hubs) },
            tenants: Dictionary(tenantHubs.map { ($0.tenant, $0.hub) }) { first, _ in first }, defaultName: defaultHub)
    }

    /// One of several hubs, by the name that requests have for it, or the first. Nil when there is no hub of that name.
    public func hub(named name: String?) -> HubSettings? {
        guard let name else { return allHubs.first }
        return allHubs.first { $0.routeName == name }
    }

    /// The first hub.
    ///
    /// - Throws: `SettingsError` naming the key when the hub's name or connection string is missing or wrong.
    public func hubConfiguration() throws(SettingsError) -> HubConfiguration {
        try hubConfiguration(of: allHubs[0])
    }

    /// The configuration of a hub's client.
    ///
    /// - Parameter hub: One of `allHubs`.
    /// - Returns: Its address and key. The hub was not contacted.
    /// - Throws: `SettingsError` naming the key when the hub's name or connection string is missing or wrong.
    public func hubConfiguration(of hub: HubSettings) throws(SettingsError) -> HubConfiguration {
        var problems: [SettingProblem] = []
        let parsed = connection(of: hub, noting: &problems)
        let name = hubName(of: hub, noting: &problems)
        guard let parsed, let name, problems.isEmpty else { throw SettingsError(problems: problems) }
        var configuration = HubConfiguration(endpoint: parsed.endpoint, hub: name, credential: parsed.credential)
        configuration.apiVersion = hub.apiVersion
        configuration.tokenLifetime = hub.tokenLifetime
        if let key = hub.secondaryKey {
            configuration.secondaryCredential = SASCredential(policy: parsed.credential.policy, key: SecretKey(key.secret))
        }
        return configuration
    }

    /// The configuration that a worker needs of each hub. An error names every key that is missing or wrong.
    func hubs() throws(SettingsError) -> [WorkerConfiguration.Hub] {
        var problems: [SettingProblem] = []
        var hubs: [WorkerConfiguration.Hub] = []
        for settings in allHubs {
            do throws(SettingsError) {
                let configuration = try hubConfiguration(of: settings)
                var hub = WorkerConfiguration.Hub(
                    configuration, connections: connections(to: configuration.endpoint, like: settings))
                hub.name = settings.key ?? configuration.hub.text
                hub.region = settings.region
                hub.requestTimeout = settings.requestTimeout
                hub.maxInFlight = settings.maxInFlight
                hub.adaptsConcurrency = settings.adaptsConcurrency
                hub.rateLimit = settings.rateLimit
                hub.tracksOutcomes = settings.tracksOutcomes
                hubs.append(hub)
            } catch {
                problems += error.problems
            }
        }
        guard problems.isEmpty else { throw SettingsError(problems: problems) }
        return hubs
    }

    /// The configuration of connections to the first hub's endpoint.
    public func connections(to endpoint: HubEndpoint) -> ConnectionPoolConfiguration {
        connections(to: endpoint, like: allHubs[0])
    }

    /// The configuration of connections to the endpoint of a hub.
    public func connections(to endpoint: HubEndpoint, like hub: HubSettings) -> ConnectionPoolConfiguration {
        var connections = ConnectionPoolConfiguration(
            scheme: endpoint.scheme == .https ? .https : .http, host: endpoint.bareHost,
            port: UInt16(clamping: endpoint.effectivePort))
        connections.maxConnections = hub.maxConnections
        connections.maximumAge = hub.maxConnectionAge
        connections.connectTimeout = hub.connectTimeout
        connections.caFile = hub.authorityFile
        connections.proxy = hub.proxy?.secret
        connections.environment = proxyVariables.secret
        return connections
    }

    /// The keys whose values differ from those of `other` and that a running worker does not take over.
    public func changesForRestart(since other: Settings) -> [String] {
        changes(since: other).filter { !Self.isReloadable($0) }
    }

    /// The keys whose values, as they are shown, differ from those of `other`.
    public func changes(since other: Settings) -> [String] {
        let before = Dictionary(other.describe().map { ($0.key, $0.value) }) { first, _ in first }
        return describe().filter { before[$0.key] != $0.value }.map(\.key)
    }

    private static func isReloadable(_ key: String) -> Bool {
        if ["hub.platforms", "hub.user_tag", "hub.outcome_deadline"].contains(key) { return false }
        return ["hub.", "hubs.", "spreads."].contains { key.hasPrefix($0) }
            || ["kafka.properties", "default_hub", "tenants", "worker.max_in_flight"].contains(key)
    }

    private func connection(of hub: HubSettings, noting problems: inout [SettingProblem]) -> ConnectionString? {
        value(
            hub.connectionString?.secret, of: hub.path("connection_string"),
            expected: "Endpoint=…;SharedAccessKeyName=…;SharedAccessKey=…", noting: &problems
        ) { (text) throws(HubAuthError) in try ConnectionString(parsing: text) }
    }

    private func hubName(of hub: HubSettings, noting problems: inout [SettingProblem]) -> HubName? {
        value(hub.name, of: hub.path("name"), expected: "the hub's name, as the portal shows it", noting: &problems) {
            (text) throws(HubAuthError) in try HubName(text)
        }
    }

    private func value<Value>(
        _ text: String?, of key: String, expected: String, noting problems: inout [SettingProblem],
        read: (String) throws(HubAuthError) -> Value
    ) -> Value? {
        guard let text else {
            problems.append(missing(key, expected: expected))
            return nil
        }
        do throws(HubAuthError) {
            return try read(text)
        } catch {
            problems.append(problem(key, message: error.description))
            return nil
        }
    }

    /// The problem of a key that must be set and is not.
    func missing(_ key: String, expected: String) -> SettingProblem {
        let variable = SettingDefinition.variable(of: key)
        return SettingProblem(
            key, origin: .builtIn, message: "is not set; set it or the variable \(variable)", expected: expected)
    }

    /// The problem of a key's value.
    func problem(_ key: String, message: String, expected: String? = nil) -> SettingProblem {
        SettingProblem(key, origin: origin(of: key), message: message, expected: expected)
    }

    /// The place at which a person changes a key's value: the flag or variable that it comes from, or the key with its place in the settings
    /// file. Where nothing gives it one, the variable that may.
    public func place(of key: String) -> String {
        switch values.origin(of: key) {
        case .flag(let spelling): spelling
        case .variable(let name): name
        case .variableFile(let variable, let path): "\(variable) (\(path))"
        case .file(let path, let line, let column): "\(key) (\(path):\(line):\(column))"
        case .path(let path): "\(key) (\(path))"
        case .builtIn:
            SettingDefinition.variable(of: key) + (values.definitions.contains { $0.name == key && $0.isSecret } ? "_FILE" : "")
        }
    }

    /// The same of a hub's key, which several hubs may have from the section `hub`.
    public func place(of role: String, in hub: HubSettings) -> String {
        let isOwn = values.origin(of: hub.path(role)) != .builtIn || values.origin(of: "hub.\(role)") == .builtIn
        return place(of: isOwn ? hub.path(role) : "hub.\(role)")
    }

    /// The source of a key's value.
    func origin(of key: String) -> SettingOrigin {
        describe().first { $0.key == key }?.origin ?? .builtIn
    }
}

extension HubSettings {
    /// The name that requests have for it, or nil for the section `hub` without a name.
    public var routeName: String? { key ?? name }

    /// The dotted name of one of its keys.
    public func path(_ role: String) -> String { key.map { "hubs.\($0).\(role)" } ?? "hub.\(role)" }
}

extension HubEndpoint {
    /// The host without the brackets that an IPv6 address has in a URL.
    fileprivate var bareHost: String {
        host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    }
}
