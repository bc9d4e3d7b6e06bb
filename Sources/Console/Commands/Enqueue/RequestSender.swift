import Glibc
import Jobs
import Kafka
import Publishing
import PushModel

/// Writes requests to Kafka, as often and as fast as requested.
struct RequestSender {
    /// The number, the rate and the identity of the requests.
    struct Plan {
        /// The number of times that each request is written.
        var copies = 1
        /// Requests a second, or nil for as fast as Kafka takes them.
        var rate: Double?
        /// The source of requests that name none.
        var source = "/pushfan/enqueue"
    }

    let plan: Plan
    let now: @Sendable () -> Int64
    private var writer: RequestWriter

    init(_ plan: Plan, topics: RequestTopics, now: @escaping @Sendable () -> Int64) {
        self.plan = plan
        self.now = now
        writer = RequestWriter(topics: topics, source: plan.source)
    }

    /// Writes every request as often as the plan demands, and waits until Kafka has them. It ends early when a signal comes.
    ///
    /// - Parameters:
    ///   - requests: The requests to write.
    ///   - producer: Writes it.
    ///   - handles: The topics of that producer, by their names, with each that a request belongs to.
    ///   - timeout: How long the last of them may take.
    ///   - published: Gets them, in order.
    /// - Throws: A request that was not taken, or not written in time.
    mutating func send(
        _ requests: [OutgoingRequest], with producer: Producer, to handles: [String: Producer.Topic], timeout: Duration,
        into published: PublishedRequests
    ) throws(KafkaError) {
        var count = 0
        let start = Deadline.now()
        send: for _ in 0..<plan.copies {
            for request in requests {
                if Interruption.isRequested { break send }
                wait(for: count, since: start, producer)
                let record = self.record(of: request)
                guard let topic = handles[record.topic] else { throw .unknownTopic(record.topic) }
                try record.write(with: producer, to: topic, report: published.add(record.id, in: record.topic))
                count += 1
            }
        }
        try producer.flush(timeout: timeout)
    }

    /// The record of a request, which gets a new id unless it has one.
    mutating func record(of request: OutgoingRequest) -> RequestRecord {
        writer.record(of: request, at: Timestamp(milliseconds: now()))
    }

    /// Waits until the request with this number is due.
    private func wait(for number: Int, since start: Int64, _ producer: Producer) {
        guard let rate = plan.rate else { return }
        let due = start + Int64(Double(number) * 1e9 / rate)
        while !Interruption.isRequested {
            let left = due - Deadline.now()
            guard left > 0 else { return }
            producer.poll()
            let pause = min(left, 100_000_000)
            var time = timespec(tv_sec: 0, tv_nsec: Int(pause))
            nanosleep(&time, nil)
        }
    }
}
