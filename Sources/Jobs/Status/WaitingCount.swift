import Delivery
package import GroupPositions
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
    /// The open transaction that hides some of them from workers, which are counted as well.
    package var transaction: OpenTransaction?

    /// The requests that wait, at most.
    package var most: Int64 { requests.addingSaturated(unread) }
}

/// Counts the requests that wait by reading them, up to a limit.
///
/// What waits is what was written and has no result, readable or not (page Monitoring, "What waits"). Offsets alone count too much: the
/// ends of transactions take an offset each, and delay lanes also hold requests of other groups, and polls for outcomes. Belongs to one
/// thread.
struct WaitingCounter {
    /// The most records of a topic that are read.
    private static let recordLimit = 2000
    /// The most bytes of values.
    private static let byteLimit = 16 << 20

    private let kafka: KafkaConfiguration
    private let timeout: Duration
    private let now: Timestamp
    private let fetcher: RecordFetcher
    /// Made for the first partition with an open transaction.
    private var uncommitted: RecordFetcher?
    private var reader: WaitingReader
    private var recordsLeft = 0
    private var bytesLeft = 0

    /// A counter for which `now` stands for the time of a record without one.
    init(_ kafka: KafkaConfiguration, reader: WaitingReader, timeout: Duration, now: Timestamp) throws(KafkaError) {
        self.kafka = kafka
        self.reader = reader
        self.timeout = timeout
        self.now = now
        fetcher = try RecordFetcher(kafka, readAhead: 1 << 20)
    }

    /// Counts what waits in each partition. Their ends have to be those of all that was written (`TopicAdmin`, `seesUncommitted`).
    mutating func counts(
        in positions: [GroupPosition], kind: (String) -> AssignmentPlan.Kind
    ) throws(KafkaError) -> [WaitingCount] {
        var counts = positions.map { _ in WaitingCount() }
        let open = positions.indices.filter { positions[$0].lag > 0 }
        for (topic, indices) in Dictionary(grouping: open, by: { positions[$0].partition.topic }) {
            (recordsLeft, bytesLeft) = (Self.recordLimit, Self.byteLimit)
            let numbers = indices.map { positions[$0].partition.partition }
            for (index, end) in zip(indices, try fetcher.endOffsets(of: numbers, in: topic, timeout: timeout)) {
                counts[index] = try count(positions[index], of: kind(topic), readableTo: end)
            }
        }
        return counts
    }

    private mutating func count(
        _ position: GroupPosition, of kind: AssignmentPlan.Kind, readableTo end: Int64
    ) throws(KafkaError) -> WaitingCount {
        var count = WaitingCount()
        let end = min(max(end, position.start), position.high)
        _ = try read(position.start..<end, of: position, as: kind, with: fetcher, into: &count)
        guard end < position.high else { return count }
        let fetcher = try seeingFetcher()
        let (first, total) = try read(end..<position.high, of: position, as: kind, with: fetcher, into: &count)
        guard let first else { return count }
        count.transaction = OpenTransaction(
            partition: position.partition, offset: first.offset, recordCount: total,
            since: first.timestamp.map(WaitingReader.moment),
            source: reader.source(of: first, of: kind, in: position.partition))
        return count
    }

    private mutating func seeingFetcher() throws(KafkaError) -> RecordFetcher {
        if let uncommitted { return uncommitted }
        let made = try RecordFetcher(kafka, readAhead: 1 << 20, seesUncommitted: true)
        uncommitted = made
        return made
    }

    /// Counts what waits at some offsets. Returns the first record there, and how many there are at most.
    private mutating func read(
        _ offsets: Range<Int64>, of position: GroupPosition, as kind: AssignmentPlan.Kind, with fetcher: RecordFetcher,
        into count: inout WaitingCount
    ) throws(KafkaError) -> (first: FetchedRecord?, total: Int64) {
        let finished = Set(position.finishedOffsets)
        var (first, total): (FetchedRecord?, Int64) = (nil, 0)
        var offset = offsets.lowerBound
        while offset < offsets.upperBound {
            // One record is read in any case, for its age.
            guard recordsLeft > 0 && bytesLeft > 0 || first == nil else {
                let unread = offsets.upperBound - offset - Int64(finished.count { $0 >= offset && $0 < offsets.upperBound })
                count.unread = count.unread.addingSaturated(unread)
                total = total.addingSaturated(unread)
                break
            }
            guard let record = try fetcher.firstRecord(from: offset, of: position.partition, timeout: timeout),
                record.offset < offsets.upperBound
            else { break }
            offset = record.offset + 1
            first = first ?? record
            total += 1
            recordsLeft -= 1
            bytesLeft -= record.value?.count ?? 0
            if !finished.contains(record.offset) { add(record, of: kind, in: position.partition, to: &count) }
        }
        return (first, total)
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
