/// A topic to be created.
public struct NewTopic: Sendable, Equatable {
    /// The topic's name.
    public var name: String
    /// The number of partitions, at least 1, or nil for the broker's default.
    public var partitionCount: Int?
    /// The number of brokers that keep each partition, or nil for the broker's default.
    public var replicationFactor: Int?
    /// Topic settings in the broker's words, such as `retention.ms`.
    public var configuration: [KafkaConfiguration.Property]

    /// A topic called `name`.
    public init(
        name: String, partitionCount: Int? = nil, replicationFactor: Int? = nil, configuration: [KafkaConfiguration.Property] = []
    ) {
        self.name = name
        self.partitionCount = partitionCount
        self.replicationFactor = replicationFactor
        self.configuration = configuration
    }
}

/// The outcome for one topic to be created.
public enum TopicCreation: Sendable, Equatable {
    /// It is there now.
    case created
    /// It was there before. Its partitions and settings may be others than asked for.
    case alreadyExists
    /// It is not there.
    case failed(KafkaError)
}
