public import PushModel

/// Chooses the start offset of a partition without a committed offset: the group is new, or the broker has forgotten it.
///
/// Its requests may have been sent under another group id, and what waits may have been sent before the group was forgotten, so the
/// default does not guess.
public enum StartRule: Sendable, Equatable {
    /// With everything if nothing older than ten minutes waits, or if the partition is new to a topic that the group knows. Else
    /// not at all, until an operator decides.
    case safe
    /// With everything that is retained.
    case beginning
    /// Behind everything, unless the partition is new to a topic that the group knows.
    case end
    /// With the first record that is not older, unless the partition is new to a topic that the group knows.
    case moment(Timestamp)

    /// The age that what waits may have for `safe`: 10 min in milliseconds.
    public static let safeAge: Int64 = 600_000
    private static let epoch = Timestamp(milliseconds: 0)

    /// The decision by the rule.
    public enum Decision: Sendable, Equatable {
        /// It is read from this offset on.
        case offset(Int64)
        /// It is not read.
        case refused
        /// It is not read until it is known what it depends on: the leader of a partition is away.
        case undecided
    }

    /// The writers of the records of a partition.
    public enum Writer: Sendable, Equatable {
        /// Publishers: new requests.
        case publishers
        /// Workers themselves: requests that wait. `mayBeFinished` says whether a worker of this group may have gone on with one of them,
        /// which is known only of those whose time has not come (`DelayLanes.mayHaveGoneOn`).
        case workers(mayBeFinished: Bool)
    }

    /// The time of which it must be known what the first record is that is not older.
    ///
    /// - Parameter now: The present moment.
    /// - Returns: That time, not before 1970, because Kafka gives negative numbers another meaning; nil when age does not matter.
    public func time(now: Timestamp) -> Timestamp? {
        switch self {
        case .safe: max(Self.epoch, now.adding(milliseconds: -Self.safeAge))
        case .beginning, .end: nil
        case .moment(let moment): max(Self.epoch, moment)
        }
    }

    /// Decides where a partition begins.
    ///
    /// A worker commits a position before it begins anything in a partition. So where something of this group waits and may have been
    /// gone on with, a position was there and is gone: `safe` leaves that to an operator, however young it is. What cannot have been gone
    /// on with waits for its first reader, whatever the rule is.
    ///
    /// - Parameters:
    ///   - low: The first offset that is retained.
    ///   - high: The next offset.
    ///   - since: The first offset that is not older than `time(now:)`; nil when all are older.
    ///   - writer: Who writes its records.
    /// - Returns: The decision.
    public func decision(low: Int64, high: Int64, since: Int64?, by writer: Writer = .publishers) -> Decision {
        if case .workers(let mayBeFinished) = writer {
            guard mayBeFinished, low < high else { return .offset(low) }
            if self == .safe { return .refused }
        }
        return switch self {
        case .safe: Self.olderWait(low: low, high: high, since: since) ? .refused : .offset(low)
        case .beginning: .offset(low)
        case .end: .offset(high)
        case .moment: .offset(since ?? high)
        }
    }

    /// True if requests wait that are too old for `safe`. One record in front of newer ones proves nothing: a publisher may give
    /// it any time, such as 0.
    private static func olderWait(low: Int64, high: Int64, since: Int64?) -> Bool {
        guard let since else { return low < high }
        return since > low && since - low > 1
    }

    /// A partition of a topic of requests, and whether the group has a position in it.
    public struct Partition: Sendable, Equatable {
        /// The first offset that is retained.
        public var low: Int64
        /// The next offset.
        public var high: Int64
        /// The first offset that is not older than `time(now:)`, or nil when all are older.
        public var since: Int64?
        /// True if the group has a position in it.
        public var hasPosition: Bool
        /// True if its leader is away, so that nothing else is known of it.
        public var isAway: Bool
        /// True if another worker decides where it begins.
        public var isOther: Bool

        /// The knowledge about a partition.
        public init(
            low: Int64, high: Int64, since: Int64?, hasPosition: Bool, isAway: Bool = false, isOther: Bool = false
        ) {
            self.low = low
            self.high = high
            self.since = since
            self.hasPosition = hasPosition
            self.isAway = isAway
            self.isOther = isOther
        }

        /// A partition without a position whose leader is away.
        public static let away = Partition(low: 0, high: 0, since: nil, hasPosition: false, isAway: true)
    }

    /// Decides where the partitions of a topic begin in which the group has no position.
    ///
    /// Where `safe` refuses one, it refuses all before it as well, partition 0 among them. So a group that has a position in partition 0
    /// knows the topic, nothing of it was refused, and a partition without a position was added since: it begins at its beginning,
    /// whatever the rule is, and however long its records have waited. One that has lost its first record may be older, and is judged by
    /// what it holds.
    ///
    /// One whose leader is away waits, and the others begin: all but partition 0 of a topic that the group does not know. Its position
    /// would say that nothing was refused, which is not known yet. Where the rule skips records, partition 0 waits for those of other
    /// workers too: its position would say that they were added.
    ///
    /// - Parameter topic: All partitions of the topic, in the order of their numbers.
    /// - Returns: A decision for each; nil where the group has a position.
    public func decisions(in topic: [Partition]) -> [Decision?] {
        let isKnown = topic.first?.hasPosition ?? false
        var decisions = [Decision?](repeating: nil, count: topic.count)
        var isOneRefused = false
        for index in topic.indices.reversed() where !topic[index].hasPosition {
            let partition = topic[index]
            if partition.isAway {
                decisions[index] = .undecided
                continue
            }
            if isKnown, partition.low == 0 {
                decisions[index] = .offset(0)
                continue
            }
            let own = decision(low: partition.low, high: partition.high, since: partition.since)
            if own == .refused { isOneRefused = true }
            decisions[index] = isOneRefused && !isKnown ? .refused : own
        }
        if let first = decisions.first, case .offset? = first, topic.dropFirst().contains(where: delaysFirst) {
            decisions[0] = .undecided
        }
        return decisions
    }

    /// True if partition 0 cannot get a position before a partition.
    private func delaysFirst(_ partition: Partition) -> Bool {
        switch self {
        case .beginning: false
        case .safe: partition.isAway
        case .end, .moment: partition.isAway || partition.isOther && !partition.hasPosition
        }
    }

    /// The reason why a partition does not begin at the group's position.
    public enum Cause: Sendable, Equatable {
        /// There is none.
        case noPosition
        /// Another record has the place of the first one that was read, and none is before it: the topic was recreated.
        case recreated
        /// The partition has lost its end, and holds no record.
        case lostEnd
        /// The partition ends before it, or did when it was read, and it is unknown what was read.
        case unknownEnd
        /// The last record that was read is not there any more: the partition has lost its end, or the topic was recreated.
        case lostRecord
    }
}
