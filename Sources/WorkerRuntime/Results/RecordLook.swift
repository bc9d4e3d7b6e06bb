import Delivery
import Kafka

/// Looks whether records that were read are still where they were, in many partitions at once.
///
/// Lives on the committer's thread.
struct RecordLook {
    private let configuration: KafkaConfiguration
    /// How long the brokers may take in all.
    private let limit: Duration

    init(_ configuration: KafkaConfiguration, limit: Duration) {
        self.configuration = configuration
        self.limit = limit
    }

    /// Looks at one record of each partition.
    ///
    /// - Parameter marks: The records.
    /// - Returns: What there is in their places. What was not seen in time is left out; `unknown` is one behind all that can be read.
    /// - Throws: The library refused.
    func look(at marks: [TopicPartition: RecordMark]) throws(KafkaError) -> [TopicPartition: LogTail.Look] {
        let places = Array(marks)
        let look = PartitionLook(configuration: configuration, limit: limit)
        let answers = try look.answers(from: places.map { ($0.key, $0.value.offset) }) { reader, slot in
            Self.look(reader, slot, places[slot].value).map { .answer($0) } ?? .nothing
        }
        return Dictionary(uniqueKeysWithValues: answers.map { (places[$0.key].key, $0.value) })
    }

    private static func look(_ reader: PartitionReader, _ slot: Int, _ mark: RecordMark) -> LogTail.Look? {
        var look: LogTail.Look?
        let result = reader.read(slot: slot) { record in
            if record.offset == mark.offset {
                look = RecordMark(record) == mark ? .same : .other
            } else {
                look = .absent
            }
        }
        if case .endOfPartition = result { look = .unknown }
        return look
    }
}

extension RecordMark {
    /// The mark of a record that a reader delivered.
    init(_ record: borrowing ConsumedRecord) {
        self.init(offset: record.offset, time: record.timestamp, key: record.key, value: record.value)
    }
}

/// What there is in place of the records that positions name.
struct RecordLooks {
    /// What the positions say of the records that were read.
    private(set) var marks: [TopicPartition: ReadMarks] = [:]
    private var last: [TopicPartition: LogTail.Look] = [:]
    private var first: [TopicPartition: LogTail.Look] = [:]
    private let partitionsBehindCommit: Set<TopicPartition>

    /// Looks at the last record that was read of each partition; where it is not there, at the first one too.
    ///
    /// - Parameters:
    ///   - positions: The group's positions.
    ///   - partitionsBehindCommit: Partitions that were seen to end before their position.
    ///   - look: Looks at records.
    /// - Throws: The library refused.
    init(
        of positions: [CommittedOffset], _ partitionsBehindCommit: Set<TopicPartition>, _ look: RecordLook
    ) throws(KafkaError) {
        self.partitionsBehindCommit = partitionsBehindCommit
        for position in positions where position.offset != nil {
            marks[position.partition] = ReadMarks(metadata: position.metadata)
        }
        last = try look.look(at: marks.mapValues(\.last))
        let missing = marks.filter { isDoubtful($0.key) && last[$0.key] != .same }
        first = try look.look(at: missing.mapValues(\.first))
    }

    /// Whether a partition may have lost what was read.
    func isDoubtful(_ partition: TopicPartition) -> Bool {
        partitionsBehindCommit.contains(partition) || last[partition].map { $0 != .same } ?? false
    }

    /// What is known of a partition.
    ///
    /// - Parameters:
    ///   - partition: The partition.
    ///   - position: The group's position.
    ///   - low: The first offset that is retained.
    ///   - high: The next offset.
    /// - Returns: What tells where it goes on.
    func tail(of partition: TopicPartition, position: Int64, low: Int64, high: Int64) -> LogTail {
        LogTail(
            position: position, marks: marks[partition], low: low, high: high,
            wasBeyondEnd: partitionsBehindCommit.contains(partition), last: last[partition] ?? .unknown,
            first: first[partition] ?? .unknown)
    }
}
