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
    /// The shares of sources and tenants in the requests of a lane.
    package var shares = WaitingShares()

    /// The requests that wait, at most.
    package var most: Int64 { requests.addingSaturated(unread) }
}

/// Counts the requests that wait by reading them, up to a limit.
///
/// What waits is what was written and has no result, readable or not (page Monitoring, "What waits"). Offsets alone count too much: the
/// ends of transactions take an offset each, and delay lanes also hold requests of other groups, and polls for outcomes. All partitions
/// are read at once. Belongs to one thread.
struct WaitingCounter {
    /// The records and bytes of values that may still be read of a topic.
    private struct Allowance {
        var records = 2000
        var bytes = 16 << 20

        var isSpent: Bool { records <= 0 || bytes <= 0 }
    }

    /// The reading of one partition, and its finds.
    private struct Reading {
        /// The index of its position.
        let index: Int
        let partition: TopicPartition
        let kind: AssignmentPlan.Kind
        let finished: Set<Int64>
        let offsets: Range<Int64>
        /// The next offset.
        var next: Int64
        var first: FetchedRecord?
        /// The records that there are, at most.
        var total: Int64 = 0

        init(_ position: GroupPosition, at index: Int, of kind: AssignmentPlan.Kind, offsets: Range<Int64>) {
            self.index = index
            partition = position.partition
            self.kind = kind
            finished = Set(position.finishedOffsets)
            self.offsets = offsets
            next = offsets.lowerBound
        }

        /// The offsets that were not read and are not finished.
        var unread: Int64 {
            guard next < offsets.upperBound else { return 0 }
            return offsets.upperBound - next - Int64(finished.count { $0 >= next && $0 < offsets.upperBound })
        }
    }

    private let kafka: KafkaConfiguration
    private let timeout: Duration
    private let now: Timestamp
    private var reader: WaitingReader
    private var allowances: [String: Allowance] = [:]

    /// A counter for which `now` stands for the time of a record without one.
    init(_ kafka: KafkaConfiguration, reader: WaitingReader, timeout: Duration, now: Timestamp) {
        self.kafka = kafka
        self.reader = reader
        self.timeout = timeout
        self.now = now
    }

    /// Counts what waits in each partition. Their ends have to be those of all that was written (`TopicAdmin`, `seesUncommitted`).
    mutating func counts(
        in positions: [GroupPosition], kind: (String) -> AssignmentPlan.Kind
    ) throws(KafkaError) -> [WaitingCount] {
        var counts = positions.map { _ in WaitingCount() }
        let open = positions.indices.filter { positions[$0].lag > 0 }
        guard !open.isEmpty else { return counts }
        let fetcher = try RangeReader(kafka)
        let ends = try fetcher.ends(of: open.map { positions[$0].partition }, timeout: timeout)
        var (readable, hidden): ([Reading], [Reading]) = ([], [])
        for (index, readableEnd) in zip(open, ends) {
            let position = positions[index]
            let end = min(max(readableEnd, position.start), position.high)
            let kind = kind(position.partition.topic)
            readable.append(Reading(position, at: index, of: kind, offsets: position.start..<end))
            guard end < position.high else { continue }
            hidden.append(Reading(position, at: index, of: kind, offsets: end..<position.high))
        }
        try read(&readable, with: fetcher, into: &counts)
        guard !hidden.isEmpty else { return counts }
        try read(&hidden, with: RangeReader(kafka, seesUncommitted: true), into: &counts)
        for reading in hidden {
            guard let first = reading.first else { continue }
            counts[reading.index].transaction = OpenTransaction(
                partition: reading.partition, offset: first.offset, recordCount: reading.total,
                since: first.timestamp.map(WaitingReader.moment),
                source: reader.source(of: first, of: reading.kind, in: reading.partition))
        }
        return counts
    }

    /// Counts what waits at some offsets of partitions.
    private mutating func read(
        _ readings: inout [Reading], with fetcher: RangeReader, into counts: inout [WaitingCount]
    ) throws(KafkaError) {
        let parts = readings.map { RangeReader.Part($0.partition, offsets: $0.offsets) }
        try fetcher.read(parts, timeout: timeout) { index, record in
            take(record, in: &readings[index], into: &counts[readings[index].index])
        }
    }

    /// Takes the next record of a partition in. Returns whether more of it must be read. One record is read in any case, for its age.
    private mutating func take(
        _ record: borrowing ConsumedRecord, in reading: inout Reading, into count: inout WaitingCount
    ) -> Bool {
        var allowance = allowances[reading.partition.topic] ?? Allowance()
        if reading.first == nil || !allowance.isSpent {
            let record = FetchedRecord(record)
            reading.next = record.offset + 1
            reading.first = reading.first ?? record
            reading.total += 1
            allowance.records -= 1
            allowance.bytes -= record.value?.count ?? 0
            allowances[reading.partition.topic] = allowance
            if !reading.finished.contains(record.offset) { add(record, of: reading.kind, in: reading.partition, to: &count) }
        }
        guard allowance.isSpent else { return true }
        count.unread = count.unread.addingSaturated(reading.unread)
        reading.total = reading.total.addingSaturated(reading.unread)
        return false
    }

    private mutating func add(
        _ record: FetchedRecord, of kind: AssignmentPlan.Kind, in partition: TopicPartition, to count: inout WaitingCount
    ) {
        guard let request = reader.read(record, of: kind, in: partition) else { return }
        count.requests += 1
        if request.cancelledAt != nil { count.cancelled += 1 }
        if kind == .requests { count.shares.add(source: reader.source, tenant: reader.tenant) }
        let since = request.due ?? record.timestamp.map(WaitingReader.moment) ?? now
        // Records of a lane are in order, and whoever publishes them may give them any time.
        if let oldest = count.oldest {
            count.oldest = kind == .requests ? oldest : min(oldest, since)
        } else {
            count.oldest = since
        }
    }
}
