public import Basics
public import PushModel

/// The requests of a loop that wait in memory, and whose turn it is: those with ordering keys, those whose tenants have enough calls
/// waiting, and those whose hub is gone.
///
/// It knows the partitions of an assignment by their slots. A partition of held requests belongs to one of requests: only the owner of that
/// one reads and writes it. Whoever begins to own them reads what is held to its end before any request of a key is started.
///
/// A class, so that a call of another module copies nothing: a value would be copied for each request, with a count of references for each
/// array in it.
public final class Scheduler {
    /// A warning, of each kind one for each assignment.
    public enum Notice: Sendable, Hashable {
        /// The topic of held requests lacks the partition of that number.
        case heldMissing(Int32)
        /// No more requests of the partition at that slot can be held, of any tenant or of one, beyond that count.
        case heldFull(slot: Int, count: Int)
        /// The held requests of a partition are not read to their end yet, while requests wait for that.
        case heldLate(Int32)
        /// The partition at that slot has records of another group.
        case foreign(slot: Int, group: String)
    }

    /// A partition as the scheduler knows it.
    public struct Partition: Sendable {
        let number: Int32
        let lane: Lane?

        /// A partition of requests of a lane, or of something else, with its number.
        public init(number: Int32, lane: Lane?) {
            self.number = number
            self.lane = lane
        }
    }

    /// A record that must be written to the topic of held requests, to the partition of that number.
    public typealias Move = (record: BufferedRecord, partition: Int32)
    typealias Keys = KeyQueues<BufferedRecord>

    /// The memory that a place among the requests of a key takes, about.
    private static let placeByteCount = 128
    /// The most that is written again, or moves, in one turn.
    private static let movesPerTurn = 1024
    /// The interval at which partitions without room are looked at: 20 ms in nanoseconds.
    private static let reliefInterval: Int64 = 20_000_000
    /// The longest time that a held record lies before it is written again, so that the topic's retention does not reach it: 12 h in
    /// milliseconds.
    private static let longestStay: Int64 = 43_200_000
    /// The interval at which positions are committed that have not moved: 1 h in nanoseconds. The group forgets positions of topics that it
    /// has not subscribed to some days after they were committed.
    private static let refreshInterval: Int64 = 3_600_000_000_000
    /// The time after which that is done first, so that an assignment that others who join end at once has nothing to commit: 1 min in
    /// nanoseconds.
    private static let firstRefresh: Int64 = 60_000_000_000
    /// The time that the held requests may take to be read before a notice says so: 10 s in nanoseconds.
    private static let heldPatience: Int64 = 10_000_000_000

    /// The delay lanes, and who waits there.
    public var delays = DelayPolicy(DelayLanes([]))
    /// The records whose tenants have enough calls waiting, and those whose hub is gone.
    public let buffers = HubBuffers()
    /// True if positions must be committed although nothing has moved.
    public var isRefreshDue = false
    /// The slots of the partitions of held requests, behind those of all others.
    public private(set) var heldSlots = 0..<0
    /// True if any request with a key was seen in this assignment.
    public private(set) var isUsed = false

    private let heldWindow: Int
    /// The keys of each partition of requests, by its slot.
    private(set) var keys: [Keys] = []
    /// The slots whose keys have a turn, by lane.
    private var turns: [SlotTurns] = []
    /// The slots that have records of keys.
    private(set) var filled = NumberSet()
    /// The slots whose held requests are not read to their end yet.
    private var unread = NumberSet()
    /// The numbers and lanes of the partitions, by slot.
    private var partitions: [Partition] = []
    /// For each partition of requests the slot of that of its held requests, or nil where there is none.
    private var heldOfRequests: [Int?] = []
    /// For each partition of held requests the slot of that of requests, or nil where that is not assigned.
    private var requestsOfHeld: [Int?] = []
    private var nextRelief = MonotonicTime.past
    private var nextRefresh = MonotonicTime.past
    /// The kinds of the notices of this assignment.
    private var known: Set<String> = []
    private var notices: [Notice] = []

    /// A scheduler without partitions. The window is that of the partitions of held requests.
    public init(heldWindow: Int) { self.heldWindow = heldWindow }

    /// Begins an assignment, of which nothing is known yet.
    ///
    /// - Parameters:
    ///   - partitions: All its partitions, by slot.
    ///   - held: The slots of those of held requests.
    ///   - movesPositions: Whether positions must be committed at once.
    ///   - now: The present moment.
    public func begin(_ partitions: [Partition], held: Range<Int>, movesPositions: Bool, now: MonotonicTime) {
        end()
        self.partitions = partitions
        heldSlots = held
        requestsOfHeld = held.map { _ in nil }
        heldOfRequests = partitions.map { _ in nil }
        turns = Lane.allCases.map { _ in SlotTurns(count: partitions.count) }
        let heldSlot = Dictionary(held.map { (partitions[$0].number, $0) }) { first, _ in first }
        for (slot, partition) in partitions.enumerated() {
            guard let lane = partition.lane else { continue }
            let found = HeldRules.heldPartition(of: partition.number, in: lane).flatMap { heldSlot[$0] }
            heldOfRequests[slot] = found
            if let found { requestsOfHeld[found - held.lowerBound] = slot }
            while keys.count <= slot { keys.append(KeyQueues(isComplete: true)) }
            keys[slot] = KeyQueues(isComplete: found == nil)
            if found != nil { unread.set(slot, isMember: true) }
        }
        nextRefresh = now + Self.firstRefresh
        isRefreshDue = movesPositions
    }

    /// Forgets the assignment and all records: their next owner has them.
    public func end() {
        (isRefreshDue, isUsed, heldSlots) = (false, false, 0..<0)
        (keys, partitions, heldOfRequests, requestsOfHeld) = ([], [], [], [])
        (turns, filled, unread) = ([], NumberSet(), NumberSet())
        buffers.removeAll()
        (nextRelief, nextRefresh) = (.past, .past)
        (known, notices) = ([], [])
    }

    /// Takes out the notices that were added.
    public func takeNotices() -> [Notice] {
        if notices.isEmpty { return [] }
        defer { notices.removeAll() }
        return notices
    }

    /// Adds a notice, once for each assignment and kind.
    public func add(_ notice: Notice) {
        if known.insert(notice.kind).inserted { notices.append(notice) }
    }
}

// Ordering keys.
extension Scheduler {
    /// The slot of the partition of requests that a record's key belongs to, by the slot of the record. Nil where that is not assigned.
    public func requests(of slot: Int) -> Int? {
        if heldSlots.contains(slot) { return requestsOfHeld[slot - heldSlots.lowerBound] }
        return keys.indices.contains(slot) ? slot : nil
    }

    /// Asks for the turn of a request that was published just now. Of each key one request is in work, and it is the one that was
    /// published first.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - slot: Its partition.
    ///   - origin: The record that it was published with.
    /// - Returns: Whether it has its turn, until `completed` or `hold`. Else `offer` puts it behind the others.
    public func takeTurn(of key: RequestIdentity, in slot: Int, origin: RecordOrigin) -> Bool {
        isUsed = true
        guard keys[slot].isFree(key) else { return false }
        keys[slot].begin(key, origin: .init(origin), at: origin.offset)
        return true
    }

    /// Puts a request behind those of its key.
    ///
    /// - Parameters:
    ///   - record: It, as it was read.
    ///   - key: Its key.
    ///   - due: The moment before which a held one must not go on. `past` for at once.
    /// - Returns: True if it waits here now. False for a copy of one that does, or if its partition of requests is not assigned.
    public func offer(_ record: BufferedRecord, of key: RequestIdentity, due: Timestamp = .past) -> Bool {
        guard let slot = requests(of: record.slot) else { return false }
        isUsed = true
        let place: Keys.Place = slot == record.slot ? .published(record.offset) : .held(record.offset)
        let request = Keys.Request(
            origin: .init(record.origin), place: place, record: record, due: due,
            byteCount: record.byteCount + Self.placeByteCount, tenant: record.tenant)
        defer { noteKeys(slot) }
        return keys[slot].add(key, request: request)
    }

    /// The request of a key has its end, so that the next one has its turn.
    public func completed(_ key: RequestIdentity, in slot: Int) {
        guard let slot = requests(of: slot) else { return }
        keys[slot].finish(key)
        noteKeys(slot)
    }

    /// Decides whether a request of a key, which is in work, is held. Then its key waits for it there.
    ///
    /// - Parameters:
    ///   - key: Its key.
    ///   - slot: The partition of its record.
    ///   - due: The moment at which it may go on.
    ///   - byteCount: The bytes that it will take there.
    ///   - isLeft: Whether it is left to the partition's next owner, however short its wait is.
    ///   - tenant: The request's tenant.
    ///   - now: The present moment.
    /// - Returns: The number of the partition to write it to, or nil if the wait is short, or there is no room or no topic.
    public func hold(
        _ key: RequestIdentity, in slot: Int, until due: Timestamp, byteCount: Int, isLeft: Bool, tenant: TenantID = .none,
        now: Timestamp
    ) -> Int32? {
        guard isLeft || DelayPolicy.isLong(until: due, now: now), let requests = requests(of: slot),
            let held = heldPartition(of: requests)
        else { return nil }
        // A record that comes from there leaves room for itself.
        guard held == slot || hasRoomForHeld(requests, byteCount: byteCount) else { return nil }
        keys[requests].moved(key, byteCount: byteCount, tenant: tenant)
        return partitions[held].number
    }

    /// True if a request of a key, which was published just now and must not be sent for long, finds no place to wait: its tenant holds
    /// its share. In memory it would stop its partition one day.
    ///
    /// - Parameters:
    ///   - tenant: The request's tenant.
    ///   - slot: The partition of its record.
    ///   - due: The moment at which it may go on.
    ///   - byteCount: The bytes that it would take.
    ///   - now: The present moment.
    /// - Returns: True if it finds none. False where nothing can be held.
    public func hasNoPlace(of tenant: TenantID, in slot: Int, until due: Timestamp, byteCount: Int, now: Timestamp) -> Bool {
        guard DelayPolicy.isLong(until: due, now: now), requests(of: slot) == slot, heldPartition(of: slot) != nil else {
            return false
        }
        return !keys[slot].hasShare(tenant, byteCount: byteCount, window: heldWindow)
    }

    /// A request that moves will not be read where it went.
    public func neverArrives(publishedAt offset: Int64, in slot: Int) {
        keys[slot].neverArrives(publishedAt: offset)
        noteKeys(slot)
    }

    /// The request of a lane whose key has its turn, and its partition. It is in work from then on. The partitions take turns. Nil when
    /// none has one.
    public func nextOfKeys(in lane: Lane, now: Timestamp) -> (slot: Int, record: BufferedRecord, key: RequestIdentity)? {
        while !turns.isEmpty, let slot = turns[lane.rawValue].next(now: now) {
            let next = keys[slot].next(now: now)
            noteKeys(slot)
            if let next, let record = next.request.record { return (slot, record, next.key) }
        }
        return nil
    }

    /// The time when `nextOfKeys` can have something: `past` for at once, nil while all wait for something else than time.
    public func nextMoment(in lane: Lane) -> Timestamp? { turns.isEmpty ? nil : turns[lane.rawValue].nextMoment }

    /// Takes down what has become of the keys of a partition, so that it is found when there is something to do.
    private func noteKeys(_ slot: Int) {
        filled.set(slot, isMember: keys[slot].byteCount > 0)
        if let lane = partitions[slot].lane { turns[lane.rawValue].list(slot, at: keys[slot].nextMoment) }
    }

    /// True if the records that wait for keys of a partition where they were published take as many bytes. Held ones have their own bound:
    /// they would stop the partition for as long as they wait.
    public func isFull(_ slot: Int, limit: (_ partitions: Int) -> Int) -> Bool {
        keys[slot].publishedByteCount >= limit(keys.count)
    }

    /// Lets cancelled requests go on that wait for their moments.
    public func hurry(_ isCancelled: (BufferedRecord) -> Bool) {
        for slot in filled.members {
            keys[slot].hurry(isCancelled)
            noteKeys(slot)
        }
    }

    /// The earliest moment since which a request waits whose key has its turn. Nil when none does.
    public func oldestOfKeys(at now: Timestamp) -> Timestamp? {
        var oldest: Timestamp?
        for slot in filled.members {
            keys[slot].forEachDue(at: now) { oldest = min(oldest ?? $0.waitingSince, $0.waitingSince) }
        }
        return oldest
    }
}

// Held requests.
extension Scheduler {
    /// All is known that is held of a partition, by the slot of its held requests.
    public func heldIsRead(_ held: Int) {
        guard let slot = requests(of: held) else { return }
        keys[slot].complete()
        unread.set(slot, isMember: false)
        noteKeys(slot)
    }

    /// True while that is not known, and the partition of requests is assigned.
    public func isReadingHeld(_ held: Int) -> Bool { requests(of: held).map { !keys[$0].isComplete } ?? false }

    /// The followers of requests that wait for their moment, where a partition cannot be read on: they must be held. Those
    /// without a share there are refused if they would wait for long, of one tenant at a time, so that the others are read on.
    ///
    /// - Parameters:
    ///   - isBlocked: Whether the partition of requests at a slot cannot be read on.
    ///   - mayRefuse: The rule by which requests behind a held one may be refused.
    ///   - now: The present moment, and the same by the wall clock.
    /// - Returns: The records that move, those that are refused, and the slots that were looked at.
    public func relieve(
        where isBlocked: (Int) -> Bool, refusingBehind mayRefuse: (BufferedRecord) -> Bool = { _ in true },
        now: (monotonic: MonotonicTime, wall: Timestamp)
    ) -> (moves: [Move], refused: [BufferedRecord], slots: [Int]) {
        guard now.monotonic >= nextRelief else { return ([], [], []) }
        nextRelief = now.monotonic + Self.reliefInterval
        let far = now.wall.adding(milliseconds: DelayPolicy.shortestStay)
        var (moves, refused, slots): ([Move], [BufferedRecord], [Int]) = ([], [], [])
        for slot in filled.members where isBlocked(slot) {
            guard let held = heldPartition(of: slot) else { continue }
            let room = HeldRules.maximumHeld(window: heldWindow) - keys[slot].heldCount
            let bytes = HeldRules.maximumHeldBytes - keys[slot].heldByteCount
            let found = keys[slot].removeFollowers(
                now: now.wall, limit: (min(room, Self.movesPerTurn), bytes), window: heldWindow)
            moves += found.compactMap { $0.request.record.map { ($0, partitions[held].number) } }
            if found.isEmpty {
                let excess = keys[slot].removeExcess(beyond: far, limit: Self.movesPerTurn, behind: mayRefuse)
                refused += excess.compactMap(\.record)
                if hasRoomForHeld(slot, byteCount: 1), !excess.isEmpty {
                    add(.heldFull(slot: slot, count: keys[slot].heldCount))
                }
            }
            slots.append(slot)
            noteKeys(slot)
        }
        return (moves, refused, slots)
    }

    /// The records that wait in the older half of a partition of held requests, when it fills too much of the window: they are written again.
    public func relocate(in held: Int, lowWaterMark: Int64, position: Int64) -> [Move] {
        guard let slot = requests(of: held),
            let start = HeldRules.relocationStart(lowWaterMark: lowWaterMark, position: position, window: heldWindow)
        else { return [] }
        return moveHeld(of: slot, to: held, limit: Self.movesPerTurn) { place, _ in place < start }
    }

    /// True if positions of held requests must be committed again, which the group would forget otherwise. Once for each interval.
    public func startsRefresh(now: MonotonicTime) -> Bool {
        guard now >= nextRefresh else { return false }
        nextRefresh = now + Self.refreshInterval
        return true
    }

    /// The records that were held for so long that the topic's retention could reach them: they are written again.
    public func renew(in held: Int, now: Timestamp) -> [Move] {
        isRefreshDue = true
        guard let slot = requests(of: held) else { return [] }
        let end = now.adding(milliseconds: -Self.longestStay)
        return moveHeld(of: slot, to: held, limit: .max) { _, record in record.writtenAt < end }
    }

    /// Adds a notice if requests wait because held ones take long to be read.
    ///
    /// - Parameters:
    ///   - assignedAt: When the assignment began.
    ///   - now: The present moment.
    public func watchHeld(assignedAt: MonotonicTime, now: MonotonicTime) {
        guard now - assignedAt > Self.heldPatience,
            let slot = unread.members.filter({ keys[$0].count > 0 }).min(),
            let number = heldNumber(of: slot)
        else { return }
        add(.heldLate(number))
    }

    private func heldNumber(of slot: Int) -> Int32? {
        HeldRules.heldPartition(of: partitions[slot].number, in: partitions[slot].lane ?? .normal)
    }

    /// The slot of the partition of held requests that belongs to a partition of requests.
    private func heldPartition(of slot: Int) -> Int? {
        if let held = heldOfRequests[slot] { return held }
        if let number = heldNumber(of: slot) { add(.heldMissing(number)) }
        return nil
    }

    private func hasRoomForHeld(_ slot: Int, byteCount: Int) -> Bool {
        let (count, bytes) = (keys[slot].heldCount, keys[slot].heldByteCount + byteCount)
        if HeldRules.hasRoom(count: count, bytes: bytes, window: heldWindow) { return true }
        add(.heldFull(slot: slot, count: count))
        return false
    }

    private func moveHeld(of slot: Int, to held: Int, limit: Int, where isMeant: (Int64, BufferedRecord) -> Bool) -> [Move] {
        defer { noteKeys(slot) }
        return keys[slot].removeHeld(limit: limit, where: isMeant).compactMap { found in
            found.request.record.map { ($0, partitions[held].number) }
        }
    }
}

extension Scheduler {
    /// The most memory that the records of a partition's keys may take.
    public static let mostOfKeys = HeldRules.maximumBytes
}

extension Scheduler.Notice {
    /// The kind of message, whatever its numbers are.
    fileprivate var kind: String {
        switch self {
        case .heldMissing: "missing"
        case .heldFull: "full"
        case .heldLate: "late"
        case .foreign: "foreign"
        }
    }
}

extension KeyQueues.Origin {
    fileprivate init(_ origin: RecordOrigin) { self.init(offset: origin.offset, timestamp: origin.timestamp) }
}
