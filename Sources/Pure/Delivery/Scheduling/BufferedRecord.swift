public import Basics
public import PushModel

/// A request that waits in memory as it was read: for the turn of its ordering key, or of its tenant. That takes a small part of what a
/// flight does. To everything else it is what the records are that Kafka still has.
public final class BufferedRecord: Sendable {
    /// The slot of the record's partition.
    public let slot: Int
    /// The record's offset there.
    public let offset: Int64
    /// The lane that the request came by.
    public let lane: Lane
    /// The record that the request was published with.
    public let origin: RecordOrigin
    /// The moment when it was read, monotonic nanoseconds.
    public let receivedAt: MonotonicTime
    /// Since when the request waits for something other than its time.
    public let waitingSince: Timestamp
    /// The ordering key whose turn it is, if it has one.
    public let key: RequestIdentity?
    /// Its tenant, or the queue that it shares with those of others.
    public let tenant: TenantID
    /// The record's key and headers.
    public let envelope: RecordEnvelope
    /// The record's value.
    public let value: ByteWriter
    /// The content of a held record beside the request.
    public let delayed: DelayedRecord?
    /// The time when a held record was written, or `never` for one that is not held.
    public let writtenAt: Timestamp
    /// The request's name, by which a held one is cancelled that waits for its moment, or nil for one that is not held.
    public let name: RequestName?

    /// A request as it was read.
    public init(
        slot: Int, offset: Int64, lane: Lane, origin: RecordOrigin, receivedAt: MonotonicTime, waitingSince: Timestamp,
        key: RequestIdentity? = nil, tenant: TenantID = .none, envelope: RecordEnvelope, value: ByteWriter,
        delayed: DelayedRecord? = nil,
        writtenAt: Timestamp = .never, name: RequestName? = nil
    ) {
        self.slot = slot
        self.offset = offset
        self.lane = lane
        self.origin = origin
        self.receivedAt = receivedAt
        self.waitingSince = waitingSince
        self.key = key
        self.tenant = tenant
        self.envelope = envelope
        self.value = value
        self.delayed = delayed
        self.writtenAt = writtenAt
        self.name = name
    }

    /// The memory that it takes, about.
    public var byteCount: Int { value.count + envelope.roomByteCount + 256 + (delayed.map { $0.text.count + 1024 } ?? 0) }
}
