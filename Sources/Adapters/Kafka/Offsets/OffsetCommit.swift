/// The position of a group in one partition, to be committed.
public struct OffsetCommit: Sendable, Equatable {
    /// The partition.
    public var partition: TopicPartition
    /// The next offset to read.
    public var offset: Int64
    /// A text that the broker keeps with the offset, 4,096 bytes by default (`offset.metadata.max.bytes`), without a zero byte.
    public var metadata: String

    /// Commits `offset` as the next one to read of `partition`.
    public init(_ partition: TopicPartition, offset: Int64, metadata: String = "") {
        self.partition = partition
        self.offset = offset
        self.metadata = metadata
    }
}

/// A group's committed position in one partition.
public struct CommittedOffset: Sendable, Equatable {
    /// The partition.
    public let partition: TopicPartition
    /// The next offset to read, or nil if the group never committed one.
    public let offset: Int64?
    /// The text kept with the offset, which is empty if there is none.
    public let metadata: String

    /// A position of a group, or none.
    public init(partition: TopicPartition, offset: Int64?, metadata: String = "") {
        self.partition = partition
        self.offset = offset
        self.metadata = metadata
    }
}

/// The place to start reading a partition.
public enum StartOffset: Sendable, Equatable {
    /// The oldest record that is kept.
    case beginning
    /// Only what arrives from now on.
    case end
    /// The record with this offset. If it is gone, `auto.offset.reset` decides.
    case offset(Int64)

    var value: Int64 {
        switch self {
        case .beginning: LogicalOffset.beginning
        case .end: LogicalOffset.end
        case .offset(let offset): offset
        }
    }
}
