import Basics
import Delivery
import PushModel

/// A request that waits for the turn of its ordering key, as it was read: that takes a small part of what a flight does.
final class OrderedRecord {
    /// The partition of the record, and the record's offset there.
    let slot: Int
    let offset: Int64
    let lane: Lane
    let origin: RecordOrigin
    /// The moment when it was read, monotonic nanoseconds.
    let receivedAt: MonotonicTime
    let envelope: RecordEnvelope
    let value: ByteWriter
    /// The content of a held record beside the request.
    let delayed: DelayedRecord?
    /// The time when a held record was written, or `never` for one that is not held.
    let writtenAt: Timestamp
    /// The request's name, by which a held one is cancelled that waits for its moment, or nil for one that is not held.
    let name: RequestName?

    /// Takes the request out of a flight.
    init(_ flight: Flight, writtenAt: Timestamp = .never) {
        self.writtenAt = writtenAt
        slot = flight.slot
        offset = flight.offset
        lane = flight.lane
        origin = flight.origin
        receivedAt = flight.receivedAt
        envelope = flight.envelope
        let request = flight.request
        var copy = ByteWriter(capacity: flight.valueByteCount)
        copy.append(request.document.source(byteCount: flight.valueByteCount))
        value = copy
        delayed = flight.delayed
        name = flight.delayed == nil ? nil : RequestName(of: request)
    }

    /// Since when it waits for something other than its time.
    var waitingSince: Timestamp { WaitingSince.moment(published: origin.timestamp, notBefore: nil, due: delayed?.due) }

    /// The memory that it takes, about.
    var byteCount: Int { value.count + envelope.byteCount + 384 + (delayed.map { $0.text.count + 1024 } ?? 0) }
}

extension KeyQueues.Origin {
    init(_ origin: RecordOrigin) { self.init(offset: origin.offset, timestamp: origin.timestamp) }
}
