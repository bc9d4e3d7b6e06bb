/// The reason why a worker leaves a partition as it is, whatever rule says where partitions begin: another version or an operator
/// has to go on with it, or a broker has to come back or to answer.
///
/// What the worker has begun there it finishes. It reads no further, and commits nothing beyond.
public enum LeaveCause: Sendable, Equatable {
    /// The group's position has metadata that this version cannot read.
    case unknownPosition(UnknownMetadata)
    /// A newer version wrote the record at this offset.
    case newerRecord(at: Int64)
    /// The group has no position, and where the partition begins cannot be decided: its leader is away, or that of one it depends on, or
    /// other workers must begin first. The worker asks again.
    case leaderAway
    /// The beginning of the partition depends on records in it that have not come yet. They are read in the background.
    case unanswered
    /// The log of the partition may not be the one that was read: its topic was not there, or ended before what was read. Brokers are
    /// asked what it holds.
    case doubted

    /// True if an operator has to start another version, or to say where the partition begins.
    public var needsOperator: Bool { self != .leaderAway && self != .unanswered && self != .doubted }
}

/// The partitions that a worker leaves as they are.
public struct LeftPartitions: Sendable, Equatable {
    private let names: [String]
    /// The reason why the first of them is left.
    public let cause: LeaveCause

    /// Some partitions by their names, of which the first is explained. Nil when there are none.
    public init?(_ partitions: [(name: String, cause: LeaveCause)]) {
        guard let first = partitions.first else { return nil }
        names = partitions.map(\.name)
        cause = first.cause
    }

    /// True if an operator has to decide about the first of them.
    public var needsOperator: Bool { cause.needsOperator }

    /// The number of partitions.
    public var count: Int { names.count }

    /// The text of what an operator has to know and to do.
    public var reason: String {
        let others = names.count > 1 ? " (and \(names.count - 1) more)" : ""
        let name = "\(names.first ?? "")\(others)"
        return switch cause {
        case .unknownPosition(let metadata):
            "the group's position in \(name) has \(metadata): this worker leaves it; `pushfan doctor` says what to do"
        case .newerRecord(let offset):
            "a newer version wrote offset \(offset) of \(name): this worker leaves it; start the newer version"
        case .leaderAway:
            "the group has no position in \(name), and no leader answers, or other workers begin first: it waits for them"
        case .unanswered:
            "where \(name) begins depends on records that are still being read: it waits for them"
        case .doubted:
            "\(name) was not there, or ends before what was read of it: it is read on when brokers say what it holds"
        }
    }
}
