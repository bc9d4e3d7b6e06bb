/// When a worker checks for partitions of its topics without a consumer, and when it rejoins the group because of them.
///
/// A group is rebalanced when members come or go, or when its leader hears that a topic has grown. A static member that restarts does
/// neither: it gets what it had, and has never known the topic smaller. So whoever sees a partition without a consumer twice rejoins; of
/// the members that do, the leader triggers a rebalance (Kafka, `GroupCoordinator.doJoinGroup`).
///
/// Times are monotonic nanoseconds.
struct GroupSurvey {
    /// From an assignment to the first look: 5 s.
    static let firstWait: Int64 = 5_000_000_000
    /// Between two looks: 10 s.
    static let interval: Int64 = 10_000_000_000
    /// Between the look that found something and the one that confirms it: 3 s.
    static let doubtInterval: Int64 = 3_000_000_000
    /// From rejoining to the next look: 60 s. What has no consumer then, rejoining does not help.
    static let patience: Int64 = 60_000_000_000

    /// When to look next; nil without an assignment.
    private var next: Int64?
    private var isDoubtful = false
    private var isUnderWay = false
    private var joinedAnew: Int64?

    /// An assignment has begun, or the present look will have no answer.
    mutating func began(_ now: Int64) {
        next = max(now + Self.firstWait, joinedAnew.map { $0 + Self.patience } ?? .min)
        isDoubtful = false
        isUnderWay = false
    }

    /// The assignment has ended.
    mutating func ended() { next = nil }

    /// Whether to look now; the answer goes to `found`.
    mutating func isDue(_ now: Int64) -> Bool {
        guard let next, now >= next, !isUnderWay else { return false }
        isUnderWay = true
        return true
    }

    /// Takes the number of partitions without a consumer.
    ///
    /// - Returns: Whether to rejoin the group.
    mutating func found(_ unreadCount: Int, at now: Int64) -> Bool {
        isUnderWay = false
        guard next != nil else { return false }
        guard unreadCount > 0 else {
            isDoubtful = false
            next = now + Self.interval
            return false
        }
        guard isDoubtful else {
            isDoubtful = true
            next = now + Self.doubtInterval
            return false
        }
        isDoubtful = false
        joinedAnew = now
        next = now + Self.patience
        return true
    }
}
