import Delivery
import Jobs
import Kafka
import PushModel

/// The position of a group in one partition.
struct GroupPosition: Equatable {
    /// The partition.
    let partition: TopicPartition
    /// The offset of the oldest record that is kept.
    let low: Int64
    /// The offset that the next record will get.
    let high: Int64
    /// The first offset without an outcome, or nil when the group never committed one.
    let committed: Int64?
    /// The text kept with that, empty if there is none.
    let metadata: String
    /// The offsets finished above it, or nil when no version known here wrote them, and in the topic of parents.
    let finished: FinishedOffsets?

    init(_ partition: TopicPartition, low: Int64, high: Int64, committed: Int64?, metadata: String = "") {
        self.partition = partition
        self.low = low
        self.high = high
        self.committed = committed
        finished = try? FinishedOffsets(decoding: metadata)
        self.metadata = metadata
    }

    /// The offset at which the group continues: its position, or the beginning, or the end if the topic was recreated and is
    /// shorter.
    var start: Int64 { min(max(committed ?? low, low), high) }

    /// The first and the last record that were read, or nil when they are not known.
    var marks: ReadMarks? { ReadMarks(metadata: metadata) }

    /// The offsets that wait for an outcome, of which some may hold no record.
    var lag: Int64 { max(0, high - start - Int64(finishedOffsets.count)) }

    /// The offsets that have their outcome although an earlier one has not.
    var finishedOffsets: [Int64] {
        guard let finished, let committed else { return [] }
        return (0..<finished.bitCount).filter { finished.contains($0) }.map { committed.addingSaturated(Int64($0)) }
            .filter { $0 >= start && $0 < high }
    }

    /// The share of the largest window between the position and the last finished offset, 0 to 1.
    var windowUse: Double {
        guard let committed, let last = finishedOffsets.last else { return 0 }
        return min(1, Double(last + 1 - committed) / Double(OffsetLedger.maximumWindow))
    }

    /// The records that were removed before the group had read them.
    var lostCount: Int64 { committed.map { max(0, low - $0) } ?? 0 }

    /// The position is beyond the log end: the topic was recreated or truncated.
    var isBeyondEnd: Bool { committed.map { $0 > high } ?? false }
}

extension GroupPosition {
    /// The first record without an outcome.
    ///
    /// - Parameters:
    ///   - fetcher: Fetches records.
    ///   - timeout: The time limit of each query.
    /// - Returns: The record, or nil when all that is there has its outcome.
    /// - Throws: As `RecordFetcher.firstRecord` does.
    func next(_ fetcher: RecordFetcher, timeout: Duration) throws(KafkaError) -> FetchedRecord? {
        let finished = Set(finishedOffsets)
        var offset = start
        while offset < high {
            if finished.contains(offset) {
                offset += 1
                continue
            }
            guard let record = try fetcher.firstRecord(from: offset, of: partition, timeout: timeout) else { return nil }
            if !finished.contains(record.offset) { return record }
            offset = record.offset + 1
        }
        return nil
    }

    /// Queries the positions of a group in every partition of some topics, without joining it.
    ///
    /// - Parameters:
    ///   - group: The group's name.
    ///   - topics: The topics' names, and how many partitions each has.
    ///   - admin: Asks for the offsets.
    ///   - configuration: The brokers, for the group's coordinator.
    ///   - timeout: The time limit of each query.
    /// - Returns: One position for each partition, in the order of the topics.
    /// - Throws: `isAuthorization`, `isUnreachable` and the like. A time-out also comes from a hanging transaction that blocks
    ///   positions.
    static func all(
        of group: String, in topics: [(topic: String, partitionCount: Int)], _ admin: TopicAdmin,
        _ configuration: KafkaConfiguration, timeout: Duration
    ) throws(KafkaError) -> [GroupPosition] {
        var partitions: [TopicPartition] = []
        var marks: [Watermarks] = []
        for (topic, count) in topics {
            partitions += (0..<Int32(clamping: count)).map { TopicPartition(topic: topic, partition: $0) }
            marks += try FreshTopics.retrying { () throws(KafkaError) in
                try admin.watermarks(ofTopic: topic, partitionCount: count, timeout: timeout)
            }
        }
        let consumer = try Consumer(configuration, groupID: group, wakeUpFileDescriptor: -1)
        defer { consumer.close(timeout: .seconds(1)) }
        let committed = try committed(partitions, of: consumer, timeout: timeout)
        return zip(committed, marks).map {
            GroupPosition($0.partition, low: $1.low, high: $1.high, committed: $0.offset, metadata: $0.metadata)
        }
    }

    /// Queries the positions of a group in an optional topic.
    ///
    /// - Parameters:
    ///   - group: The group's name.
    ///   - topic: The topic's name.
    ///   - admin: Asks for the offsets.
    ///   - configuration: The brokers, for the group's coordinator.
    ///   - timeout: The time limit of each query, at most 5 s.
    /// - Returns: One position for each partition, or none if the topic does not exist, or no broker answers.
    static func known(
        of group: String, in topic: String, _ admin: TopicAdmin, _ configuration: KafkaConfiguration, timeout: Duration
    ) -> [GroupPosition] {
        let limit = min(timeout, .seconds(5))
        guard case .existing(let count)? = try? admin.describe(topics: [topic], timeout: limit).topics.first else { return [] }
        return (try? all(of: group, in: [(topic, count)], admin, configuration, timeout: limit)) ?? []
    }

    /// The library searches the coordinator until time is up even if that is not allowed. The reason stands in its events alone.
    private static func committed(
        _ partitions: [TopicPartition], of consumer: Consumer, timeout: Duration
    ) throws(KafkaError) -> [CommittedOffset] {
        do throws(KafkaError) {
            return try FreshTopics.retrying { () throws(KafkaError) in
                try consumer.group.committed(partitions, timeout: timeout)
            }
        } catch {
            while error.isTimeout, let event = consumer.nextEvent() {
                if case .error(let reason) = event, reason.isAuthorization { throw reason }
            }
            throw error
        }
    }
}
