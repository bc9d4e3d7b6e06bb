/// A topic to be created.
public struct NewTopic: Sendable, Equatable {
    /// The topic's name.
    public var name: String
    /// The number of partitions, at least 1; nil for the broker's default.
    public var partitionCount: Int?
    /// The number of brokers that keep each partition; nil for the broker's default.
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

/// What became of one topic to be created.
public enum TopicCreation: Sendable, Equatable {
    /// It is there now.
    case created
    /// It was there before; its partitions and settings may be others than asked for.
    case alreadyExists
    /// It is not there.
    case failed(KafkaError)
}

/// What a cluster says of one topic.
public enum TopicDescription: Sendable, Equatable {
    /// It has this many partitions.
    case existing(partitionCount: Int)
    /// There is no such topic, or it must not be seen.
    case missing
    /// The cluster could not say.
    case failed(KafkaError)
}

/// What a cluster says of itself.
public struct ClusterDescription: Sendable, Equatable {
    /// The cluster's name; nil if the brokers give none.
    public let clusterID: String?
    /// The number of brokers in service.
    public let brokerCount: Int
    /// What was asked about each topic, in the order of the question.
    public let topics: [TopicDescription]
}

/// One setting of a topic as the broker applies it.
public struct TopicSetting: Sendable, Equatable {
    /// The setting's name, such as `cleanup.policy`.
    public let name: String
    /// The value; nil if it is secret.
    public let value: String?
    /// Nobody set it for this topic.
    public let isDefault: Bool
}
