import Glibc
import Kafka
import PushModel

/// Writes requests to Kafka, with the headers of a CloudEvent in binary mode (message contract, section 3.3).
struct RequestSender {
    /// How many, how fast and in whose name.
    struct Plan {
        /// How often each request is written.
        var copies = 1
        /// Requests a second; nil for as fast as Kafka takes them.
        var rate: Double?
        /// The source of requests that name none.
        var source = "/pushfan/enqueue"
    }

    /// The `type` attribute of a request.
    static let eventType = "push.request.v1"

    let plan: Plan
    let now: @Sendable () -> Int64
    private var identifiers = RequestIdentifier()
    private var generator = SystemRandomNumberGenerator()

    init(_ plan: Plan, now: @escaping @Sendable () -> Int64) {
        self.plan = plan
        self.now = now
    }

    /// Writes every request as often as the plan says, and waits until Kafka has them.
    ///
    /// - Parameters:
    ///   - requests: What to write.
    ///   - producer: Writes it.
    ///   - topic: Where to.
    ///   - timeout: How long the last of them may take.
    /// - Returns: Their identities and places, in order. Fewer than planned when a signal came.
    /// - Throws: A request that was not taken, or not written in time.
    mutating func send(
        _ requests: [OutgoingRequest], with producer: Producer, to topic: Producer.Topic, timeout: Duration
    ) throws(KafkaError) -> [PublishedRequest] {
        let published = PublishedRequests(capacity: requests.count * plan.copies)
        var count = 0
        let start = Self.monotonicNanoseconds()
        send: for _ in 0..<plan.copies {
            for request in requests {
                if Interruption.isRequested { break send }
                wait(for: count, since: start, producer)
                let moment = Timestamp(milliseconds: now())
                let id = identify(request)
                var headers = Kafka.RecordHeaders()
                for (name, value) in self.headers(request, id: id, at: moment) { headers.append(name, value) }
                let key = request.recordKey.map { Array($0.utf8) }
                try produce(request.json(withID: id), key: key, headers, producer, topic, report: published.add(id))
                count += 1
            }
        }
        try producer.flush(timeout: timeout)
        return published.all
    }

    /// The request's own id, or a new one.
    mutating func identify(_ request: OutgoingRequest) -> String {
        request.id ?? identifiers.next(now: now(), using: &generator)
    }

    /// The headers of one record, as names and values.
    func headers(_ request: OutgoingRequest, id: String, at moment: Timestamp) -> [(name: String, value: String)] {
        [
            ("content-type", "application/json"), ("ce_specversion", "1.0"), ("ce_id", id),
            ("ce_source", request.source ?? plan.source), ("ce_type", Self.eventType), ("ce_time", moment.text),
        ]
    }

    private func produce(
        _ json: [UInt8], key: [UInt8]?, _ headers: consuming Kafka.RecordHeaders, _ producer: Producer,
        _ topic: Producer.Topic, report: @escaping @Sendable (Producer.Delivery) -> Void
    ) throws(KafkaError) {
        if let key {
            try producer.produce(to: topic, key: key.span, value: json.span, headers: headers, report: report)
        } else {
            try producer.produce(to: topic, key: nil, value: json.span, headers: headers, report: report)
        }
    }

    /// Waits until the request with this number is due.
    private func wait(for number: Int, since start: Int64, _ producer: Producer) {
        guard let rate = plan.rate else { return }
        let due = start + Int64(Double(number) * 1e9 / rate)
        while !Interruption.isRequested {
            let left = due - Self.monotonicNanoseconds()
            guard left > 0 else { return }
            producer.poll()
            let pause = min(left, 100_000_000)
            var time = timespec(tv_sec: 0, tv_nsec: Int(pause))
            nanosleep(&time, nil)
        }
    }

    private static func monotonicNanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
