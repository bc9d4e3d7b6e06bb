public import PushModel

/// What one loop of a worker knows about its work, for whoever asks why it is stuck; no request's content and no device is in it.
public struct LoopStatus: Sendable, Equatable {
    /// A request in work.
    public struct Oldest: Sendable, Equatable {
        /// The offset of its record in this partition.
        public var offset: Int64
        /// When the request was published, which for one in a delay lane was before its record was written.
        public var publishedAt: Timestamp
        /// The attempts made for its calls, the most of any one; those under way included.
        public var attempt: Int
        /// What it waits for: `hub` (an answer), `turn` (the limit, the pause or the circuit), or `timer`.
        public var waitsFor: String
        /// When its next call is due, if a timer holds it.
        public var nextDue: Timestamp?
    }

    /// A partition that the loop reads.
    public struct Partition: Sendable, Equatable {
        /// The topic's name.
        public var topic: String
        /// The partition's number.
        public var partition: Int32
        /// The next offset to read; nil before the first record.
        public var position: Int64?
        /// What the group has committed; nil before the first commit.
        public var committed: Int64?
        /// Requests in work.
        public var inWork: Int
        /// The oldest of them.
        public var oldest: Oldest?
    }

    /// The member's name in the group.
    public var worker: String
    /// `running`, `revoking`, `stopping` or `stopped`.
    public var mode: String
    /// When this was written down.
    public var at: Timestamp
    /// The hub's circuit: `closed`, `half_open` or `open`.
    public var circuit: String
    /// Why it opened last; nil if it never did.
    public var circuitReason: String?
    /// When the circuit changes by itself next.
    public var circuitChange: Timestamp?
    /// Hub calls that may be under way at once.
    public var limit: Int
    /// Hub calls under way.
    public var inFlight: Int
    /// Calls that wait for their turn.
    public var waitingForTurn: Int
    /// Calls that wait for a timer.
    public var waitingForTimer: Int
    /// Requests finished per second, over the last ten seconds.
    public var finishedPerSecond: Double
    /// How long the hub asked this loop to wait, in all, in milliseconds.
    public var throttledMilliseconds: Int64
    /// Until when it asks to wait now.
    public var throttledUntil: Timestamp?
    /// When partitions were assigned or taken away last.
    public var lastRebalance: Timestamp?
    /// When a commit was confirmed last.
    public var lastCommit: Timestamp?
    /// The partitions that it reads, by topic and number.
    public var partitions: [Partition]
}
