import Delivery
import Kafka

/// What the loop knows of the partitions of the topic of parents that are its own, which it reads with the reader of delay lanes.
struct ParentPartitions {
    /// Their slots, behind all others.
    private(set) var slots = 0..<0
    private var partitions: [OpenParents] = []
    /// Whether a read may find a record, by partition.
    private var flags: [Bool] = []
    /// Whether a read may find a record in one of them.
    private(set) var mayHaveRecords = false

    /// The requests that are open in all of them.
    var openCount: Int { partitions.reduce(0) { $0 + $1.count } }

    /// Adds a partition, which the group has read up to `position`.
    ///
    /// - Returns: Where its reading begins.
    mutating func add(_ position: CommittedOffset) -> StartOffset {
        guard let start = position.offset else {
            partitions.append(OpenParents())
            return .beginning
        }
        partitions.append(OpenParents(start: start, metadata: position.metadata))
        return .offset(start)
    }

    /// Begins to read those that were added, whose slots begin with `slot`.
    mutating func begin(at slot: Int) {
        slots = slot..<slot + partitions.count
        flags = partitions.map { _ in true }
        mayHaveRecords = !partitions.isEmpty
    }

    /// Notes that records may have arrived.
    mutating func noteArrivals() {
        for index in flags.indices { flags[index] = true }
        mayHaveRecords = !flags.isEmpty
    }

    /// Whether a read may find a record in a partition.
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
