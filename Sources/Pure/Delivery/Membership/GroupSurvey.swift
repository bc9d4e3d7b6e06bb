import Basics

/// The times at which a worker checks for partitions of its topics without a consumer, and at which it rejoins the group because
/// of them.
///
/// A group is rebalanced when members come or go, or when its leader hears that a topic has grown. A static member that restarts does
/// neither: it gets what it had, and has never known the topic smaller. So whoever sees a partition without a consumer twice rejoins; of
/// the members that do, the leader triggers a rebalance (Kafka, `GroupCoordinator.doJoinGroup`).
///
/// Times are nanoseconds.
struct GroupSurvey: Sendable {
    /// From an assignment to the first look: 5 s.
    static let firstWait: Int64 = 5_000_000_000
    /// Between two looks: 10 s.
    static let interval: Int64 = 10_000_000_000
    /// Between the look that found something and the one that confirms it: 3 s.
    static let doubtInterval: Int64 = 3_000_000_000
    /// From rejoining to the next look: 60 s. What has no consumer then, rejoining does not help.
    static let patience: Int64 = 60_000_000_000

    /// True if a partition of the assignment waits for its leader.
    var isAwaited = false
    /// The moment of the next look, or nil without an assignment.
    private var next: MonotonicTime?
    private var isDoubtful = false
    private var isAsking = false
    private var rejoinedAt: MonotonicTime?

    /// An assignment has begun, or the present look will have no answer.
    mutating func noteStart(_ now: MonotonicTime) {
        let first = now.advanced(byNanoseconds: Self.firstWait)
        next = max(first, rejoinedAt.map { $0.advanced(byNanoseconds: Self.patience) } ?? first)
        isDoubtful = false
        isAsking = false
    }

    /// The assignment has ended.
    mutating func noteEnd() {
        next = nil
        isAwaited = false
    }

    /// Starts a survey if it is time, and returns whether it is. The answer goes to `noteUnread`.
    mutating func startSurvey(_ now: MonotonicTime) -> Bool {
        guard let next, now >= next, !isAsking else { return false }
        isAsking = true
        return true
    }

    /// Takes the number of partitions without a consumer. Returns whether to rejoin the group.
    mutating func noteUnread(_ unreadCount: Int, at now: MonotonicTime) -> Bool {
        isAsking = false
        guard next != nil else { return false }
        guard unreadCount > 0 else {
            isDoubtful = false
            next = now.advanced(byNanoseconds: Self.interval)
            return false
        }
        guard isDoubtful else {
            isDoubtful = true
            next = now.advanced(byNanoseconds: Self.doubtInterval)
            return false
        }
        isDoubtful = false
        rejoinedAt = now
        next = now.advanced(byNanoseconds: Self.patience)
        return true
    }
}
