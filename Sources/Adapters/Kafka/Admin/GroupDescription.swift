/// The description of a consumer group by the group's coordinator.
public struct GroupDescription: Sendable, Equatable {
    /// The group's state.
    public enum State: String, Sendable, CaseIterable {
        /// Every member has its partitions.
        case stable
        /// Members are joining or leaving. Consumption is paused.
        case rebalancing
        /// The group has positions and no members.
        case empty
        /// The group has neither members nor positions. Kafka calls it dead.
        case absent
        /// The broker's word is not known here.
        case unknown

        /// The state that a broker's word means (Kafka, `GroupState`).
        init(word: String) {
            self =
                switch word {
                case "Stable": .stable
                case "PreparingRebalance", "CompletingRebalance", "AwaitingSync": .rebalancing
                case "Empty": .empty
                case "Dead": .absent
                default: .unknown  // Brokers are newer than this, or of another make.
                }
        }
    }

    /// The group's state.
    public let state: State
    /// Its members, as the coordinator orders them.
    public let members: [GroupMember]
    /// The broker that coordinates the group, or nil where none is named.
    public let coordinator: Int32?

    /// A group.
    public init(state: State, members: [GroupMember], coordinator: Int32? = nil) {
        self.state = state
        self.members = members
        self.coordinator = coordinator
    }
}
