import Basics
import Delivery
import PushModel

extension Flight {
    /// The record that holds a request: where it is, and the parts of it that the request is not read into.
    struct Place {
        /// The assignment that the record came with.
        private(set) var epoch = 0
        /// The partition's slot in that assignment.
        private(set) var slot = 0
        /// The offset of the record that holds it now, which is another one when the request comes from a delay lane.
        var offset: Int64 = 0
        /// The place of the record with which the request was published.
        private(set) var origin = RecordOrigin(topic: "", partition: 0, offset: 0, timestamp: Timestamp(milliseconds: 0))
        /// The moment when the record was taken, monotonic nanoseconds.
        private(set) var receivedAt = MonotonicTime.past
        /// The bytes of the record's value.
        var valueByteCount = 0
        /// The record's key and headers.
        var envelope = RecordEnvelope()

        /// The record, as the batch of outcomes names it.
        var source: OutcomeBatch.Origin { .init(slot: slot, offset: offset) }

        /// The record's bytes without its headers' places.
        var byteCount: Int { valueByteCount + envelope.byteCount }

        /// Begins with another record. The room of the envelope stays.
        mutating func begin(epoch: Int, slot: Int, origin: RecordOrigin, at now: MonotonicTime) {
            self.epoch = epoch
            self.slot = slot
            self.origin = origin
            offset = origin.offset
            receivedAt = now
            valueByteCount = 0
            envelope.removeAll()
        }

        /// Counts as read at a moment, until which the request has waited.
        mutating func noteReception(at now: MonotonicTime) { receivedAt = now }

        /// Notes the size of the record's value.
        mutating func noteValue(byteCount: Int) { valueByteCount = byteCount }

        /// Forgets the envelope, and gives its room back.
        mutating func dropEnvelope() { envelope = RecordEnvelope() }
    }
}
