import Basics

/// The partitions whose logs may not be those that were read: their topic was not there, or ended before what was read of it.
///
/// They are not read on until brokers have said what they hold. One that is not there is asked for again and again.
struct LogDoubts: Sendable {
    /// The time between two examinations: 1 s in nanoseconds.
    static let interval: Int64 = 1_000_000_000

    private(set) var partitions: Set<Membership.Partition> = []
    /// The moment of the next examination, or nil while an answer is to come, or nothing is in doubt.
    private var examineAt: MonotonicTime?
    private var isAsked = false

    /// Notes that a partition is in doubt. It is examined at once.
    mutating func note(_ partition: Membership.Partition, now: MonotonicTime) {
        guard partitions.insert(partition).inserted, !isAsked else { return }
        examineAt = now
    }

    /// The partitions to examine now, in the order of their names, or none. `answered` has to follow.
    mutating func takeDue(now: MonotonicTime) -> [Membership.Partition] {
        guard let due = examineAt, due <= now else { return [] }
        (examineAt, isAsked) = (nil, true)
        return partitions.sorted { ($0.topic, $0.number) < ($1.topic, $1.number) }
    }

    /// Notes that it is known what some partitions hold. The others are examined again.
    mutating func answered(_ known: [Membership.Partition], now: MonotonicTime) {
        isAsked = false
        partitions.subtract(known)
        examineAt = partitions.isEmpty ? nil : now.advanced(byNanoseconds: Self.interval)
    }
}
