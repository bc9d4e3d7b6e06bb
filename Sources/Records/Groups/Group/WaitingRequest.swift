package import Delivery
package import JobSupport
package import Kafka
package import PushModel

/// A request as it stands in a lane, in a delay lane or in the topic of held requests.
package struct WaitingRequest: Sendable, Equatable {
    /// The request's id.
    package let id: String
    /// The record that it was published with.
    package let origin: RecordOrigin
    /// The due time of its continuation, or nil in a lane.
    package let due: Timestamp?
    /// The number of attempts so far of its calls.
    package let attempts: Int64
    /// The time up to which requests of its id are cancelled, or nil if that does not concern it.
    package let cancelledAt: Timestamp?

    /// A request of the given parts.
    package init(id: String, origin: RecordOrigin, due: Timestamp?, attempts: Int64, cancelledAt: Timestamp? = nil) {
        (self.id, self.origin, self.due, self.attempts, self.cancelledAt) = (id, origin, due, attempts, cancelledAt)
    }
}

/// Reads the requests of one group.
package struct WaitingReader {
    private let group: String
    private let stopped: StoppedRequests
    private var request = PushRequest()

    /// A reader that skips requests that wait for another group.
    package init(of group: String, cancelled stopped: StoppedRequests) {
        self.group = group
        self.stopped = stopped
    }

    /// Reads a record. What is no request of the group, but another group's or a poll for an outcome, gives nil.
    package mutating func read(_ record: FetchedRecord, of kind: AssignmentPlan.Kind, in place: TopicPartition) -> WaitingRequest?
    {
        var origin = RecordOrigin(
            topic: place.topic, partition: place.partition, offset: record.offset,
            timestamp: Self.moment(record.timestamp ?? 0), isDated: record.timestamp != nil)
        var (due, attempts): (Timestamp?, Int64) = (nil, 0)
        if kind != .requests {
            guard let waiting = WaitingRecord(OwnHeaders.of(record), of: group), !waiting.isPoll, let from = waiting.origin else {
                return nil
            }
            let published = Self.moment(waiting.published ?? record.timestamp ?? 0)
            origin = RecordOrigin(topic: from.topic, partition: from.partition, offset: from.offset, timestamp: published)
            due = waiting.due.map(Self.moment)
            attempts = waiting.attempts
        }
        let value = record.value ?? []
        _ = RequestReader(from: .own).read(
            value.span, headers: record.knownHeaders, origin: origin, into: &request)
        let cancellation = stopped.cancellation(of: request, from: origin.topic, published: origin.timestamp)
        return WaitingRequest(
            id: request.document.string(request.id), origin: origin, due: due, attempts: attempts,
            cancelledAt: cancellation?.moment)
    }

    /// The source that a record's request names, or nil.
    package mutating func source(of record: FetchedRecord, of kind: AssignmentPlan.Kind, in place: TopicPartition) -> String? {
        read(record, of: kind, in: place) == nil ? nil : source
    }

    /// The source that the request names which was read last, or nil.
    var source: String? { request.source.map { request.document.string($0) } }

    /// The tenant that it names, or nil.
    var tenant: String? { request.tenant.map { request.document.string($0) } }

    /// A moment that a record tells, kept between the years 1970 and 9999: anybody may have written it, and sums with it must not overflow.
    package static func moment(_ milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: min(max(milliseconds, 0), 253_402_300_799_999))
    }
}
