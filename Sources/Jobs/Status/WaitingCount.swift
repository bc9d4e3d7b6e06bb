import Delivery
import Kafka
package import PushModel

/// The counts of waiting requests in a partition.
package struct WaitingCount: Sendable, Equatable {
    /// The requests that wait, as far as records were read.
    package var requests: Int64 = 0
    /// The number of them that were cancelled and have not ended.
    package var cancelled: Int64 = 0
    /// The offsets that were not read: no more requests than these wait besides.
    package var unread: Int64 = 0
    /// The time since which the oldest waits, or of requests that must not be sent yet the first due time.
    package var oldest: Timestamp?

    /// The requests that wait, at most.
    package var most: Int64 { requests.addingSaturated(unread) }
}

/// Counts the requests that wait in the partitions of a topic by reading them, up to a limit.
///
/// Offsets alone count too much: the ends of transactions take an offset each, and delay lanes also hold requests of other
/// groups, and polls for outcomes.
struct WaitingCounter {
    /// The most records of a topic that are read.
    private static let recordLimit = 2000
    /// The most bytes of values.
    private static let byteLimit = 16 << 20

    private let fetcher: RecordFetcher
    private let timeout: Duration
    private let now: Timestamp
    private var reader: WaitingReader
    private var topic = ""
    private var recordsLeft = 0
    private var bytesLeft = 0

    /// A counter for which `now` stands for the time of a record without one.
    init(_ fetcher: RecordFetcher, reader: WaitingReader, timeout: Duration, now: Timestamp) {
        self.fetcher = fetcher
        self.reader = reader
        self.timeout = timeout
        self.now = now
    }

    /// Counts what waits in a partition.
    mutating func count(_ position: GroupPosition, of kind: AssignmentPlan.Kind) throws(KafkaError) -> WaitingCount {
        if topic != position.partition.topic {
            (topic, recordsLeft, bytesLeft) = (position.partition.topic, Self.recordLimit, Self.byteLimit)
        }
        var count = WaitingCount()
        let finished = Set(position.finishedOffsets)
        var (offset, readCount) = (position.start, 0)
        while offset < position.high {
            // Of each partition one record is read, for its age.
            guard recordsLeft > 0 && bytesLeft > 0 || readCount == 0 else {
                count.unread = position.high - offset - Int64(finished.count { $0 >= offset })
                break
            }
            guard let record = try fetcher.firstRecord(from: offset, of: position.partition, timeout: timeout),
                record.offset < position.high
            else { break }
            offset = record.offset + 1
            readCount += 1
            recordsLeft -= 1
            bytesLeft -= record.value?.count ?? 0
            if !finished.contains(record.offset) { add(record, of: kind, in: position.partition, to: &count) }
        }
        return count
    }

    private mutating func add(
        _ record: FetchedRecord, of kind: AssignmentPlan.Kind, in partition: TopicPartition, to count: inout WaitingCount
    ) {
        guard let request = reader.read(record, of: kind, in: partition) else { return }
        count.requests += 1
        if request.cancelledAt != nil { count.cancelled += 1 }
        let since = request.due ?? record.timestamp.map(WaitingReader.moment) ?? now
        // Records of a lane are in order, and whoever publishes them may give them any time.
        if let oldest = count.oldest {
            count.oldest = kind == .requests ? oldest : min(oldest, since)
        } else {
            count.oldest = since
        }
    }
}
