public import CallbackRecords
public import Kafka
public import Observability

/// The configuration of the service that calls receivers.
public struct CallbackServiceConfiguration: Sendable {
    /// The brokers and the user's properties.
    public var kafka: KafkaConfiguration
    /// The names of the topics.
    public var topics: CallbackTopics
    /// The group that divides partitions among the processes of the service.
    public var groupID: String
    /// The path of the file of receivers.
    public var receiversFile: String
    /// The program's version, which calls name.
    public var version: String
    /// The name of this process, which no other of the service has.
    public var instance: String

    /// A configuration of these parts.
    public init(
        kafka: KafkaConfiguration, topics: CallbackTopics, groupID: String, receiversFile: String, version: String,
        instance: String
    ) {
        (self.kafka, self.topics, self.groupID) = (kafka, topics, groupID)
        (self.receiversFile, self.version, self.instance) = (receiversFile, version, instance)
    }
}

/// The services that callbacks report to.
public struct CallbackServices: Sendable {
    /// The program's metrics.
    public var metrics: CallbackMetrics
    /// The program's log.
    public var log: Log
    /// The program's health.
    public var health: Health

    /// The services of one process.
    public init(metrics: CallbackMetrics, log: Log, health: Health) {
        (self.metrics, self.log, self.health) = (metrics, log, health)
    }
}

/// Delivers results to receivers: each at least once, by signed calls over HTTP.
///
/// A receiver that is away, slow or hangs costs the others nothing. Its position in Kafka is its progress, so that nothing is lost while the
/// topic keeps its results.
public final class CallbackService: Sendable {
    private let configuration: CallbackServiceConfiguration
    private let services: CallbackServices
    private let parts: CallbackParts
    private let inbox: CallbackInbox
    private let board: CallbackBoard

    /// A service that does not run yet.
    ///
    /// - Parameters:
    ///   - configuration: The brokers, the topics and the file.
    ///   - services: Metrics, log and health.
    /// - Throws: The file of receivers, or the configuration of Kafka, cannot be used.
    public convenience init(_ configuration: CallbackServiceConfiguration, services: CallbackServices) throws {
        try self.init(configuration, services: services, parts: CallbackParts(configuration, log: services.log))
    }

    /// A service in a world that is given.
    init(_ configuration: CallbackServiceConfiguration, services: CallbackServices, parts: CallbackParts) throws {
        (self.configuration, self.services, self.parts) = (configuration, services, parts)
        inbox = try CallbackInbox()
        board = CallbackBoard(version: configuration.version, instance: configuration.instance)
    }

    /// The standing of the receivers, as one JSON object.
    public var status: [UInt8] { board.json }

    /// Works on the calling thread until `stop` was called and positions are saved.
    ///
    /// - Throws: The certificates that the file names cannot be used, or the system gives no descriptor.
    public func run() throws {
        let loop = try CallbackLoop(configuration, services: services, parts: parts, inbox: inbox, board: board)
        defer { loop.close() }
        try loop.run()
    }

    /// Asks the service to let calls end, to save positions and to return from `run`. Safe from any thread.
    ///
    /// - Parameter limit: The longest time that it may take.
    public func stop(within limit: Duration = .seconds(15)) { inbox.end(within: limit) }
}
