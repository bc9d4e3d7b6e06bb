import Basics

/// The partitions whose logs may not be those that were read: their topic was not there, or ended before what was read of it.
///
/// They are not read on until brokers have said what they hold. One that is not there is asked for again and again.
struct LogDoubts: Sendable {
    /// The time before an examination and between two, 1 s in nanoseconds: the leader of a topic that is deleted may still give its records
    /// for a moment.
    static let interval: Int64 = 1_000_000_000

    private(set) var partitions: Set<Membership.Partition> = []
    /// The moment of the next examination, or nil while an answer is to come, or nothing is in doubt.
    private var examineAt: MonotonicTime?
    /// Those that are being examined, and those of them that came in doubt again since.
    private var (asked, again): (Set<Membership.Partition>, Set<Membership.Partition>) = ([], [])

    /// Notes that a partition is in doubt. It is examined after a while, or if it is being examined, once more: what is found may be older.
    mutating func note(_ partition: Membership.Partition, now: MonotonicTime) {
        partitions.insert(partition)
        if asked.contains(partition) {
            again.insert(partition)
        } else if asked.isEmpty {
            examineAt = examineAt ?? now.advanced(byNanoseconds: Self.interval)
        }
    }

    /// The partitions to examine now, in the order of their names, or none. `answered` has to follow.
    mutating func takeDue(now: MonotonicTime) -> [Membership.Partition] {
        guard let due = examineAt, due <= now else { return [] }
        (examineAt, asked) = (nil, partitions)
        return partitions.sorted { ($0.topic, $0.number) < ($1.topic, $1.number) }
    }

    /// Notes what is known of partitions that were examined.
    ///
    /// - Parameters:
    ///   - known: Those of which it is known what they hold. The others are examined again.
    ///   - now: The present moment.
    /// - Returns: Those of them that are in doubt no more.
    mutating func answered(_ known: [Membership.Partition], now: MonotonicTime) -> [Membership.Partition] {
        let settled = known.filter { !again.contains($0) }
        partitions.subtract(settled)
        (asked, again) = ([], [])
        examineAt = partitions.isEmpty ? nil : now.advanced(byNanoseconds: Self.interval)
        return settled
    }
}
