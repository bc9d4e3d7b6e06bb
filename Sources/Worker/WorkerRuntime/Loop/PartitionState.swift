import Basics
import Delivery
import GroupPositions
import Kafka
import Observability
import PushModel

/// One assigned partition, as the loop sees it.
struct PartitionState {
    let id: TopicPartition
    let role: PartitionRole
    /// The place where its reading started.
    let start: AssignmentPlan.Start
    /// The reason that it is not read, if an operator has to decide where it begins.
    var refusal: StartRule.Cause?
    /// The number of records that wait in it then, at most, or 0 if it is read.
    let refusedCount: Int64
    /// The reason that it is left as it is: to another version, or until a leader is back, or records are read that say where it
    /// begins.
    var left: LeaveCause?
    /// The first and the last record that were read, by this owner or one before it.
    private(set) var marks: ReadMarks?
    /// True if something that came of it was dropped.
    private var isDiscarded = false
    /// The ledger of what is finished. Nil until the first record says where the partition begins.
    var ledger: OffsetLedger?
    /// What is known of its queue in the library.
    var cursor = PartitionCursor()
    /// A record that lies beyond the window and waits for it to move.
    var parked: Flight?
    /// The first record of a delay lane, when it is not yet to be looked at, or there is no room for it. All behind it stay
    /// unread.
    var head: Flight?
    /// The same when that record is too large to be kept: it is unread again.
    var unread: DeferredHead?
    /// True if the buffered records of its keys take as much memory as they may.
    var isFullOfKeys = false
    /// True if something finished since the last commit.
    var isDirty = false
    /// The number of partitions of its topic when it was assigned, if publishers write there. Else 0, and where that is not known.
    var siblingCount: Int32 = 0
    /// The group's position, or nil if it has none.
    var committed: LedgerCommit?
    /// The same, if the ledger began there or has moved it: what it names is finished and published. Nil if it began elsewhere.
    var recorded: LedgerCommit?
    /// The group's position when the partition came: what lies before is finished.
    var firstOffset: Int64
    /// The position up to which it had been read when its lag was measured last.
    var measuredPosition: Int64?
    /// The reach up to which the partition's previous owner may have begun requests.
    var begun = StartedRange()
    /// The reach of its requests that may be begun before another position is committed.
    var reserve = BeginReserve()
    /// The offset behind the last one whose outcome is known, although it is not committed, because the partition was lost and
    /// has come back. Else 0.
    var knownEnd: Int64 = 0
    /// True if a call in flight was given up.
    var hasLostCalls = false
    /// True if the group's position says that no worker is at work here. That is taken back before anything is begun.
    var isClosed = false
    /// The requests by which duplicates are detected, or nil without deduplication.
    var recent: RecentRequests?
    /// The time when the last record that was taken was published.
    var lastTimestamp: Timestamp?
    /// The time when the last record that was taken from a delay lane had to be checked again. No record behind it comes before.
    var lastCheck: Timestamp?
    /// Since when records wait to be taken.
    var backlog = BacklogAge()
    /// True if its lag and its status change only when something is read or finished, as far as was known when its lag was last measured.
    var isAtRest = false
    /// The end of what could be read when reading last came there.
    private var readableEnd: Int64?
    let lag: Gauge
    let consumed: Counter

    /// A partition that begins as it is planned.
    init(
        _ id: TopicPartition, role: PartitionRole, plan: AssignmentPlan.Partition, committed: LedgerCommit?, lag: Gauge,
        consumed: Counter
    ) {
        self.id = id
        self.role = role
        self.committed = committed
        recorded = plan.isDirty ? nil : committed
        start = plan.start
        refusal = plan.refusal
        refusedCount = plan.refusedCount
        left = plan.left
        marks = plan.marks
        ledger = plan.ledger
        isDirty = plan.isDirty
        firstOffset = plan.firstOffset
        begun = plan.begun
        reserve = plan.reserve
        isClosed = plan.isClosed
        recent = plan.recent
        self.lag = lag
        self.consumed = consumed
    }

    /// True if the group's position should say, at the end of the work, how far requests were begun.
    var isToBeClosed: Bool {
        guard !isClosed, role != .parents, let end = endOfBegun else { return false }
        return !role.hasRequests || reserve.end > end
    }

    /// True if a record was read that may not be begun before a position is committed.
    var isReserveShort: Bool { parked.map { !reserve.allows($0.place.offset) } ?? false }

    /// True if the group's position lets more be begun than was.
    var hasReserve: Bool {
        guard role.hasRequests, let ledger, let end = endOfBegun else { return false }
        return reserve.end > max(end, ledger.position)
    }

    /// True if a position should be committed that gives the reserve back.
    func isRestDue(now: MonotonicTime) -> Bool {
        guard role.hasRequests, left == nil, refusal == nil, let ledger, let end = endOfBegun else { return false }
        return reserve.isRestDue(least: max(end, ledger.position), now: now)
    }

    /// Notes that its offered position is not committed, and is offered again, perhaps otherwise.
    mutating func putBack() {
        isDirty = true
        reserve.withdrawn()
    }

    /// The end of the reserve for a position that is offered now, or nil where it names none, and anything may be begun.
    mutating func nextReserve(now: MonotonicTime) -> Int64? {
        guard role.hasRequests, let ledger, let least = endOfBegun else { return nil }
        let end = reserve.next(least: least, position: ledger.position, wanted: parked?.place.offset, now: now)
        return end - ledger.lowWaterMark <= FinishedOffsets.mostBegun ? end : nil
    }

    /// The offset behind which no request was begun that is not finished, or nil while that cannot be said.
    var endOfBegun: Int64? {
        guard let ledger else { return nil }
        return begun.end(of: ledger, hasLostCalls: hasLostCalls)
    }

    /// Notes that what came of it was dropped, so that it is read again from where it was read.
    mutating func noteDiscarded() { isDiscarded = true }

    /// Takes the offset to go back to, or nil if nothing was dropped.
    mutating func takeReturn() -> Int64? {
        defer { isDiscarded = false }
        return isDiscarded ? unread?.offset ?? marks.map { $0.last.offset + 1 } : nil
    }

    /// True if the ledger begins behind `offset`, at which a record is after all.
    func begins(after offset: Int64) -> Bool { offset < ledger?.lowWaterMark ?? .min }

    /// True if more was read than up to `offset`, where the next record is, or the end. Then the log is not the one that was read: no
    /// record comes twice.
    func hasRead(beyond offset: Int64) -> Bool { offset < ledger?.position ?? .min }

    /// The place up to which it was read, with the marks of what was read, as the group's position would say it. Nil if nothing was read
    /// before, so that any log is the right one.
    var readPosition: LedgerCommit? {
        guard let marks else { return nil }
        var finished = FinishedOffsets()
        finished.marks = marks
        return LedgerCommit(offset: max(marks.last.offset + 1, ledger?.position ?? 0), metadata: finished.encoded())
    }

    /// True if a record has a key that names another partition.
    func isElsewhere(_ record: borrowing ConsumedRecord) -> Bool {
        guard siblingCount > 1, let key = record.key, !key.isEmpty else { return false }
        return Producer.partition(ofKey: key, of: siblingCount) != id.partition
    }

    /// True if a record was finished before the partition came, and is read because others may repeat it.
    func isLookingBack(at offset: Int64) -> Bool { offset < firstOffset && recent.map { $0.end <= offset } ?? false }

    /// Takes in a record at `offset`, which is where the ledger begins if there is none yet.
    mutating func received(_ offset: Int64, window: Int) -> OffsetLedger.Reception? {
        if ledger == nil { ledger = OffsetLedger(start: offset, window: window) }
        if let ledger { begun.read(offset, expected: ledger.position) }
        guard reserve.allows(offset) || ledger?.isKnown(offset) ?? false else { return .beyondWindow }
        return ledger?.received(offset)
    }

    /// Takes the first record of a delay lane that waits, to look at it again.
    mutating func takeHead() -> Flight? {
        defer { head = nil }
        return head
    }

    /// Takes the record that waits, once window and reserve let it begin, or nil. It may be finished before, because the restored
    /// map reaches further than a window that was made smaller.
    mutating func takeParked() -> (flight: Flight, isFinished: Bool)? {
        guard let flight = parked, reserve.allows(flight.place.offset) else { return nil }
        let reception = ledger?.received(flight.place.offset)
        if reception == .beyondWindow { return nil }
        parked = nil
        return (flight, reception != .process)
    }

    /// Of the record of a delay lane that is the next to go on, when to check it again, and since when it waits, or nil when none
    /// was read.
    var nextDelayed: (recheckTime: Timestamp, waitingSince: Timestamp)? {
        if let unread { return (unread.recheckTime ?? unread.waitingSince, unread.waitingSince) }
        guard let flight = head ?? parked, flight.isActive else { return nil }
        return (flight.wait.recheckTime ?? flight.waitingSince, flight.waitingSince)
    }

    /// The time to look at the first record of a delay lane again, or nil when it waits for something else.
    var recheckTime: Timestamp? {
        guard let unread else { return head?.wait.recheckTime }
        return unread.isWanted ? nil : unread.recheckTime
    }

    /// Behind which offset nothing is known of the records of a delay lane.
    var lookedUpTo: Int64? { unread.map { $0.offset + 1 } ?? ledger?.position }

    /// Records that a record is read, which may be the one that was unread again. Returns when that one was read first, or nil
    /// for any other.
    mutating func readAgain(_ offset: Int64) -> Timestamp? {
        defer { unread = nil }
        return unread.flatMap { $0.offset == offset ? $0.readAt : nil }
    }

    /// The place of the record that a flight has from here: that of its publication in a partition of requests.
    func place(of flight: Flight) -> RecordOrigin {
        if role.hasRequests { return flight.place.origin }
        return RecordOrigin(
            topic: id.topic, partition: id.partition, offset: flight.place.offset, timestamp: flight.place.origin.timestamp)
    }

    /// The offset before which requests move out of the way whose hub does not take them: the middle of its window, when that is half full,
    /// or the end of what was read, when memory is full. Nil while there is no need.
    func reliefEnd(isMemoryFull: Bool) -> Int64? {
        guard let ledger else { return nil }
        if isMemoryFull { return ledger.position }
        let length = ledger.position - ledger.lowWaterMark
        return length >= Int64(ledger.window / 2) ? ledger.lowWaterMark + length / 2 : nil
    }

    /// Records that there is nothing before `offset`, where the partition ends.
    mutating func reachedEnd(_ offset: Int64) {
        unread = nil
        readableEnd = offset
        ledger?.reachedEnd(offset)
    }

    /// None, or the open transaction behind which the partition ends for those who read it, if it lasts for long. `high` is the offset of the next
    /// record that is written, and `since` when the first waits that was not read.
    func openTransaction(high: Int64, since: Timestamp, now: Timestamp) -> [OpenTransaction] {
        guard let end = readableEnd, !cursor.mayHaveRecords, ledger?.position ?? end == end, end < high else {
            return []
        }
        return [OpenTransaction(partition: id, offset: end, recordCount: high - end, since: since)].filter { $0.isLong(at: now) }
    }

    /// True if a record may be read now.
    var canRead: Bool {
        cursor.mayHaveRecords && !isBlocked && head == nil && (unread?.isWanted ?? true) && refusal == nil && left == nil
    }

    /// Leaves the partition if a newer version wrote a record that is not finished: nothing more is read, and the position stays
    /// in front of it. Publishers may give theirs any header, so theirs are never newer. Returns whether it is left.
    mutating func leaves(at record: borrowing ConsumedRecord, group: String) -> Bool {
        guard !NextFormat.isOn, !role.isOpen, !(ledger?.isKnown(record.offset) ?? false) else { return false }
        var format = RecordFormat(of: role.namesGroup ? group : nil)
        record.forEachHeader { name, value in format.add(name: name, value: value) }
        if format.isNewer { left = .newerRecord(at: record.offset) }
        return left != nil
    }

    /// Records that a record was read. Records come in order, so that a mark is made once of each.
    mutating func noteRead(_ record: borrowing ConsumedRecord) {
        guard record.offset > marks?.last.offset ?? -1 else { return }
        let mark = RecordMark(record)
        if marks == nil { marks = ReadMarks(mark) } else { marks?.read(mark) }
    }

    /// True if the window has to move, or memory to become free, before the next record can be taken.
    var isBlocked: Bool { parked != nil || isFullOfKeys || !(ledger?.hasRoom ?? true) }
}

extension Membership.Partition {
    /// A partition that Kafka names.
    init(_ partition: TopicPartition) {
        self.init(topic: partition.topic, number: partition.partition)
    }
}

extension TopicPartition {
    /// A partition of a membership.
    init(_ partition: Membership.Partition) {
        self.init(topic: partition.topic, partition: partition.number)
    }
}

extension StartOffset {
    /// The place where the reading of a partition begins, in the client's terms.
    init(_ start: AssignmentPlan.Start) {
        switch start {
        case .beginning: self = .beginning
        case .end: self = .end
        case .offset(let offset): self = .offset(offset)
        }
    }
}

extension PartitionState {
    /// Says of a partition that begins up to where outcomes are known, and returns how many are. One that waits for its records does so
    /// when it begins.
    mutating func findKnown(in known: inout UncommittedResults<OutcomeBatch>) -> Int {
        guard known.count > 0, role.hasRequests, left != .unanswered else { return 0 }
        let found = known.noteStart(Membership.Partition(id), at: recorded)
        knownEnd = found.end
        return found.count
    }

    /// True if it holds requests up until records are read that say where it begins. A delay lane holds up none that could be sent now.
    var awaitsReading: Bool { left == .unanswered && role.kind != .delayed }
}

extension OfferedBatch.Lost {
    /// A partition that is forgotten, or nil if it has no requests.
    init?(_ partition: PartitionState, in slot: Int) {
        guard partition.role.hasRequests else { return nil }
        self.init(slot: slot, partition: partition.id, committed: partition.committed)
    }
}

extension [PartitionState] {
    /// The slots of those of which records have to be read that say where they begin.
    var unanswered: [TopicPartition: Int] {
        Dictionary(uniqueKeysWithValues: indices.filter { self[$0].left == .unanswered }.map { (self[$0].id, $0) })
    }
}

extension AssignmentPlan.RefusedPartitions {
    /// Those of an assignment that are not read, or nil when there are none.
    init?(of partitions: [PartitionState]) {
        self.init(
            partitions.indices.compactMap { slot in
                partitions[slot].refusal.map { (slot: slot, count: partitions[slot].refusedCount, cause: $0) }
            })
    }
}

extension LeftPartitions {
    /// Those of an assignment that are left. A delay lane of which records are still being read holds up no request that could be sent
    /// now, so that it is no trouble.
    init?(of partitions: [PartitionState]) {
        self.init(
            partitions.compactMap { partition in
                guard let cause = partition.left, cause != .unanswered || partition.role.kind != .delayed else { return nil }
                return (name: "\(partition.id)", cause: cause)
            })
    }
}
