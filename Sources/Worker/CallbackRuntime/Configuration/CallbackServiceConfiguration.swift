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
