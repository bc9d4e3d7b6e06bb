/// An event that a consumer's queue holds besides records.
public enum ConsumerEvent: Sendable {
    /// The group gave these partitions to this member, which answers with `assign(_:)`.
    case assigned([TopicPartition])
    /// The group wants all partitions back. The member drains, commits and answers with `unassign()`.
    ///
    /// When they are lost, another member may own them by now: commit nothing, answer at once.
    case revoked([TopicPartition], isLost: Bool)
    /// Information unless `isFatal`: the library goes on trying by itself. A topic that does not exist comes this way too.
    case error(KafkaError)
    /// The library's statistics, JSON as its `STATISTICS.md` describes it. They know nothing of offsets committed in transactions.
    case statistics([UInt8])
    /// A line of the library's log.
    case log(LibraryLine)

    init(_ event: ClientEvent) {
        switch event {
        case .error(let error): self = .error(error)
        case .statistics(let json): self = .statistics(json)
        case .log(let line): self = .log(line)
        }
    }
}

/// The result of one attempt to read a partition.
public enum ReadResult: Sendable, Equatable {
    /// A record, which was handed over.
    case record
    /// Nothing is there at the moment. The descriptor will say when there is.
    case empty
    /// The end of the partition. The next record will have this offset or a later one. Only if it was asked for.
    case endOfPartition(offset: Int64)
    /// The partition has a problem, such as an offset that is gone. The library tries again by itself unless `isFatal`.
    case error(KafkaError)
}

/// The way to go on when a partition has no committed offset, or one that is no longer kept.
public enum OffsetReset: String, Sendable {
    /// Start with the oldest record.
    case earliest
    /// Start with what arrives from now on.
    case latest
    /// Report an error and read nothing.
    case error
}
