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
    private var isAsked = false

    /// Notes that a partition is in doubt, which it is until it is known what it holds. It is examined after a while.
    mutating func note(_ partition: Membership.Partition, now: MonotonicTime) {
        partitions.insert(partition)
        if !isAsked { examineAt = examineAt ?? now.advanced(byNanoseconds: Self.interval) }
    }

    /// The partitions to examine now, in the order of their names, or none. `answered` has to follow.
    mutating func takeDue(now: MonotonicTime) -> [Membership.Partition] {
        guard let due = examineAt, due <= now else { return [] }
        (examineAt, isAsked) = (nil, true)
        return partitions.sorted { ($0.topic, $0.number) < ($1.topic, $1.number) }
    }

    /// Notes of which partitions that were examined it is known what they hold. The others are examined again.
    mutating func answered(_ known: [Membership.Partition], now: MonotonicTime) {
        isAsked = false
        partitions.subtract(known)
        examineAt = partitions.isEmpty ? nil : now.advanced(byNanoseconds: Self.interval)
    }
}
