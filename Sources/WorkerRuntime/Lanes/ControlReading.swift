import Kafka
import PushModel

/// How far the control topic is read. The position outlives assignments, so that nothing is read twice.
struct ControlReading {
    /// Its slot in the reader; nil when it is not read.
    private(set) var slot: Int?
    /// The next offset to read; nil before the first record.
    private(set) var position: Int64?
    /// Whether everything was read that stood there when the partitions were assigned.
    private(set) var hasReachedEnd = true
    /// Whether a read may find a record.
    var mayHaveRecords = false
    /// Whether it was said that it takes long.
    var isLate = false
    /// How many forgotten cancellations were counted.
    var forgottenCount = 0

    private var end: Int64 = 0

    /// What the reader gets for it, when the topic ends at `end`; nothing when there is none.
    func starts(in topics: WorkerConfiguration.Topics, end: Int64?) -> [(partition: TopicPartition, start: StartOffset)] {
        guard end != nil else { return [] }
        let partition = TopicPartition(topic: topics.control, partition: CancelRecord.partition)
        return [(partition, position.map { StartOffset.offset($0) } ?? .beginning)]
    }

    mutating func begin(slot: Int, end: Int64?) {
        stop()
        guard let end else { return }
        self.slot = slot
        self.end = end
        mayHaveRecords = true
        hasReachedEnd = (position ?? 0) >= end
        isLate = false
    }

    /// Notes that the record at `offset` was read.
    mutating func took(_ offset: Int64) {
        position = offset + 1
        if offset + 1 >= end { hasReachedEnd = true }
    }

    /// Notes that there is nothing more before `offset`.
    mutating func reached(_ offset: Int64) {
        position = offset
        hasReachedEnd = true
    }

    mutating func stop() {
        slot = nil
        mayHaveRecords = false
        hasReachedEnd = true
    }
}
