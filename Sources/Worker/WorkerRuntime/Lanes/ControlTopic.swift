import Basics
import Delivery
import Kafka
import PushModel

/// The end of the control topic when partitions were assigned.
enum ControlEnd: Sendable, Equatable {
    /// There is no such topic.
    case missing
    /// The topic may not be read, or not be seen.
    case forbidden
    /// The topic is there, and its leader did not answer.
    case unknown
    /// The next offset, for those who read what is committed.
    case at(Int64)
}

/// The problem with the control topic.
struct ControlProblem: Equatable {
    /// The words for it.
    let text: String
    /// True if no request begins because of it.
    let holdsRequests: Bool
}

/// The control topic: the progress of reading it, and the orders and cancellations that it has. All outlive assignments, so that nothing is
/// read twice, and no order ends because the topic is away.
struct ControlTopic {
    /// The kinds of records that were read.
    struct News: OptionSet {
        let rawValue: Int
        /// A cancellation that can concern a request.
        static let cancellations = News(rawValue: 1)
        /// An order, or its release.
        static let orders = News(rawValue: 2)
    }

    /// The cancellations that were read and are not expired.
    private(set) var cancellations = Cancellations()
    /// The orders that were read.
    private(set) var orders = Orders()
    /// Those that are not obeyed.
    var refusedOrders = RefusedOrders()
    /// The number of orders that cancel by which what waits was looked through.
    private var sweptCount = 0
    /// The numbers of releases and of cancellations after which lanes were to be swept.
    private var knownEnds = (releases: 0, cancellations: 0)
    private var lastEarlyEnd: MonotonicTime?
    /// Its slot in the reader, or nil when it is not read.
    private(set) var slot: Int?
    /// The next offset to read, or nil before the first record.
    private(set) var position: Int64?
    private var cursor = PartitionCursor(mayHaveRecords: false)

    /// The looks at a topic that was not there, or not to be read, when it was to be: nil while it is read, or need not be. Where it was not
    /// to be read they go on until something of it was.
    private var absence: Absence?

    private struct Absence {
        let isForbidden: Bool
        var wait: Int64
        var nextSearch: MonotonicTime
    }

    /// The wait before the first look at a topic that is missing, and the longest between two: nanoseconds. Each is twice the one before.
    static let (firstWait, longestWait): (Int64, Int64) = (5_000_000_000, 30_000_000_000)

    private var end = ControlEnd.missing
    private var gate = ControlGate()
    /// The clock by which orders end.
    private var clock = OrderClock()
    /// The last moment until which all was read.
    private var knownUntil: Timestamp?
    /// The number of forgotten cancellations that were reported.
    private var reportedCount = 0

    /// True if it must be read and is not: it was missing when partitions were assigned, was deleted, or reading is not allowed.
    var isAbsent: Bool { absence != nil && slot == nil }

    /// True if a read may find a record.
    var mayHaveRecords: Bool { cursor.mayHaveRecords }

    /// True if requests may begin: all was read that stood there when the partitions were assigned, or there is no such topic, or it was read
    /// to its end before and cannot be now.
    var allowsRequests: Bool { gate.allowsRequests }

    /// The starts that the reader gets for it, when the topic ends at `end`. Nothing when it cannot be read.
    func starts(in topics: Topics, end: ControlEnd) -> [(partition: TopicPartition, start: StartOffset)] {
        guard end != .missing, end != .forbidden else { return [] }
        // One that ends before what was read of it was made again.
        let position = if case .at(let end) = end { self.position.flatMap { $0 <= end ? $0 : nil } } else { self.position }
        let partition = TopicPartition(topic: topics.control, partition: CancelRecord.partition)
        return [(partition, position.map { StartOffset.offset($0) } ?? .beginning)]
    }

    /// Begins to read it where it was left.
    mutating func begin(slot: Int, end: ControlEnd, now: MonotonicTime) {
        guard end != .missing, end != .forbidden else { return lose(isForbidden: end == .forbidden, now: now) }
        let refusal = absence.flatMap { $0.isForbidden ? $0 : nil }
        stop()
        if case .at(let last) = end, let position, position > last { self.position = nil }
        self.slot = slot
        self.end = end
        cursor.noteArrivals()
        absence = refusal
        gate.noteStart(hasReachedEnd: refusal == nil && hasReached(position ?? 0), now: now)
    }

    /// Notes that records may have arrived.
    mutating func noteArrivals() { if slot != nil { cursor.noteArrivals() } }

    /// Notes that a read found none.
    mutating func wasEmpty() { cursor.wasEmpty() }

    /// Takes in a record.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - value: Its value.
    ///   - offset: Its place.
    ///   - moment: Its time.
    ///   - wall: The machine's time.
    ///   - now: The present moment.
    /// - Returns: What can concern a request by it.
    mutating func take(
        key: Span<UInt8>?, value: Span<UInt8>?, at offset: Int64, moment: Timestamp, wall: Timestamp, now: MonotonicTime
    ) -> News {
        if gate.hasReachedEnd { clock.noteRecord(of: moment, wall: wall, monotonic: now) }
        position = offset + 1
        absence = nil
        gate.progressed()
        if hasReached(offset + 1) { gate.reachedEnd() }
        guard let key else { return [] }
        switch orders.take(key: key, value: value, now: time(wall: wall, now: now)) {
        case .change: return .orders
        case .faulty(let fault): refusedOrders.note("\(fault)", at: offset)
        case .tooMany: refusedOrders.note("too_many", at: offset)
        case .none: break
        }
        guard let value, let cancel = CancelRecord(key: key, value: value) else { return [] }
        return cancellations.add(cancel, at: moment, now: wall) ? .cancellations : []
    }

    /// Notes that there is nothing more before `offset`.
    mutating func reached(_ offset: Int64) {
        position = offset
        absence = nil
        gate.reachedEnd()
    }

    /// Ends its reading because it is missing, or may not be read. One that is there later may be another. Orders that were read stand.
    mutating func lose(isForbidden: Bool, now: MonotonicTime) {
        let former = absence
        stop()
        position = nil
        absence = Absence(
            isForbidden: isForbidden, wait: former?.wait ?? Self.firstWait,
            nextSearch: former?.nextSearch ?? now.advanced(byNanoseconds: Self.firstWait))
        if isForbidden { gate.noteRefusal() }
    }

    /// True when it is time to look whether it can be read by now. To be called once a second.
    mutating func isDueForSearch(now: MonotonicTime) -> Bool {
        guard slot == nil, var absence, now >= absence.nextSearch else { return false }
        absence.wait = min(absence.wait * 2, Self.longestWait)
        absence.nextSearch = now.advanced(byNanoseconds: absence.wait)
        self.absence = absence
        return true
    }

    /// Ends its reading.
    mutating func stop() {
        slot = nil
        absence = nil
        cursor.wasEmpty()
        end = .missing
        gate.stop()
    }

    private func hasReached(_ offset: Int64) -> Bool {
        if case .at(let end) = end { offset >= end } else { false }
    }
}

// The passing of time.
extension ControlTopic {
    /// The present moment by which orders stand.
    func time(wall: Timestamp, now: MonotonicTime) -> Timestamp { clock.time(wall: wall, monotonic: now) }

    /// Forgets what has expired. Returns the number of cancellations that were forgotten before their time since the last call. To be
    /// called once a second.
    mutating func removeExpired(now: Timestamp) -> Int {
        cancellations.removeExpired(now: now)
        defer { reportedCount = cancellations.forgottenCount }
        return cancellations.forgottenCount - reportedCount
    }

    /// Lets time pass, once a second.
    ///
    /// - Parameters:
    ///   - wall: The machine's time.
    ///   - now: The present moment.
    ///   - isBrokerDoubtful: Whether it seems that no broker answers.
    /// - Returns: Whether an order has ended by itself, and the milliseconds by which the machine's clock has jumped while one stands.
    mutating func advance(
        wall: Timestamp, now: MonotonicTime, isBrokerDoubtful: Bool
    ) -> (hasEnded: Bool, jump: Int64?) {
        gate.advance(now: now, isBrokerDoubtful: isBrokerDoubtful)
        if slot != nil && gate.hasReachedEnd { knownUntil = wall }
        let jump = clock.advance(wall: wall, monotonic: now, hasOrders: orders.slowsRequests)
        return (orders.removeEnded(now: time(wall: wall, now: now)), jump)
    }

    /// True if what waits in lanes must be examined before its time: since the last call an order was released, or one that cancels has come.
    mutating func takeEarlyEnds(wall: Timestamp, now: MonotonicTime) -> Bool {
        let ends = (releases: orders.releaseCount, cancellations: orders.cancellationCount)
        let isNews =
            ends.releases != knownEnds.releases
            || ends.cancellations != knownEnds.cancellations && orders.hasYoungCancellation(now: time(wall: wall, now: now))
        knownEnds = ends
        if isNews { lastEarlyEnd = now }
        return isNews
    }

    /// True if records may wait for what has ended before its time: it was read in the last ten minutes, or this process is younger and finds
    /// a release whose order would still stand.
    func mayHaveWaiting(wall: Timestamp, now: MonotonicTime, startedAt: MonotonicTime) -> Bool {
        if let lastEarlyEnd, now - lastEarlyEnd < LaneSweep.youth { return true }
        return now - startedAt < LaneSweep.youth && orders.lastRelease(now: time(wall: wall, now: now)) != nil
    }

    /// True if an order that cancels has come since the last call.
    mutating func takeNewCancellations() -> Bool {
        defer { sweptCount = orders.cancellationCount }
        return orders.cancellationCount != sweptCount
    }

    /// The problem with the topic of this name, or nil if there is none, or not for long.
    func problem(topic: String) -> ControlProblem? {
        let unseen = "requests go on, and orders and cancellations\(knownUntil.map { " after " + $0.text } ?? "") are not seen"
        let wait = "no request begins before it was read to its end once, because it may hold an order"
        let away =
            end == .unknown ? "no leader of the control topic \(topic) answers" : "the control topic \(topic) cannot be read"
        return switch (absence, gate.failure) {
        case (let absence?, _) where !absence.isForbidden:
            ControlProblem(text: "the control topic \(topic) is missing; \(unseen); it is looked for again", holdsRequests: false)
        case (_?, _):
            ControlProblem(
                text: "the control topic \(topic) may not be read; \(gate.wasRead ? unseen : wait); it is looked for again",
                holdsRequests: !gate.wasRead)
        case (nil, nil): nil
        case (nil, .late):
            ControlProblem(text: "the control topic \(topic) is not read to its end yet; \(wait)", holdsRequests: true)
        case (nil, .stuck): ControlProblem(text: "\(away); \(wait)", holdsRequests: true)
        case (nil, .lapsed): ControlProblem(text: "\(away); \(unseen)", holdsRequests: false)
        }
    }
}

/// The orders that are not obeyed, for the log and for metrics.
struct RefusedOrders {
    /// The least time between two lines in the log: 10 s in nanoseconds.
    static let interval: Int64 = 10_000_000_000

    /// Those of which the log is yet to tell: how many, and the last of them.
    struct Line: Equatable {
        var count: Int
        var offset: Int64
        var fault: String
    }

    private var unsaid: Line?
    private var nextLine = MonotonicTime.past
    private var counts: [String: Int] = [:]

    /// Notes one, and why no one obeys it.
    mutating func note(_ fault: String, at offset: Int64) {
        counts[fault, default: 0] += 1
        unsaid = Line(count: (unsaid?.count ?? 0) + 1, offset: offset, fault: fault)
    }

    /// Those since the last call, by their faults.
    mutating func takeCounts() -> [String: Int] {
        defer { counts = [:] }
        return counts
    }

    /// The line that the log is to have now, if any.
    mutating func takeLine(now: MonotonicTime) -> Line? {
        guard now >= nextLine, let line = unsaid else { return nil }
        unsaid = nil
        nextLine = now.advanced(byNanoseconds: Self.interval)
        return line
    }
}
