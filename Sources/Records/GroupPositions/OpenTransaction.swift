public import Kafka
public import PushModel

/// The end of a partition that consumers cannot read yet, because a transaction that wrote there is open.
///
/// They see a record once every transaction that began before it has ended (Kafka's last stable offset). A short one is part of every
/// commit. They are not told its producer, so that its first record has to say whose it is.
public struct OpenTransaction: Sendable, Equatable {
    /// The time up to which one is not worth a word, in milliseconds.
    private static let usualLength: Int64 = 5000
    /// The most that brokers grant a producer, in milliseconds (`transaction.max.timeout.ms`, by default).
    private static let longestLength: Int64 = 900_000

    /// The partition.
    public let partition: TopicPartition
    /// The offset of its first record.
    public let offset: Int64
    /// The records from there on, others' included, at most.
    public let recordCount: Int64
    /// The time of its first record, as far as that is known.
    public let since: Timestamp?
    /// The source of its first record, if that is known to be a request that names one.
    public let source: String?

    /// An open transaction of which this is known.
    public init(partition: TopicPartition, offset: Int64, recordCount: Int64, since: Timestamp?, source: String? = nil) {
        self.partition = partition
        self.offset = offset
        self.recordCount = recordCount
        self.since = since
        self.source = source
    }

    /// True if it takes longer than a commit does, or it is not known how long.
    public func isLong(at now: Timestamp) -> Bool { since.map { now.milliseconds(since: $0) >= Self.usualLength } ?? true }

    /// True if brokers would have ended it by now, had it a producer that they know.
    public func isHanging(at now: Timestamp) -> Bool { since.map { now.milliseconds(since: $0) > Self.longestLength } ?? false }

    /// `push.requests.v1[0]: 5 records behind an open transaction since 2026-11-27T16:20:00Z, from offset 12 on, of requests from shop`.
    /// The source is as others wrote it, control characters included.
    public var text: String {
        let records = recordCount == 1 ? "1 record" : "\(recordCount) records"
        let since = since.map { " since \($0.text)" } ?? ""
        let source = source.map { ", of requests from \($0)" } ?? ""
        return "\(partition): \(records) behind an open transaction\(since), from offset \(offset) on\(source)"
    }
}
