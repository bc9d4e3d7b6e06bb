import Delivery
import Foundation
import Kafka

/// Looks whether records that were read are still where they were, in many partitions at once.
///
/// Lives on the committer's thread.
struct RecordLook {
    /// What the library may hold of all partitions together, in bytes.
    private static let budget = 16 << 20
    /// Between two looks at what has come: 2 ms in seconds.
    private static let pause = 0.002

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
        guard !marks.isEmpty else { return [:] }
        let places = Array(marks)
        let room = QueueRoom(sharing: Self.budget, among: places.count, atMost: .small)
        let reader = try PartitionReader(configuration, room: room, wakeUpFileDescriptor: -1)
        defer { reader.stop() }
        try reader.start(places.map { (partition: $0.key, start: StartOffset.offset($0.value.offset)) })
        var found: [TopicPartition: LogTail.Look] = [:]
        let deadline = ContinuousClock.now + limit
        while true {
            var hasMore = false
            for (slot, place) in places.enumerated() where found[place.key] == nil {
                guard let look = Self.look(reader, slot, place.value) else { continue }
                found[place.key] = look
                hasMore = true
            }
            guard found.count < places.count, ContinuousClock.now < deadline else { return found }
            if !hasMore { Thread.sleep(forTimeInterval: Self.pause) }
        }
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
    ///   - positions: The group's positions, without those of large requests.
    ///   - partitionsBehindCommit: Partitions that were seen to end before their position.
    ///   - look: Looks at records.
    /// - Throws: The library refused.
    init(
        of positions: [CommittedOffset], _ partitionsBehindCommit: Set<TopicPartition>, _ look: RecordLook
    ) throws(KafkaError) {
        self.partitionsBehindCommit = partitionsBehindCommit
        for position in positions where position.offset != nil {
            marks[position.partition] = (try? FinishedOffsets(decoding: position.metadata))?.marks
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
