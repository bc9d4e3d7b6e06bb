import Groups
import Kafka

/// The records of delay lanes and of the topic of held requests that a group is done with.
///
/// A request that waits has one copy for each lane it went through, and for each time it was held. Only the last of them waits, unless the
/// request is finished: each of the others went on to the next one in the transaction that wrote that. Every lane has to be taken before
/// the first outcome, so that outcomes of requests that never waited need no memory.
struct DelayedCopies {
    /// The record that a request was published with.
    private struct Request: Hashable {
        let topic: String
        let partition: Int32
        let offset: Int64
        /// Its publication, milliseconds since 1970, or -1 when that is not known.
        var time: Int64

        /// The same, whenever it was published.
        var atAnyTime: Request {
            var other = self
            other.time = -1
            return other
        }
    }

    private struct Copy {
        let place: TopicPartition
        let offset: Int64
        /// The number of attempts so far of its calls, and the time of writing. Neither falls from one copy to the next.
        let attempts: Int64
        let written: Int64
    }

    private var last: [Request: Copy] = [:]
    /// All that wait, at any time.
    private var known: Set<Request> = []
    private var finished: Set<Request> = []

    /// Takes a request that waits for the group.
    mutating func take(_ record: WaitingRecord, at place: TopicPartition, offset: Int64, written: Int64?) {
        guard let request = Self.request(record) else { return }
        let copy = Copy(place: place, offset: offset, attempts: record.attempts, written: written ?? -1)
        known.insert(request.atAnyTime)
        if let earlier = last[request], (earlier.attempts, earlier.written) > (copy.attempts, copy.written) { return }
        last[request] = copy
    }

    /// Notes that a request has its outcome. Its publication is in milliseconds since 1970, or nil when that is not known.
    mutating func finish(topic: String, partition: Int32, offset: Int64, time: Int64?) {
        let request = Request(topic: topic, partition: partition, offset: offset, time: time ?? -1)
        if known.contains(request.atAnyTime) { finished.insert(request) }
    }

    /// True if the group is done with a record, nil where nothing waits. Of a question for an outcome `mayHaveGoneOn` decides,
    /// that a worker may have checked it again: none is asked twice.
    func isDone(_ record: WaitingRecord, at place: TopicPartition, offset: Int64, mayHaveGoneOn: Bool) -> Bool? {
        if record.isPoll { return mayHaveGoneOn }
        guard let request = Self.request(record) else { return nil }
        if finished.contains(request) || finished.contains(request.atAnyTime) { return true }
        guard let last = last[request] else { return false }
        return last.place != place || last.offset != offset
    }

    private static func request(_ record: WaitingRecord) -> Request? {
        record.origin.map {
            Request(topic: $0.topic, partition: $0.partition, offset: $0.offset, time: record.published ?? -1)
        }
    }
}
