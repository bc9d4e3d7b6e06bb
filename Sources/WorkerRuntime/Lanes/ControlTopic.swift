import Basics
import Delivery
import Kafka
import PushModel

/// The end of the control topic when partitions were assigned.
enum ControlEnd: Sendable, Equatable {
    /// There is no such topic, or it may not be read.
    case missing
    /// The topic is there, and its leader did not answer.
    case unknown
    /// The next offset, for those who read what is committed.
    case at(Int64)
}

/// The control topic: the progress of reading it, and the cancellations that it has. Both outlive assignments, so that nothing is read
/// twice.
struct ControlTopic {
    /// The cancellations that were read and are not expired.
    private(set) var cancellations = Cancellations()
    /// The orders that were read.
    private(set) var orders = Orders()
    /// True if orders were read, or have ended, that were not obeyed yet.
    var hasNewOrders = false
    /// Its slot in the reader, or nil when it is not read.
    private(set) var slot: Int?
    /// The next offset to read, or nil before the first record.
    private(set) var position: Int64?
    private var cursor = PartitionCursor(mayHaveRecords: false)

    /// The looks at a topic that was not there, or not to be read, when it was to be: nil while it is read, or need not be.
    private var absence: Absence?

    private struct Absence {
        var wait: Int64
        var nextSearch: MonotonicTime
    }

    /// The wait before the first look at a topic that is missing, and the longest between two: nanoseconds. Each is twice the one before.
    static let (firstWait, longestWait): (Int64, Int64) = (5_000_000_000, 30_000_000_000)

    private var end = ControlEnd.missing
    private var gate = ControlGate()
    /// The number of forgotten cancellations that were reported.
    private var reportedCount = 0

    /// True if it must be read and cannot be: it was missing when partitions were assigned, was deleted, or reading is not allowed.
    var isAbsent: Bool { absence != nil }

    /// True while its leader does not answer, and requests go on without it.
    var hasLapsed: Bool { gate.failure == .lapsed }

    /// True if a read may find a record.
    var mayHaveRecords: Bool { cursor.mayHaveRecords }

    /// True if requests may begin: all was read that stood there when the partitions were assigned, or it cannot be read.
    var allowsRequests: Bool { gate.allowsRequests }

    /// The starts that the reader gets for it, when the topic ends at `end`. Nothing when there is none.
    func starts(in topics: Topics, end: ControlEnd) -> [(partition: TopicPartition, start: StartOffset)] {
        guard end != .missing else { return [] }
        // One that ends before what was read of it was made again.
        let position = if case .at(let end) = end { self.position.flatMap { $0 <= end ? $0 : nil } } else { self.position }
        let partition = TopicPartition(topic: topics.control, partition: CancelRecord.partition)
        return [(partition, position.map { StartOffset.offset($0) } ?? .beginning)]
    }

    /// Begins to read it where it was left.
    mutating func begin(slot: Int, end: ControlEnd, now: MonotonicTime) {
        stop()
        guard end != .missing else { return beginAbsence(now: now) }
        if case .at(let last) = end, let position, position > last { self.position = nil }
        self.slot = slot
        self.end = end
        cursor.noteArrivals()
        gate.noteStart(hasReachedEnd: hasReached(position ?? 0), now: now)
    }

    /// Notes that records may have arrived.
    mutating func noteArrivals() { if slot != nil { cursor.noteArrivals() } }

    /// Notes that a read found none.
    mutating func wasEmpty() { cursor.wasEmpty() }

    /// Takes in the record at `offset`, whose time is `moment`. Returns whether it can concern a request.
    mutating func take(key: Span<UInt8>?, value: Span<UInt8>?, at offset: Int64, moment: Timestamp, now: Timestamp) -> Bool {
        position = offset + 1
        gate.progressed()
        if hasReached(offset + 1) { gate.reachedEnd() }
        if let key, orders.take(key: key, value: value, now: now) == .change {
            hasNewOrders = true
            return false
        }
        guard let key, let value, let cancel = CancelRecord(key: key, value: value) else { return false }
        return cancellations.add(cancel, at: moment, now: now)
    }

    /// Notes that there is nothing more before `offset`.
    mutating func reached(_ offset: Int64) {
        position = offset
        gate.reachedEnd()
    }

    /// Ends its reading because it is missing, or not allowed. One that is there later may be another.
    mutating func lose(now: MonotonicTime) {
        stop()
        position = nil
        beginAbsence(now: now)
    }

    /// True when it is time to look whether it is there by now. To be called once a second.
    mutating func isDueForSearch(now: MonotonicTime) -> Bool {
        guard var absence, now >= absence.nextSearch else { return false }
        absence.wait = min(absence.wait * 2, Self.longestWait)
        absence.nextSearch = now.advanced(byNanoseconds: absence.wait)
        self.absence = absence
        return true
    }

    private mutating func beginAbsence(now: MonotonicTime) {
        absence = Absence(wait: Self.firstWait, nextSearch: now.advanced(byNanoseconds: Self.firstWait))
    }

    /// Ends its reading.
    mutating func stop() {
        slot = nil
        absence = nil
        cursor.wasEmpty()
        end = .missing
        gate.reachedEnd()
    }

    /// Forgets what has expired, and notes the orders that have ended. Returns the number of cancellations that were forgotten before their time since the last call. To be
    /// called once a second.
    mutating func removeExpired(now: Timestamp) -> Int {
        cancellations.removeExpired(now: now)
        if orders.removeEnded(now: now) { hasNewOrders = true }
        defer { reportedCount = cancellations.forgottenCount }
        return cancellations.forgottenCount - reportedCount
    }

    /// Lets time pass, once a second. Returns what is in the way, in words, or nil if nothing is, or not for long.
    mutating func advance(now: MonotonicTime, isBrokerDoubtful: Bool, topic: String) -> String? {
        gate.advance(now: now, isBrokerDoubtful: isBrokerDoubtful)
        return switch gate.failure {
        case nil: nil
        case .late:
            "the control topic \(topic) is not read to its end yet; no request begins before it is known which are cancelled"
        case .lapsed:
            (end == .unknown ? "no leader of the control topic \(topic) answers" : "the control topic \(topic) cannot be read")
                + "; requests go on, and cancellations are not seen"
        }
    }

    private func hasReached(_ offset: Int64) -> Bool {
        if case .at(let end) = end { offset >= end } else { false }
    }
}
