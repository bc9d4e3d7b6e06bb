import JobSupport
package import Kafka
package import Publishing
import PushModel

/// Writes requests to Kafka, as often and as fast as requested.
package struct RequestSender {
    /// The number, the rate and the identity of the requests.
    package struct Plan: Sendable {
        /// The number of times that each request is written.
        package var copies = 1
        /// Requests a second, or nil for as fast as Kafka takes them.
        package var rate: Double?
        /// The source of requests that name none.
        package var source = "/pushfan/enqueue"

        /// A plan by which each request is written once, at once.
        package init() {}
    }

    private let plan: Plan
    private let now: @Sendable () -> Int64
    private var writer: RequestWriter

    /// A sender that has written nothing yet, with a clock in milliseconds since 1970. It belongs to one thread at a time.
    package init(_ plan: Plan, topics: RequestTopics, now: @escaping @Sendable () -> Int64) {
        self.plan = plan
        self.now = now
        writer = RequestWriter(topics: topics, source: plan.source)
    }

    /// Writes every request as often as the plan demands, and waits until Kafka has them. It ends early when it is cancelled.
    package mutating func send(
        _ requests: [OutgoingRequest], with producer: Producer, to handles: [String: Producer.Topic], timeout: Duration,
        unless isCancelled: () -> Bool, into published: EnqueuedRequests
    ) throws(KafkaError) {
        var count = 0
        let start = Deadline.now()
        send: for _ in 0..<plan.copies {
            for request in requests {
                if isCancelled() { break send }
                wait(for: count, since: start, with: producer, unless: isCancelled)
                let record = self.record(of: request)
                guard let topic = handles[record.topic] else { throw .unknownTopic(record.topic) }
                try record.write(with: producer, to: topic, report: published.add(record.id, in: record.topic))
                count += 1
            }
        }
        try producer.flush(timeout: timeout)
    }

    /// The record of a request, which gets a new id unless it has one.
    package mutating func record(of request: OutgoingRequest) -> RequestRecord {
        writer.record(of: request, at: Timestamp(milliseconds: now()))
    }

    /// Waits until the request with this number is due.
    private func wait(for number: Int, since start: Int64, with producer: Producer, unless isCancelled: () -> Bool) {
        guard let rate = plan.rate else { return }
        let due = start + Int64(Double(number) * 1e9 / rate)
        while !isCancelled() {
            let left = due - Deadline.now()
            guard left > 0 else { return }
            producer.poll()
            Pause.sleep(.nanoseconds(min(left, 100_000_000)))
        }
    }
}
