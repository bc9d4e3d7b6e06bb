import Delivery
import Kafka
import PushModel

/// The records of delay lanes and of the topic of held requests that a group is done with.
///
/// A request that waits has one copy for each lane it went through, and for each time it was held. Only the last of them waits, unless the
/// request is finished: each of the others went on to the next one in the transaction that wrote that. Every lane has to be taken before
/// the first outcome, so that outcomes of requests that never waited need no memory.
struct WaitingCopies {
    /// The record that a request was published with.
    private struct Request: Hashable {
        let topic: String
        let partition: Int64
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

    /// The group whose requests matter.
    private let group: String
    private var last: [Request: Copy] = [:]
    /// All that wait, at any time.
    private var known: Set<Request> = []
    private var finished: Set<Request> = []

    /// Nothing is known yet.
    init(of group: String) { self.group = group }

    /// Takes the headers of a record that waits, which name the group.
    mutating func take(_ headers: [String: String], at place: TopicPartition, _ offset: Int64, written: Int64?) {
        guard let request = Self.request(headers) else { return }
        let attempts = headers["pushfan-attempt"].flatMap { Int64($0) } ?? 0
        let copy = Copy(place: place, offset: offset, attempts: attempts, written: written ?? -1)
        known.insert(request.atAnyTime)
        if let earlier = last[request], (earlier.attempts, earlier.written) > (copy.attempts, copy.written) { return }
        last[request] = copy
    }

    /// Notes that a request has its outcome.
    ///
    /// - Parameters:
    ///   - topic: The topic of publication.
    ///   - partition: The partition's number.
    ///   - offset: Its offset.
    ///   - time: Its publication, milliseconds since 1970, or nil when that is not known.
    mutating func finish(_ topic: String, _ partition: Int32, _ offset: Int64, _ time: Int64?) {
        let request = Request(topic: topic, partition: Int64(partition), offset: offset, time: time ?? -1)
        if known.contains(request.atAnyTime) { finished.insert(request) }
    }

    /// True if the group is done with a record.
    ///
    /// - Parameters:
    ///   - headers: The record's headers.
    ///   - place: Its partition.
    ///   - offset: Its offset.
    ///   - mayHaveGoneOn: Whether a worker may have checked it again, which decides of a question for an outcome: none is asked twice.
    /// - Returns: Nil where it is none of the group's, so that nothing waits for it.
    func isDone(
        _ headers: [String: String], at place: TopicPartition, _ offset: Int64, mayHaveGoneOn: Bool
    ) -> Bool? {
        guard headers["pushfan-group"] == group else { return nil }
        if headers["pushfan-poll"] != nil { return mayHaveGoneOn }
        guard let request = Self.request(headers) else { return nil }
        if finished.contains(request) || finished.contains(request.atAnyTime) { return true }
        guard let last = last[request] else { return false }
        return last.place != place || last.offset != offset
    }

    private static func request(_ headers: [String: String]) -> Request? {
        func number(_ name: String) -> Int64? { headers[name].flatMap { Int64($0) } }
        guard let topic = headers["pushfan-origin-topic"], let partition = number("pushfan-origin-partition"),
            let offset = number("pushfan-origin-offset")
        else { return nil }
        return Request(topic: topic, partition: partition, offset: offset, time: number("pushfan-origin-timestamp-ms") ?? -1)
    }

    /// True if a worker may have continued a record that waits (`DelayLanes.mayHaveGoneOn`).
    ///
    /// - Parameters:
    ///   - headers: The record's headers.
    ///   - lane: The place of its lane in `DelayLanes.lengths`, or nil for a held request.
    ///   - written: The time of writing, milliseconds since 1970.
    ///   - now: The same for the present moment.
    /// - Returns: False only if its time has not come.
    static func mayHaveGoneOn(_ headers: [String: String], in lane: Int?, written: Int64?, now: Int64) -> Bool {
        DelayLanes.mayHaveGoneOn(
            in: lane, written: written.map { Timestamp(milliseconds: $0) },
            due: headers["pushfan-not-before-ms"].flatMap { Int64($0) }.map { Timestamp(milliseconds: $0) },
            now: Timestamp(milliseconds: now))
    }
}

/// The texts of a record's headers that are pushfan's own, by their names.
enum OwnHeaders {
    static func of(_ record: borrowing ConsumedRecord) -> [String: String] {
        var headers: [String: String] = [:]
        record.forEachHeader { name, value in
            guard let value else { return }
            let title = text(name)
            if title.hasPrefix("pushfan-") { headers[title] = text(value) }
        }
        return headers
    }

    static func of(_ record: FetchedRecord) -> [String: String] {
        var headers: [String: String] = [:]
        for (name, value) in record.headers {
            guard let value else { continue }
            let title = String(decoding: name, as: UTF8.self)
            if title.hasPrefix("pushfan-") { headers[title] = String(decoding: value, as: UTF8.self) }
        }
        return headers
    }

    private static func text(_ bytes: Span<UInt8>) -> String {
        bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}
