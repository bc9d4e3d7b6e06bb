import Delivery
import Kafka

/// The role of the records of a partition.
enum PartitionRole: Equatable {
    /// New requests of a lane.
    case requests(Lane)
    /// Requests that wait in a delay lane, by its place in `DelayLanes.lengths`.
    case delay(Int)
    /// Large requests, and what became of their parts.
    case parents
    /// Requests with ordering keys that wait, and those behind them.
    case held

    /// That of a partition that the group assigned.
    init(of partition: TopicPartition, in topics: Topics) {
        if let lane = topics.delays.firstIndex(of: partition.topic) {
            self = .delay(lane)
        } else if partition.topic == topics.parents {
            self = .parents
        } else if partition.topic == topics.held {
            self = .held
        } else {
            self = .requests(Lane.allCases.first { topics.requests(of: $0) == partition.topic } ?? .normal)
        }
    }

    /// The same, as far as it says how a partition begins.
    var kind: AssignmentPlan.Kind {
        switch self {
        case .requests: .requests
        case .delay: .delayed
        case .parents: .parents
        case .held: .held
        }
    }

    /// True if the partition has new requests.
    var hasRequests: Bool { lane != nil }

    /// The lane of its new requests, or nil when it has none.
    var lane: Lane? { if case .requests(let lane) = self { lane } else { nil } }

    /// True if publishers write to it. The others are written by workers and by replays.
    var isOpen: Bool { hasRequests && self != .requests(.own) }

    /// The bytes that a record may have with key and headers. Any request of a publisher may have to wait in a topic of ours, with its history
    /// and our headers beside its own. Brokers take 1,048,588 by default.
    var largestRecord: Int { isOpen ? 900_000 : Self.largestOwnRecord }

    /// The same for a record that pushfan writes.
    static let largestOwnRecord = 1_040_000

    /// True if its records say whose they are, because groups share the topic.
    var namesGroup: Bool { kind == .delayed || kind == .held }
}
