import Delivery
import Kafka
import PushModel

/// A question about a partition that its own records answer: may it begin at the group's position, or where there is none, may a worker of
/// this group have gone on with what waits there?
///
/// It keeps how far it was read, so that whoever reads on does not start over.
struct StartQuestion: Sendable {
    /// The question itself.
    enum Matter: Sendable {
        /// The question whether the last record that was read is there, and if it is not, what has the place of the first one.
        case marks(ReadMarks)
        /// The question whether the first record of the group may have been gone on with: all behind it were written later, and
        /// wait behind it.
        case waiting(low: Int64, end: Int64)
    }

    let partition: TopicPartition
    let matter: Matter
    /// The group's position, or nil if it has none.
    let position: Int64?
    /// True if the partition was seen to end before its position.
    let wasBeyondEnd: Bool
    /// The offset of the next record to read.
    private(set) var next: Int64
    /// The bytes of the records that were read and are no answer.
    private(set) var byteCount: Int64 = 0
    /// The finding in place of the last record that was read, or nil while that is not known.
    private(set) var last: LogTail.Look?
    /// The finding in place of the first one, or nil while that is not known, or does not matter.
    private(set) var first: LogTail.Look?
    /// True if the group's first record may have been gone on with, or nil while that is not known.
    private(set) var mayHaveGoneOn: Bool?
    /// The partition's next offset when it was answered, open transactions included, or nil if that is not known.
    var end: Int64?

    /// The question about a position that says which records were read.
    init(_ partition: TopicPartition, position: Int64, marks: ReadMarks, wasBeyondEnd: Bool) {
        self.partition = partition
        self.position = position
        self.wasBeyondEnd = wasBeyondEnd
        matter = .marks(marks)
        next = marks.last.offset
    }

    /// The question about what waits in a partition without a position.
    ///
    /// - Parameters:
    ///   - partition: The partition.
    ///   - low: The first offset that is retained.
    ///   - end: The next offset.
    ///   - next: How far it was read before; nil if it was not.
    init(_ partition: TopicPartition, low: Int64, end: Int64, next: Int64?) {
        self.partition = partition
        position = nil
        wasBeyondEnd = false
        matter = .waiting(low: low, end: end)
        self.next = min(max(low, next ?? low), max(low, end))
        if self.next >= end { mayHaveGoneOn = false }
    }

    /// True if all is known that is asked.
    var isAnswered: Bool {
        switch matter {
        case .marks: last == .same || last != nil && first != nil
        case .waiting: mayHaveGoneOn != nil
        }
    }

    /// The number of offsets that were passed, and of all that there are to pass.
    var progress: (count: Int64, total: Int64) {
        switch matter {
        case .marks: (isAnswered ? 1 : 0, 1)
        case .waiting(let low, let end): (min(max(0, next - low), max(0, end - low)), max(0, end - low))
        }
    }

    /// The known facts of the records that were read, or nil where none are named.
    ///
    /// - Parameters:
    ///   - low: The first offset that is retained.
    ///   - high: The next offset.
    /// - Returns: What says where the partition goes on.
    func tail(low: Int64, high: Int64) -> LogTail? {
        guard case .marks(let marks) = matter, let position else { return nil }
        return LogTail(
            position: position, marks: marks, low: low, high: high, wasBeyondEnd: wasBeyondEnd, last: last ?? .unknown,
            first: first ?? .unknown)
    }

    /// True if the partition may have lost what was read.
    var isDoubtful: Bool { wasBeyondEnd || last.map { $0 != .same } ?? false }

    /// Takes a record in.
    ///
    /// - Parameters:
    ///   - record: The next record that can be read at `next` or behind it; or before it, where the partition ends before.
    ///   - configuration: Says whose records are the group's, and which topics are delay lanes.
    ///   - now: The present moment.
    /// - Returns: Whether reading has to go back to `next`.
    mutating func take(_ record: borrowing ConsumedRecord, _ configuration: WorkerConfiguration, now: Timestamp) -> Bool {
        switch matter {
        case .marks(let marks): return take(marks, record.offset == next ? RecordMark(record) : nil)
        case .waiting(_, let end):
            // What came since the end was asked for is not what a position was lost for.
            guard record.offset < end else {
                mayHaveGoneOn = false
                return false
            }
            let headers = PollHeaders(record, group: configuration.groupID)
            if headers.isOurs ?? false {
                var lane: Int?
                if case .delay(let delay) = PartitionRole(of: partition, in: configuration.topics) { lane = delay }
                mayHaveGoneOn = DelayLanes.mayHaveGoneOn(
                    in: lane, written: record.timestamp.map { Timestamp(milliseconds: $0) },
                    due: headers.due.map { Timestamp(milliseconds: $0) }, now: now)
                return false
            }
            next = record.offset + 1
            byteCount += Int64((record.key?.count ?? 0) + (record.value?.count ?? 0))
            return false
        }
    }

    /// Notes that there is no record at `next`, nor behind it.
    ///
    /// - Returns: Whether reading has to go back to `next`.
    mutating func reachedEnd() -> Bool {
        guard case .marks(let marks) = matter else {
            mayHaveGoneOn = false
            return false
        }
        guard last == nil else {
            first = .unknown
            return false
        }
        last = .unknown
        next = marks.first.offset
        return true
    }

    /// Takes in what has the place of a mark, or nil for a record at another offset.
    private mutating func take(_ marks: ReadMarks, _ found: RecordMark?) -> Bool {
        guard last == nil else {
            first = found.map { $0 == marks.first ? .same : .other } ?? .absent
            return false
        }
        last = found.map { $0 == marks.last ? .same : .other } ?? .absent
        next = marks.first.offset
        return last != .same
    }
}

extension RecordMark {
    /// The mark of a record that a reader delivered.
    init(_ record: borrowing ConsumedRecord) {
        self.init(offset: record.offset, time: record.timestamp, key: record.key, value: record.value)
    }
}
