import Basics
import Console
import EventLoop
import Foundation
import Kafka
import Synchronization

/// Publishes sample requests.
final class RequestFeed: Sendable {
    private let producer: Producer
    private let topic: Producer.Topic
    private let partitions: Int

    init(_ kafka: KafkaConfiguration, topic: String, partitions: Int) throws(KafkaError) {
        producer = try Producer(kafka, transactionalID: nil)
        self.topic = try producer.warmUp(topics: [topic], timeout: .seconds(120))[0]
        self.partitions = partitions
    }

    /// Publishes requests `0..<count` as fast as it goes, and waits until they are written.
    func publish(_ count: Int) throws { try publish(0..<count, over: partitions) }

    /// Publishes requests as fast as it goes, over the first `partitions` of the topic, and waits until they are written.
    func publish(_ numbers: Range<Int>, over partitions: Int) throws {
        for number in numbers {
            try publish(one: number, to: number % partitions)
            guard number % 1000 == 0 else { continue }
            producer.poll()
            try Interruption.check()
        }
        try producer.flush(timeout: .seconds(300))
        if let error = producer.failedDeliveries.first { throw error }
    }

    /// Publishes requests evenly, `rate` a second, whatever becomes of them. Returns the moment of each, in monotonic nanoseconds.
    func publish(_ numbers: Range<Int>, rate: Double) throws -> [Int64] {
        var moments: [Int64] = []
        moments.reserveCapacity(numbers.count)
        let start = MonotonicTime.now().nanoseconds
        while moments.count < numbers.count {
            let due = start + Int64(Double(moments.count) / rate * 1e9)
            let now = MonotonicTime.now().nanoseconds
            if due > now {
                try Interruption.check()
                producer.poll()
                usleep(UInt32(min(1000, (due - now) / 1000 + 1)))
                continue
            }
            let number = numbers.lowerBound + moments.count
            moments.append(now)
            try publish(one: number, to: number % partitions)
        }
        try producer.flush(timeout: .seconds(120))
        return moments
    }

    private func publish(one number: Int, to partition: Int) throws(KafkaError) {
        let value = SampleRequest.json(number)
        try producer.produce(to: topic, partition: Int32(partition), key: nil, value: value.span)
    }

    func close() { producer.close(timeout: .seconds(1)) }
}
