/// What a consumer group's coordinator says of the group.
public struct GroupDescription: Sendable, Equatable {
    /// The group's state.
    public enum State: String, Sendable, CaseIterable {
        /// Every member has its partitions.
        case stable
        /// Members are joining or leaving; nobody reads meanwhile.
        case rebalancing
        /// The group has positions and no members.
        case empty
        /// The group has neither members nor positions.
        case dead
        /// The broker's word is not known here.
        case unknown
    }

    /// The group's state.
    public let state: State
    /// Its members, as the coordinator orders them.
    public let members: [GroupMember]

    /// A group.
    public init(state: State, members: [GroupMember]) {
        self.state = state
        self.members = members
    }
}

/// One member of a consumer group.
public struct GroupMember: Sendable, Equatable {
    /// Its stable name; nil for a member without static membership.
    public let instanceID: String?
    /// The host that it is connected from, as the broker sees it.
    public let host: String
    /// What it reads.
    public let partitions: [TopicPartition]

    /// A member.
    public init(instanceID: String?, host: String, partitions: [TopicPartition]) {
        self.instanceID = instanceID
        self.host = host
        self.partitions = partitions
    }
}
