import Basics
import Delivery
import PushModel

/// The values of a flight beside its work.
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

    /// The destination of a request.
    struct Destination: Equatable {
        /// The hub's number: of several hubs the first one's. Of none, that of some hub in use.
        var port: Int
        /// The spread to whose hubs its parts go, by number, when it goes to several.
        var spread: Int?
        /// The reason that it goes to no hub, if it does not.
        var fault: HubRouter.Fault?
    }

    /// The way of a request's calls: the hub that they go to, and the queues that they wait in.
    struct Route {
        /// The lane whose queue its calls wait in.
        private(set) var lane = Lane.normal
        /// In whose queue of the lane they wait: a tenant's own, or a shared one.
        private(set) var tenant = TenantID.none
        /// The ordering key whose turn it is. The next request of the key waits for this one's end.
        private(set) var key: RequestIdentity?
        /// The hub that its calls go to, by its number among the loop's.
        var port = 0
        /// The spread to whose hubs its parts go, by number, when it goes to several.
        var spread: Int?
        /// The reason that it goes to no hub, if it does not.
        var fault: HubRouter.Fault?

        init(lane: Lane = .normal) { self.lane = lane }

        /// Leads to a hub, to several, or to none. The pool must hear of it (`FlightPool.moved`).
        mutating func lead(to destination: Destination) {
            port = destination.port
            spread = destination.spread
            fault = destination.fault
        }

        /// Notes the queue that the calls wait in.
        mutating func join(_ tenant: TenantID) { self.tenant = tenant }

        /// Joins its tenant's queue at its hub. A request whose calls are planned is divided among hubs no more.
        ///
        /// - Returns: Whether its calls can be made there. False if it has no hub, or several.
        mutating func joinQueue(of tenant: TenantID) -> Bool {
            self.tenant = tenant
            defer { spread = nil }
            return fault == nil && spread == nil
        }

        /// Notes the key whose turn is its own, or none when its record waits for that.
        mutating func takeTurn(of key: RequestIdentity?) { self.key = key }
    }

    /// The reason and the time of a record's wait, where it holds more than a request to be sent at once.
    struct Wait {
        /// The data of the record, for a request that comes from a delay lane.
        var delayed: DelayedRecord?
        /// The call whose outcome must be polled, when the record holds one instead of a request.
        private(set) var poll: OutcomePoll?
        /// The dead letter of a record that cannot be understood and must wait for the window, or an empty one for a record of
        /// another group.
        var deadLetter: OutcomeBatch?
        /// True if it is to make room for what was read behind it.
        private(set) var mustDefer = false

        /// The time to check the record again that waits in a delay lane.
        var recheckTime: Timestamp? { delayed?.recheckTime ?? poll?.recheckTime }

        /// The time of that record.
        var writtenAt: Timestamp? { delayed?.writtenAt ?? poll?.writtenAt }

        /// The time when it is due, by that record.
        var due: Timestamp? { delayed?.due ?? poll?.due }

        /// The memory that it takes, about.
        @inline(__always) var byteCount: Int { (delayed.map { 2 * $0.text.count + 1024 } ?? 0) + (deadLetter?.byteCount ?? 0) }

        /// Notes that the record holds the poll of a call's outcome.
        mutating func setPoll(_ poll: OutcomePoll) { self.poll = poll }

        /// Notes its records, which are written without a call.
        mutating func conclude(as outcome: OutcomeBatch) { deadLetter = outcome }

        /// Marks it for deferral, so that there is room for what was read behind it.
        mutating func markForDeferral() { mustDefer = true }
    }
}
