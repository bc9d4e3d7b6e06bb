import Basics
import Delivery
import Kafka
import PushModel

/// The end of the control topic when partitions were assigned.
enum ControlEnd: Sendable, Equatable {
    /// There is no such topic.
    case missing
    /// The topic is there, and its leader did not answer.
    case unknown
    /// The next offset, for those who read what is committed.
    case at(Int64)
}

/// The progress of reading the control topic. The position outlives assignments, so that nothing is read twice.
struct ControlReading {
    /// Its slot in the reader, or nil when it is not read.
    private(set) var slot: Int?
    /// The next offset to read, or nil before the first record.
    private(set) var position: Int64?
    /// What is known of its queue in the library.
    var cursor = PartitionCursor(mayHaveRecords: false)
    /// The number of forgotten cancellations that were counted.
    var forgottenCount = 0

    private var end = ControlEnd.missing
    private var gate = ControlGate()

    /// True if requests may begin: all was read that stood there when the partitions were assigned, or it cannot be read.
    var allowsRequests: Bool { gate.allowsRequests }

    /// The starts that the reader gets for it, when the topic ends at `end`. Nothing when there is none.
    func starts(in topics: Topics, end: ControlEnd) -> [(partition: TopicPartition, start: StartOffset)] {
        guard end != .missing else { return [] }
        let partition = TopicPartition(topic: topics.control, partition: CancelRecord.partition)
        return [(partition, position.map { StartOffset.offset($0) } ?? .beginning)]
    }

    mutating func begin(slot: Int, end: ControlEnd, now: MonotonicTime) {
        stop()
        guard end != .missing else { return }
        self.slot = slot
        self.end = end
        cursor.noteArrivals()
        gate.noteStart(hasReachedEnd: hasReached(position ?? 0), now: now)
    }

    /// Notes that the record at `offset` was read.
    mutating func took(_ offset: Int64) {
        position = offset + 1
        gate.progressed()
        if hasReached(offset + 1) { gate.reachedEnd() }
    }

    /// Notes that there is nothing more before `offset`.
    mutating func reached(_ offset: Int64) {
        position = offset
        gate.reachedEnd()
    }

    mutating func stop() {
        slot = nil
        cursor.wasEmpty()
        end = .missing
        gate.reachedEnd()
    }

    /// Lets time pass, once a second. Returns what is in the way, in words, or nil if nothing is, or not for long.
    mutating func advance(now: MonotonicTime, isBrokerDoubtful: Bool, topic: String) -> String? {
        gate.advance(now: now, isBrokerDoubtful: isBrokerDoubtful)
        switch gate.failure {
        case nil: return nil
        case .late:
            return
                "the control topic \(topic) is not read to its end yet; no request begins before it is known which are cancelled"
        case .lapsed:
            let what =
                end == .unknown ? "no leader of the control topic \(topic) answers" : "the control topic \(topic) cannot be read"
            return "\(what); requests go on, and cancellations are not seen"
        }
    }

    private func hasReached(_ offset: Int64) -> Bool {
        if case .at(let end) = end { offset >= end } else { false }
    }
}
