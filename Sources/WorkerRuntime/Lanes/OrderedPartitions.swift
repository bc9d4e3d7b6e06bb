import Basics
import Delivery
import Kafka

/// The loop's knowledge of ordering keys: the queues of each partition of requests, and which partition of the topic of held
/// requests belongs to it.
struct OrderedPartitions {
    /// The partition of held requests, or nil for one of our own lane. Their topic has one for each lane's partition of a number,
    /// so three for each number. Only the owner of that partition of requests reads and writes it.
    static func heldPartition(of partition: Int32, in lane: Lane) -> Int32? {
        guard lane != .own else { return nil }
        let (held, overflow) = partition.multipliedReportingOverflow(by: Int32(Topics.heldLanes))
        return overflow ? .max : held + Int32(lane.rawValue)
    }

    /// The most memory that the records of a partition's keys may take: 24 MiB, some 25,000 small ones. Beyond, it is not read.
    static let maximumBytes = 24 << 20
    /// The most that may be held of one partition: 12 MiB, and `maximumHeld` requests.
    static let maximumHeldBytes = 12 << 20

    /// The number of requests of one partition that may be held: a quarter of the window of the partition that holds them.
    ///
    /// It is why that partition can always be read to its end, also by a worker that begins: see `relocationStart`.
    static func maximumHeld(window: Int) -> Int { window / 4 }

    /// The offset before which what waits must be written again to the end of its partition of held requests. Nil as long as
    /// there is room.
    ///
    /// An old request that waits for long would end the reading of its partition one day, because all offsets that are read and not
    /// finished must lie within the window. So when three quarters of that are full, what waits in the older half of what was read is
    /// written again. The order does not suffer: it is that of the offsets of publishing. What is held is at most a quarter of the window
    /// in number, and written again it takes at most two offsets each, its own and a transaction's marker. So after that at least a
    /// quarter is free, and no request is written again before a quarter of the window has been written. What is in work stays where it
    /// is, and ends, or waits and is written again, without any other's help: so while it fills the window up, that passes.
    static func relocationStart(lowWaterMark: Int64, position: Int64, window: Int) -> Int64? {
        position - lowWaterMark > Int64(window) * 3 / 4 ? position - Int64(window) / 2 : nil
    }

    /// The keys of each partition of requests, by its slot.
    var queues: [KeyQueues<OrderedRecord>] = []
    /// The slots of the partitions of held requests, behind those of all others.
    var slots = 0..<0
    /// True if a read may find a record in one of them.
    var mayHaveRecords = false
    /// True if any request with a key was seen in this assignment.
    var isUsed = false
    /// The moment when partitions are next looked at that have no room, monotonic nanoseconds.
    var nextRelief = MonotonicTime.past
    /// The moment when the positions of held requests are next committed, whether they moved or not, monotonic nanoseconds.
    var nextRefresh = MonotonicTime.past
    /// True if it is time to do that.
    var isRefreshDue = false
    /// Notes of what was said already, because it is said once for each assignment.
    var hasSaidMissing = false
    var hasSaidFull = false
    var hasSaidLate = false

    /// For each partition of requests the slot of that of its held requests, or nil where there is none.
    private var heldSlots: [Int?] = []
    /// For each partition of held requests the slot of that of requests, or nil where that is not assigned.
    private var requestSlots: [Int?] = []

    init() {}

    /// Of all partitions that are assigned, `slots` are those of held requests. `lane` has the lane of a slot's requests.
    init(_ partitions: [TopicPartition], held slots: Range<Int>, lane: (Int) -> Lane?) {
        self.slots = slots
        mayHaveRecords = !slots.isEmpty
        requestSlots = slots.map { _ in nil }
        for slot in partitions.indices {
            guard let lane = lane(slot) else { continue }
            let number = Self.heldPartition(of: partitions[slot].partition, in: lane)
            let held = number.flatMap { number in slots.first { partitions[$0].partition == number } }
            while heldSlots.count <= slot { heldSlots.append(nil) }
            heldSlots[slot] = held
            if let held { requestSlots[held - slots.lowerBound] = slot }
            while queues.count <= slot { queues.append(KeyQueues(isComplete: true)) }
            queues[slot] = KeyQueues(isComplete: held == nil)
        }
    }

    /// The slot of the partition of held requests that belongs to one of requests, or nil when there is none.
    func held(of slot: Int) -> Int? { heldSlots.indices.contains(slot) ? heldSlots[slot] : nil }

    /// The slot of the partition of requests that a flight's key belongs to, by the slot of its record.
    func requests(of slot: Int) -> Int? {
        slots.contains(slot) ? requestSlots[slot - slots.lowerBound] : queues.indices.contains(slot) ? slot : nil
    }

    /// Requests that wait for their keys.
    var count: Int { queues.reduce(0) { $0 + $1.count } }
}
