public import Basics

/// The topics that a producer writes waiting requests to, and those that positions are committed in: when brokers are asked for them
/// again, and what follows from the answer.
///
/// A producer keeps what it knows of a topic. Where that was deleted, brokers take neither the record nor the position, and the library
/// (`rdkafka_txnmgr.c`, librdkafka 2.0.2) repeats both until the transaction times out. So brokers are asked again now and then, and
/// before the commit after one that failed. Where a topic is not as the producer found it, another producer is made. What was for a lane
/// without a topic goes to the nearest (`DelayLanes`), and no position is committed in a partition that was deleted.
///
/// Moments are those of one monotonic clock that the owner reads.
public struct LaneTopics: Sendable, Equatable {
    /// The answer of brokers about a topic.
    public enum Answer: Sendable, Equatable {
        /// It is there, with so many partitions, or 0 where this worker may not know.
        case partitions(Int32)
        /// It is not there.
        case missing
        /// Nothing that lasts, such as that leaders are being chosen.
        case unclear

        /// The partitions that can be used.
        public var partitionCount: Int32 {
            if case .partitions(let count) = self { count } else { 0 }
        }
    }

    /// The existence of a partition in which a position would be committed.
    public enum Presence: Sendable, Equatable {
        /// The partition exists, as far as is known.
        case present
        /// Brokers reported once that the partition is missing.
        case doubtful
        /// Brokers keep reporting that it is missing.
        case deleted
    }

    /// The moments at which brokers said that a partition is missing.
    private struct Absence: Sendable, Equatable {
        let first: MonotonicTime
        var last: MonotonicTime
    }

    /// After what time brokers are asked again: 5 s.
    public static let interval = Duration.seconds(5)
    /// The time for which brokers must say that a partition is missing before it is deleted: 1 s. One that has just started may
    /// not know all yet.
    public static let patience = Duration.seconds(1)

    /// The partitions of each topic that the producer found, or 0 where there was none.
    private var found: [String: Int32] = [:]
    private var absences: [Membership.Partition: Absence] = [:]
    /// The moment before which brokers are not asked again, or nil for at once.
    private var nextCheck: MonotonicTime?

    /// Nothing is known, and brokers must be asked.
    public init() {}

    /// True if brokers must be asked before a commit: it is time, or it has a position in what was deleted, and may be there
    /// again.
    public func isDue(for positions: [Membership.Partition], now: MonotonicTime) -> Bool {
        guard let nextCheck, now < nextCheck else { return true }
        return positions.contains { presence(of: $0) == .deleted }
    }

    /// The answer to whether a position is committed in a partition.
    public func presence(of partition: Membership.Partition) -> Presence {
        guard let absence = absences[partition] else { return .present }
        return absence.last >= absence.first.advanced(by: Self.patience) ? .deleted : .doubtful
    }

    /// A producer was made, which found the topics so.
    public mutating func producerMade(_ answers: [String: Answer]) { found = answers.mapValues(\.partitionCount) }

    /// A commit failed: a topic may be the cause.
    public mutating func commitFailed() { nextCheck = nil }

    /// Brokers have answered.
    ///
    /// - Parameters:
    ///   - answers: What they say of each topic that they were asked for.
    ///   - positions: The partitions that the commit has positions for.
    ///   - now: The present moment.
    /// - Returns: Whether a topic is not as the producer found it, so that another producer must be made.
    public mutating func answered(
        _ answers: [String: Answer], for positions: [Membership.Partition], now: MonotonicTime
    ) -> Bool {
        for partition in positions {
            guard let answer = answers[partition.topic], answer != .unclear else { continue }
            if answer.partitionCount > partition.number || answer == .partitions(0) {
                absences[partition] = nil
            } else {
                absences[partition, default: Absence(first: now, last: now)].last = now
            }
        }
        let isDoubtful = positions.contains { presence(of: $0) == .doubtful }
        nextCheck = now.advanced(by: isDoubtful ? Self.patience : Self.interval)
        return found.contains { topic, count in
            guard let answer = answers[topic], answer != .unclear else { return false }
            return answer.partitionCount != count
        }
    }
}
