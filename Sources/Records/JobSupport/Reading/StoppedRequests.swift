package import Delivery
import Kafka
package import PushModel

/// The requests that were cancelled, by their ids and by orders.
package struct StoppedRequests: Sendable {
    private let topics: Topics
    // More than one worker remembers, because a plan is made once.
    private var cancellations = Cancellations(capacity: 10 * Cancellations.capacity)
    private var orders = Orders()

    /// None, of requests that come from topics of these names.
    package init(topics: Topics = Topics()) { self.topics = topics }

    /// Takes in a record of the control topic that was written at `moment`.
    package mutating func take(key: Span<UInt8>, value: Span<UInt8>, at moment: Timestamp, now: Timestamp) {
        if let cancel = CancelRecord(key: key, value: value) {
            cancellations.add(cancel, at: moment, now: now)
        } else {
            _ = orders.take(key: key, value: value, now: now)
        }
    }

    /// The cancellation that concerns a request. An order about a hub concerns requests that name it.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - topic: The topic that it was published to.
    ///   - published: The moment of its publication.
    /// - Returns: Nil if nothing cancels it.
    package func cancellation(
        of request: borrowing PushRequest, from topic: String, published: Timestamp
    ) -> Cancellations.Cancellation? {
        if let found = cancellations.cancellation(of: request, published: published) { return found }
        guard orders.cancelsRequests else { return nil }
        let order = orders.cancellation(
            of: request, published: PartReference(of: request)?.publishedAt ?? published,
            hub: request.hub.map { request.document.string($0) }, lane: topics.lane(of: topic)?.name ?? "")
        return order.map { Cancellations.Cancellation(moment: $0.since, reason: $0.reason) }
    }
}

extension JobContext {
    /// Reads the requests that were cancelled until now from the control topic, or none if there is no such topic.
    package func stoppedRequests() throws(JobFailure) -> StoppedRequests {
        let scan = TopicScan(self, topic: topics.control)
        let now = Timestamp(milliseconds: self.now())
        var stopped = StoppedRequests(topics: topics)
        guard let reader = try scan.openIfThere(.beginning, .end) else { return stopped }
        defer { reader.close() }
        try scan.read(reader) { record in
            guard record.partition == CancelRecord.partition, let key = record.key, let value = record.value else { return }
            stopped.take(
                key: key, value: value, at: record.timestamp.map { Timestamp(milliseconds: $0) } ?? now, now: now)
        }
        return stopped
    }
}
