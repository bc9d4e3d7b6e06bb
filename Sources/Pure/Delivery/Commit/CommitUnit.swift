/// The unit that finishes one consumed record. It is committed as a whole.
public struct CommitUnit: Sendable, Equatable {
    /// The consumed record.
    public struct ID: Sendable, Hashable {
        /// The slot of its partition in the assignment.
        public let slot: Int
        /// Its offset.
        public let offset: Int64

        /// The record at an offset of the partition in a slot.
        public init(slot: Int, offset: Int64) {
            self.slot = slot
            self.offset = offset
        }
    }

    /// The consumed record.
    public let id: ID
    /// Places of the records that finish it, by which its owner knows them.
    public var places: [Int] = []
    /// The bytes of those records.
    public var byteCount = 0
    /// The topics that they go to.
    public var topics: Set<CommitTopic> = []
    /// True if it ends a large request. Its partition's position says which of them are left out one by one, not by a map of
    /// offsets.
    public var isWhole = false
    /// True if everything before it in its partition is finished.
    public var isNext = true
    /// True if it has a large dead letter that can be cut.
    public var canBeCut = false

    /// A unit without records.
    public init(_ id: ID) { self.id = id }
}

/// The topic that a record of a commit goes to.
public enum CommitTopic: Sendable, Hashable {
    case results, deadLetters, held, own, parents, handles
    /// A delay lane, by its place in `DelayLanes.lengths`.
    case delay(Int)
}
