import JobSupport
import Kafka
import PushModel
import Replay
import ResultQuery

/// The number of records that could not be understood, and were not given back since.
package struct DeadLetterCount: Sendable, Equatable {
    /// The most records that are read. Of more records only their number is counted.
    private static let readLimit: Int64 = 10_000

    /// The number.
    package let count: Int64
    /// False if the number is an upper bound.
    package let isExact: Bool

    /// Counts the records of the dead-letter topic. Returns nil when there is no such topic.
    static func of(
        _ scan: TopicScan, in times: ResultFilter, without history: ReplayHistory
    ) throws(JobFailure) -> DeadLetterCount? {
        let start: TopicReader.Start = times.since.map { .time($0) } ?? .beginning
        guard let reader = try scan.openIfThere(start, BackwardScan.stop(times)) else { return nil }
        defer { reader.close() }
        // Workers write by transactions, whose ends take an offset each.
        guard reader.remainingCount <= readLimit else { return DeadLetterCount(count: reader.remainingCount, isExact: false) }
        var count: Int64 = 0
        try scan.read(reader) { record in
            let place = RecordPlace(topic: scan.topic, partition: record.partition, offset: record.offset)
            let letter = Original(at: place, publishedAt: record.timestamp.map { Timestamp(milliseconds: $0) })
            if times.covers(record.timestamp ?? 0), history.replayed(letter).isEmpty { count += 1 }
        }
        return DeadLetterCount(count: count, isExact: true)
    }
}
