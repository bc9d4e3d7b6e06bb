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

    /// The requests that are open in all of them.
    var openCount: Int { partitions.reduce(0) { $0 + $1.count } }

    /// No partition.
    init() {}

    /// Partitions of the topic of parents as they are planned. Their slots begin with `slot`.
    init(_ planned: ArraySlice<AssignmentPlan.Partition>, at slot: Int) {
        slots = slot..<slot + planned.count
        partitions = planned.map { $0.parents ?? OpenParents() }
        isLeft = planned.map { $0.left != nil || $0.refusal != nil }
        cursors = isLeft.map { PartitionCursor(mayHaveRecords: !$0) }
        group = CursorGroup(slots)
        updateGroup()
    }

    /// Begins a partition later than the others.
    mutating func begin(_ slot: Int, planned: AssignmentPlan.Partition) {
        partitions[slot - slots.lowerBound] = planned.parents ?? OpenParents()
        isLeft[slot - slots.lowerBound] = planned.left != nil || planned.refusal != nil
        noteArrivals()
    }

    /// Notes that records may have arrived.
    mutating func noteArrivals() {
        for index in cursors.indices where !isLeft[index] { cursors[index].noteArrivals() }
        updateGroup()
    }

    /// Reads a partition no further.
    mutating func leave(_ slot: Int) {
        isLeft[slot - slots.lowerBound] = true
        wasEmpty(slot)
    }

    /// True if a read may find a record in a partition.
    func mayHaveRecord(_ slot: Int) -> Bool { cursors[slot - slots.lowerBound].mayHaveRecords }

    /// Notes that a read found none.
    mutating func wasEmpty(_ slot: Int) {
        cursors[slot - slots.lowerBound].wasEmpty()
        updateGroup()
    }

    private mutating func updateGroup() {
        group.beginRound()
        for cursor in cursors { group.noteRead(canRead: cursor.mayHaveRecords, isBlocked: false) }
    }

    /// The open requests of a partition.
    subscript(slot: Int) -> OpenParents {
        get { partitions[slot - slots.lowerBound] }
        _modify { yield &partitions[slot - slots.lowerBound] }
    }
}
