/// The end of a partition: whether it still holds what was read of it when the group's position was committed, as far as that can
/// be proved.
///
/// Kafka can lose the end of a partition: an unclean election, a power loss, a restored disk. What is published later then gets the offsets
/// of what was lost, and a position says nothing about it. Times are no proof, because publishers write them. Only a record that was read
/// tells, by its offset, time and digest.
public struct LogTail: Sendable, Equatable {
    /// The finding at the offset of a record that was read.
    public enum Finding: Sendable, Equatable {
        /// It is unknown: no mark names such a record, or reading ends before it.
        case unknown
        /// That record.
        case same
        /// Another record.
        case other
        /// None: the next record that can be read has another offset.
        case absent
    }

    /// The group's position.
    public var position: Int64
    /// The marks in the position of the records that were read, or nil if it says nothing.
    public var marks: ReadMarks?
    /// The first offset that is retained.
    public var low: Int64
    /// The next offset, open transactions included.
    public var high: Int64
    /// True if the partition was seen to end before the position, whatever it ends at now.
    public var wasBeyondEnd: Bool
    /// True if compaction removes records of the partition for later ones of their keys. It leaves the end where it is, and puts no
    /// record in the place of another.
    public var isCompacted: Bool
    /// The finding in place of the last record that was read.
    public var last: Finding
    /// The finding in place of the first record that was read.
    public var first: Finding

    /// The knowledge about a partition.
    public init(
        position: Int64, marks: ReadMarks?, low: Int64, high: Int64, wasBeyondEnd: Bool = false, isCompacted: Bool = false,
        last: Finding = .unknown, first: Finding = .unknown
    ) {
        self.position = position
        self.marks = marks
        self.low = low
        self.high = high
        self.wasBeyondEnd = wasBeyondEnd
        self.isCompacted = isCompacted
        self.last = last
        self.first = first
    }

    /// Decides where the partition goes on.
    ///
    /// - Parameters:
    ///   - rule: What to do where the position says nothing of the records that were read.
    ///   - since: The first offset that is not older than the rule's `time(now:)`; nil when all are older.
    /// - Returns: The decision and its cause; nil if the partition goes on at the position.
    public func ruling(_ rule: StartRule, since: Int64?) -> AssignmentPlan.Ruling? {
        if isWhole { return nil }
        func decided(_ decision: StartRule.Decision, because cause: StartRule.Cause) -> AssignmentPlan.Ruling {
            AssignmentPlan.Ruling(decision, because: cause, end: high, waiting: max(0, high - max(0, low)))
        }
        // Nothing is there that could be sent twice, or not at all.
        if low >= high { return decided(.offset(high), because: .lostEnd) }
        guard let marks else {
            return decided(rule == .safe ? .refused : rule.decision(low: low, high: high, since: since), because: .unknownEnd)
        }
        // Another record has the place of the first one, and nothing is retained before it: all that is there came later.
        if first == .other, low == marks.first.offset { return decided(.offset(low), because: .recreated) }
        return decided(.refused, because: .lostRecord)
    }

    /// True if nothing is lost that was read. Where that is unknown, true if nothing looks like it.
    private var isWhole: Bool {
        let looksWhole = position <= high && !wasBeyondEnd
        guard let marks else { return looksWhole }
        // Retention has removed all that was read.
        if low > marks.last.offset { return true }
        switch last {
        case .same: return true
        case .unknown: return looksWhole && marks.last.offset < high
        case .absent: return isCompacted && looksWhole && marks.last.offset < high && first != .other
        case .other: return false
        }
    }
}
