import Basics
import Delivery
public import FanOut
public import Kafka
import Observability
import Outcomes
import PushModel
public import WorkerRuntime

/// The configurations of each module, made of settings.
extension Settings {
    /// The configuration of connections to Kafka, for workers and for commands alike.
    public func kafkaConfiguration() -> KafkaConfiguration {
        var configuration = KafkaConfiguration(
            bootstrapServers: kafka.bootstrapServers.joined(separator: ","), clientID: "pushfan",
            properties: kafka.properties.map { KafkaConfiguration.Property(key: $0.name, value: $0.value.secret) })
        configuration.watch = brokerWatch
        configuration.live = liveProperties
        let (properties, variables) = (configuration.properties, proxyVariables.secret)
        configuration.tokens = TokenKeeper { [liveProperties] () throws(TokenFailure) in
            try TokenServer(liveProperties?.current ?? properties, environment: variables).token()
        }
        return configuration
    }

    /// The configuration of a worker.
    ///
    /// - Parameter version: The program's version.
    /// - Returns: The configuration. No service that it names was contacted.
    /// - Throws: `SettingsError` naming every key that is missing or wrong.
    public func workerConfiguration(version: String) throws(SettingsError) -> WorkerConfiguration {
        let hubs = try hubs()
        var configuration = WorkerConfiguration(
            workerID: worker.id, version: version, kafka: kafkaConfiguration(), hub: hubs[0].hub,
            connections: hubs[0].connections)
        configuration.hubs = hubs
        configuration.spreads = spreads.map { WorkerConfiguration.Spread(name: $0.name, hubs: $0.hubs) }
        configuration.defaultHub = defaultHub
        for item in tenantHubs { configuration.tenantHubs[item.tenant] = item.hub }
        configuration.groupID = kafka.groupID
        configuration.sessionTimeout = kafka.sessionTimeout
        configuration.transactionTimeout = kafka.transactionTimeout
        configuration.topics = kafka.topics
        configuration.guarantee = kafka.guarantee
        configuration.start = kafka.start
        configuration.loops = worker.loops
        configuration.laneWeights = worker.laneWeights
        for item in worker.tenantWeights { configuration.tenantWeights[TenantID(item.tenant)] = item.weight }
        configuration.window = worker.window
        configuration.memoryBudget = worker.memory << 20
        configuration.commitInterval = worker.commitInterval
        configuration.drainTimeout = worker.drainTimeout
        configuration.retry = RetrySchedule(
            maxAttempts: retry.maxAttempts, base: retry.base.wholeMilliseconds, factor: retry.factor,
            cap: retry.cap.wholeMilliseconds)
        configuration.outcomes.deadline = hub.outcomeDeadline.wholeMilliseconds
        configuration.outcomes.visibilityLimit = min(configuration.outcomes.visibilityLimit, configuration.outcomes.deadline)
        configuration.planning = planning()
        configuration.dedupe =
            worker.dedupeReach == 0
            ? nil : WorkerConfiguration.Dedupe(window: worker.dedupeWindow, reach: worker.dedupeReach)
        for spelling in worker.deadLetterHeaders { configuration.deadLetterHeaders.insert(spelling.headers) }
        configuration.resultsHaveHeaders = worker.resultsHaveHeaders
        configuration.loggedRequests = log.requests
        return configuration
    }

    /// The names of the worker's loops as members of its group.
    public var memberNames: [String] {
        guard worker.loops > 1 else { return [WorkerConfiguration.instanceID(worker: worker.id, loop: nil)] }
        return (1...worker.loops).map { WorkerConfiguration.instanceID(worker: worker.id, loop: $0) }
    }

    /// A transactional id that begins like those of the worker's loops, and that none of them has: they are counted from 1. Nil where the
    /// worker needs none.
    public var unusedTransactionalID: String? {
        guard kafka.guarantee == .exactlyOnce else { return nil }
        return WorkerConfiguration.transactionalID(
            group: kafka.groupID, instance: WorkerConfiguration.instanceID(worker: worker.id, loop: 0))
    }

    /// The file descriptors that a worker may need at most: those of hub connections, in each loop some 64 for connections to Kafka's brokers
    /// and for wake-ups, some 80 for probes, and 48 for everything else.
    public var descriptorsNeeded: Int {
        let connections = allHubs.reduce(0) { $0 + $1.maxConnections }
        return 128 + worker.loops * (64 + connections)
    }

    /// The configuration by which audiences become calls.
    public func planning() -> FanOutPlanner.Configuration {
        var planning = FanOutPlanner.Configuration()
        planning.defaultPlatforms = hub.platforms.reduce(into: []) { set, name in
            if let platform = Platform(name: name) { set.insert(PlatformSet(platform)) }
        }
        let parts = hub.userTag.split(separator: "{user}", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        planning.userTag = (parts.first ?? "", parts.count > 1 ? parts[1] : "")
        return planning
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
