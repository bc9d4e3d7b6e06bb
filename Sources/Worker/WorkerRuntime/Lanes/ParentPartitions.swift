import Delivery

/// The loop's knowledge of the partitions of the topic of parents that are its own, which it reads with the reader of delay
/// lanes.
struct ParentPartitions {
    /// Their slots, behind all others.
    private(set) var slots = 0..<0
    private var partitions: [OpenParents] = []
    private var cursors: [PartitionCursor] = []
    private var group = CursorGroup()
    /// A flag for each partition, true if it is not read: it is left to an operator, or until it is decided where it begins.
    private var isLeft: [Bool] = []
    /// True if a read may find a record in one of them.
    var mayHaveRecords: Bool { group.mayHaveRecords }

    /// The memory that their open requests take, about.
    private(set) var byteCount = 0
    /// The requests that are open in all of them.
    var openCount: Int { partitions.reduce(0) { $0 + $1.count } }

    /// No partition.
    init() {}

    /// Partitions of the topic of parents as they are planned. Their slots begin with `slot`.
    init(_ planned: ArraySlice<AssignmentPlan.Partition>, at slot: Int) {
        slots = slot..<slot + planned.count
        partitions = planned.map { $0.parents ?? OpenParents() }
        byteCount = partitions.reduce(0) { $0 + $1.byteCount }
        isLeft = planned.map { $0.left != nil || $0.refusal != nil }
        cursors = isLeft.map { PartitionCursor(mayHaveRecords: !$0) }
        group = CursorGroup(slots)
    }

    /// Begins a partition later than the others.
    mutating func begin(_ slot: Int, planned: AssignmentPlan.Partition) {
        self[slot] = planned.parents ?? OpenParents()
        isLeft[slot - slots.lowerBound] = planned.left != nil || planned.refusal != nil
        noteArrivals(slot)
    }

    /// Notes that records may have arrived in a partition.
    mutating func noteArrivals(_ slot: Int) { withGroup(of: slot) { $0.mark(slot) } }

    /// Calls `body` with the group in which a partition has its turns, unless it is not read.
    mutating func withGroup(of slot: Int, _ body: (inout CursorGroup) -> Void) {
        guard !isLeft[slot - slots.lowerBound] else { return }
        cursors[slot - slots.lowerBound].noteArrivals()
        body(&group)
    }

    /// Reads a partition no further.
    mutating func leave(_ slot: Int) {
        isLeft[slot - slots.lowerBound] = true
        wasEmpty(slot)
    }

    /// Reads a partition on that was left.
    mutating func goOn(_ slot: Int) {
        isLeft[slot - slots.lowerBound] = false
        noteArrivals(slot)
    }

    /// True if a read may find a record in a partition.
    func mayHaveRecord(_ slot: Int) -> Bool { cursors[slot - slots.lowerBound].mayHaveRecords }

    /// Notes that a read found none.
    mutating func wasEmpty(_ slot: Int) { cursors[slot - slots.lowerBound].wasEmpty() }

    /// Takes the partitions that have a turn now. `noteRead` says of each that it was read.
    mutating func takeRound() -> [Int] { (0..<group.beginRound()).compactMap { _ in group.takeFirst() } }

    /// Notes that a partition was read in the round.
    mutating func noteRead(_ slot: Int) { group.noteRead(slot, canRead: mayHaveRecord(slot), isBlocked: false) }

    /// The open requests of a partition. What they take is counted with every change.
    subscript(slot: Int) -> OpenParents {
        get { partitions[slot - slots.lowerBound] }
        _modify {
            let former = partitions[slot - slots.lowerBound].byteCount
            yield &partitions[slot - slots.lowerBound]
            byteCount += partitions[slot - slots.lowerBound].byteCount - former
        }
    }
}
