/// A cluster's description of one topic.
public enum TopicDescription: Sendable, Equatable {
    /// It has this many partitions.
    case existing(partitionCount: Int)
    /// There is no such topic, or it must not be seen.
    case missing
    /// The cluster could not say.
    case failed(KafkaError)
}

/// A cluster's description of itself.
public struct ClusterDescription: Sendable, Equatable {
    /// The cluster's name, or nil if the brokers give none.
    public let clusterID: String?
    /// The number of brokers in service.
    public let brokerCount: Int
    /// The description of each topic that was asked about, in the order of the question.
    public let topics: [TopicDescription]
    /// The partitions of each topic, in the same order. None for a topic that is missing or must not be seen.
    public let partitions: [[PartitionReplicas]]
}

/// The brokers that keep one partition.
public struct PartitionReplicas: Sendable, Equatable {
    /// The number of the broker that leads it, or nil for none. Without one nothing can be read or written.
    public let leader: Int32?
    /// The brokers that are to keep it.
    public let count: Int
    /// Those of them that have everything.
    public let inSyncCount: Int
    /// The numbers of the others, which are down or behind.
    public let missing: [Int32]

    /// A partition that is kept by `count` brokers.
    public init(leader: Int32?, count: Int, inSyncCount: Int, missing: [Int32] = []) {
        self.leader = leader
        self.count = count
        self.inSyncCount = inSyncCount
        self.missing = missing
    }
}

/// One setting of a topic or broker, as it is applied.
public struct TopicSetting: Sendable, Equatable {
    /// The setting's name, such as `cleanup.policy`.
    public let name: String
    /// The value, or nil if it is secret.
    public let value: String?
    /// It is not set for this topic or broker.
    public let isDefault: Bool

    /// A setting. Commands that judge settings are tested with them.
    public init(name: String, value: String?, isDefault: Bool = false) {
        self.name = name
        self.value = value
        self.isDefault = isDefault
    }
}
