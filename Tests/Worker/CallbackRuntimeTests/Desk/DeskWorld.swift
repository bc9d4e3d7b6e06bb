import Basics
import Delivery
import Kafka
import ResultFeed
import Testing
import Webhooks

@testable import CallbackRuntime

/// A desk with a topic of results around it, of which not all offsets are wanted, and a clock that moves when it is told to.
struct DeskWorld {
    static let topic = "results"

    var desk: ReceiverDesk
    var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    /// The results that are wanted, by partition and offset.
    var wanted: [Int32: [Int64: FeedRecord]] = [:]
    /// The ends of partitions.
    var ends: [Int32: Int64] = [:]
    /// The calls in flight.
    var calls: [Int: DeskCall] = [:]

    init(_ receiver: Receiver, seed: UInt64 = 1) {
        desk = ReceiverDesk(receiver, now: now, generator: .init(seed: seed))
    }

    /// A world in which the first offsets of one partition are wanted, and were read.
    init(_ receiver: Receiver, results: Int64, end: Int64? = nil) throws {
        self.init(receiver)
        for offset in 0..<results { wanted[0, default: [:]][offset] = try sample(offset) }
        ends[0] = end ?? results
        give(0)
        _ = desk.takeOffsets()
        read()
    }

    /// The wall clock.
    var time: Int64 { now.nanoseconds / 1_000_000 }

    static func place(_ partition: Int32) -> TopicPartition { TopicPartition(topic: topic, partition: partition) }

    mutating func give(_ partition: Int32, from start: Int64 = 0) { desk.give(Self.place(partition), from: start) }

    /// Reads as much as there is room for. Returns whether anything could be read.
    @discardableResult
    mutating func read() -> Bool {
        var places = desk.places(of: Self.topic)
        guard let room = desk.room, !places.offsets.isEmpty else { return false }
        var records: [FeedRecord] = []
        for (partition, start) in places.offsets.sorted(by: { $0.key < $1.key }) {
            var offset = start
            while offset < ends[partition, default: 0], records.count < room.records {
                if let record = wanted[partition]?[offset] { records.append(record) }
                offset += 1
            }
            places.offsets[partition] = offset
        }
        desk.offer(FeedReading(records: records, places: places, isAtEnd: false), of: Self.topic, series: desk.series)
        return true
    }

    /// Begins all calls that may begin, and returns them.
    @discardableResult
    mutating func start() -> [DeskCall] {
        var started: [DeskCall] = []
        while let call = desk.startCall(now: now, at: time) {
            #expect(calls[call.number] == nil, "a call of a result that is in flight")
            calls[call.number] = call
            started.append(call)
        }
        return started
    }

    @discardableResult
    mutating func end(_ number: Int, status: Int, retryAfter: Int64? = nil) -> CallbackVerdict {
        calls[number] = nil
        return desk.end(number, answer: .status(status, retryAfter: retryAfter), now: now)
    }

    /// Lets time pass until something may be begun, a second where nothing is known of.
    mutating func pass() {
        let next = desk.nextMoment(now: now) ?? now + 1_000_000_000
        now = max(next, now + 1_000_000)
    }
}
