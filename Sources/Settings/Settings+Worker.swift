public import CurlHTTP
import Delivery
public import FanOut
public import HubAuth
public import HubREST
public import Kafka
import Observability
import PushModel
public import WorkerRuntime

/// From settings to what each module wants to be told.
extension Settings {
    /// How to reach Kafka, for workers and for commands alike.
    public func kafkaConfiguration() -> KafkaConfiguration {
        KafkaConfiguration(
            bootstrapServers: kafka.bootstrapServers.joined(separator: ","), clientID: "pushfan",
            properties: kafka.properties.map { KafkaConfiguration.Property(key: $0.name, value: $0.value.secret) })
    }

    /// The hub that requests are sent through.
    ///
    /// - Throws: `SettingsError` naming the key when the hub's name or connection string is missing or wrong.
    public func hubConfiguration() throws(SettingsError) -> HubConfiguration {
        var problems: [SettingProblem] = []
        let parsed = connection(&problems)
        let name = hubName(&problems)
        guard let parsed, let name, problems.isEmpty else { throw SettingsError(problems: problems) }
        var configuration = HubConfiguration(endpoint: parsed.endpoint, hub: name, credential: parsed.credential)
        configuration.apiVersion = hub.apiVersion
        configuration.tokenLifetime = hub.tokenLifetime
        if let key = hub.secondaryKey {
            configuration.secondaryCredential = SASCredential(policy: parsed.credential.policy, key: SecretKey(key.secret))
        }
        return configuration
    }

    /// Everything that a worker is told.
    ///
    /// - Parameter version: The program's version.
    /// - Returns: The configuration; what it points at was not contacted.
    /// - Throws: `SettingsError` naming every key that is missing or wrong.
    public func workerConfiguration(version: String) throws(SettingsError) -> WorkerConfiguration {
        let hubConfiguration = try hubConfiguration()
        var configuration = WorkerConfiguration(
            workerID: worker.id, version: version, kafka: kafkaConfiguration(), hub: hubConfiguration,
            connections: connections(to: hubConfiguration.endpoint))
        configuration.groupID = kafka.groupID
        configuration.sessionTimeout = kafka.sessionTimeout
        configuration.transactionTimeout = kafka.transactionTimeout
        configuration.topics.requests = kafka.topics.requests
        configuration.topics.requestsHigh = kafka.topics.requestsHigh
        configuration.topics.requestsBulk = kafka.topics.requestsBulk
        configuration.topics.delays = kafka.topics.delays
        configuration.topics.results = kafka.topics.results
        configuration.topics.deadLetters = kafka.topics.deadLetter
        configuration.topics.control = kafka.topics.control
        configuration.topics.parents = kafka.topics.parents
        configuration.topics.held = kafka.topics.held
        configuration.topics.handles = kafka.topics.handles
        configuration.topics.shares = kafka.topics.shares
        configuration.guarantee = kafka.guarantee
        configuration.requestTimeout = hub.requestTimeout
        configuration.loops = worker.loops
        configuration.maxInFlight = worker.maxInFlight
        configuration.adaptsConcurrency = hub.adaptsConcurrency
        configuration.rateLimit = hub.rateLimit
        configuration.laneWeights = worker.laneWeights
        for item in worker.tenantWeights { configuration.tenantWeights[TenantID(item.tenant)] = item.weight }
        configuration.window = worker.window
        configuration.commitInterval = worker.commitInterval
        configuration.drainTimeout = worker.drainTimeout
        configuration.retry = RetrySchedule(
            maxAttempts: retry.maxAttempts, base: retry.base.wholeMilliseconds, factor: retry.factor,
            cap: retry.cap.wholeMilliseconds)
        configuration.tracksOutcomes = hub.tracksOutcomes
        configuration.outcomes.deadline = hub.outcomeDeadline.wholeMilliseconds
        configuration.outcomes.visibilityLimit = min(configuration.outcomes.visibilityLimit, configuration.outcomes.deadline)
        configuration.planning = planning()
        configuration.dedupe =
            worker.dedupeReach == 0
            ? nil : WorkerConfiguration.Dedupe(window: worker.dedupeWindow, reach: worker.dedupeReach)
        for spelling in worker.deadLetterHeaders { configuration.deadLetterHeaders.insert(spelling.headers) }
        return configuration
    }

    /// How audiences become calls.
    public func planning() -> FanOutPlanner.Configuration {
        var planning = FanOutPlanner.Configuration()
        planning.defaultPlatforms = hub.platforms.reduce(into: []) { set, name in
            if let platform = Platform(name: name) { set.insert(PlatformSet(platform)) }
        }
        let parts = hub.userTag.split(separator: "{user}", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        planning.userTag = (parts.first ?? "", parts.count > 1 ? parts[1] : "")
        return planning
    }

    /// How connections to the hub at `endpoint` are made.
    public func connections(to endpoint: HubEndpoint) -> ConnectionPoolConfiguration {
        var connections = ConnectionPoolConfiguration(
            scheme: endpoint.scheme == .https ? .https : .http, host: endpoint.bareHost,
            port: UInt16(clamping: endpoint.effectivePort))
        connections.maxConnections = hub.maxConnections
        connections.maximumAge = hub.maxConnectionAge
        connections.connectTimeout = hub.connectTimeout
        connections.caFile = hub.authorityFile
        connections.proxy = hub.proxy?.secret
        return connections
    }

    private func connection(_ problems: inout [SettingProblem]) -> ConnectionString? {
        guard let text = hub.connectionString else {
            problems.append(missing("hub.connection_string", "Endpoint=…;SharedAccessKeyName=…;SharedAccessKey=…"))
            return nil
        }
        do throws(HubAuthError) {
            return try ConnectionString(parsing: text.secret)
        } catch {
            problems.append(SettingProblem("hub.connection_string", origin(of: "hub.connection_string"), error.description))
            return nil
        }
    }

    private func hubName(_ problems: inout [SettingProblem]) -> HubName? {
        guard let text = hub.name else {
            problems.append(missing("hub.name", "the hub's name, as the portal shows it"))
            return nil
        }
        do throws(HubAuthError) {
            return try HubName(text)
        } catch {
            problems.append(SettingProblem("hub.name", origin(of: "hub.name"), error.description))
            return nil
        }
    }

    private func missing(_ key: String, _ expected: String) -> SettingProblem {
        let variable = SettingsSchema.all.first { $0.name == key }?.variable ?? ""
        return SettingProblem(key, .builtIn, "is not set; set it or the variable \(variable)", expected: expected)
    }

    private func origin(of key: String) -> SettingOrigin {
        describe().first { $0.key == key }?.origin ?? .builtIn
    }
}

extension DeadLetterSpelling {
    fileprivate var headers: WorkerConfiguration.DeadLetterHeaders {
        switch self {
        case .native: .native
        case .connect: .connect
        case .spring: .spring
        }
    }
}

extension HubEndpoint {
    /// The host without the brackets that an IPv6 address has in a URL.
    fileprivate var bareHost: String {
        host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
