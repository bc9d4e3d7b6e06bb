/// The reason why a worker leaves a partition as it is, without an operator's decision that could change that: another version
/// has to go on with it, or a broker has to come back or to answer.
///
/// What the worker has begun there it finishes. It reads no further, and commits nothing beyond.
public enum LeaveCause: Sendable, Equatable {
    /// A newer version wrote the group's position.
    case newerPosition
    /// Another program wrote the group's position.
    case foreignPosition
    /// A newer version wrote the record at this offset.
    case newerRecord(at: Int64)
    /// The group has no position, and where the partition begins cannot be decided: its leader is away, or that of one it depends on. The
    /// worker asks again.
    case leaderAway
    /// The beginning of the partition depends on records in it that have not come yet. They are read in the background.
    case unanswered

    /// True if another version has to go on with it.
    public var isVersion: Bool { self != .leaderAway && self != .unanswered }

    /// The cause that is in the way of a position.
    init(_ error: FinishedOffsets.DecodingError) {
        switch error {
        case .unknownVersion: self = .newerPosition
        case .malformed: self = .foreignPosition
        }
    }
}

/// The partitions that a worker leaves as they are.
public struct LeftPartitions: Sendable, Equatable {
    private let names: [String]
    /// The reason why the first of them is left.
    public let cause: LeaveCause

    /// Keeps a list of partitions, or is nil if the list is empty.
    ///
    /// - Parameter partitions: The names, each with its cause. The text explains the first.
    public init?(_ partitions: [(name: String, cause: LeaveCause)]) {
        guard let first = partitions.first else { return nil }
        names = partitions.map(\.name)
        cause = first.cause
    }

    /// True if another version has to go on with the first of them.
    public var isVersion: Bool { cause.isVersion }

    /// The number of partitions.
    public var count: Int { names.count }

    /// The text of what an operator has to know and to do.
    public var reason: String {
        let others = names.count > 1 ? " (and \(names.count - 1) more)" : ""
        let name = "\(names.first ?? "")\(others)"
        return switch cause {
        case .newerPosition:
            "a newer version wrote the group's position in \(name): this worker leaves it; start the newer version"
        case .foreignPosition:
            "another program wrote the group's position in \(name): this worker leaves it; see `pushfan doctor`"
        case .newerRecord(let offset):
            "a newer version wrote offset \(offset) of \(name): this worker leaves it; start the newer version"
        case .leaderAway:
            "the group has no position in \(name), and no leader answers that says where to begin: it waits for that broker"
        case .unanswered:
            "where \(name) begins depends on records that are still being read: it waits for them"
        }
    }
}
