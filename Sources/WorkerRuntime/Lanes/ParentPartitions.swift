import Delivery

/// The loop's knowledge of the partitions of the topic of parents that are its own, which it reads with the reader of delay
/// lanes.
struct ParentPartitions {
    /// Their slots, behind all others.
    private(set) var slots = 0..<0
    private var partitions: [OpenParents] = []
    /// A flag for each partition, true if a read may find a record.
    private var flags: [Bool] = []
    /// A flag for each partition, true if it is not read: it is left to an operator, or until it is decided where it begins.
    private var isLeft: [Bool] = []
    /// True if a read may find a record in one of them.
    private(set) var mayHaveRecords = false

    /// The requests that are open in all of them.
    var openCount: Int { partitions.reduce(0) { $0 + $1.count } }

    /// No partition.
    init() {}

    /// Partitions of the topic of parents as they are planned. Their slots begin with `slot`.
    init(_ planned: ArraySlice<AssignmentPlan.Partition>, at slot: Int) {
        slots = slot..<slot + planned.count
        partitions = planned.map { $0.parents ?? OpenParents() }
        isLeft = planned.map { $0.left != nil || $0.refusal != nil }
        flags = isLeft.map { !$0 }
        mayHaveRecords = flags.contains(true)
    }

    /// Begins a partition later than the others.
    mutating func begin(_ slot: Int, planned: AssignmentPlan.Partition) {
        partitions[slot - slots.lowerBound] = planned.parents ?? OpenParents()
        isLeft[slot - slots.lowerBound] = planned.left != nil || planned.refusal != nil
        noteArrivals()
    }

    /// Notes that records may have arrived.
    mutating func noteArrivals() {
        for index in flags.indices { flags[index] = !isLeft[index] }
        mayHaveRecords = flags.contains(true)
    }

    /// Reads a partition no further.
    mutating func leave(_ slot: Int) {
        isLeft[slot - slots.lowerBound] = true
        wasEmpty(slot)
    }

    /// True if a read may find a record in a partition.
    func mayHaveRecord(_ slot: Int) -> Bool { flags[slot - slots.lowerBound] }

    /// Notes that a read found none.
    mutating func wasEmpty(_ slot: Int) {
        flags[slot - slots.lowerBound] = false
        mayHaveRecords = flags.contains(true)
    }

    /// The open requests of a partition.
    subscript(slot: Int) -> OpenParents {
        get { partitions[slot - slots.lowerBound] }
        _modify { yield &partitions[slot - slots.lowerBound] }
    }
}
