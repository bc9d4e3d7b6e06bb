/// When a worker looks whether somebody reads every partition of its topics, and when it joins the group anew because nobody does.
///
/// A group is shared out anew when members come or go, or when its leader hears that a topic has grown. A static member that restarts does
/// neither: it gets what it had, and has never known the topic smaller. So whoever sees a partition without a reader twice joins anew; of the
/// members that do, the leader has the group shared out (Kafka, `GroupCoordinator.doJoinGroup`).
///
/// Times are monotonic nanoseconds.
struct GroupSurvey {
    /// From an assignment to the first look: 5 s.
    static let firstWait: Int64 = 5_000_000_000
    /// Between two looks: 10 s.
    static let interval: Int64 = 10_000_000_000
    /// Between the look that found something and the one that is to confirm it: 3 s.
    static let doubtInterval: Int64 = 3_000_000_000
    /// From joining anew to the next look: 60 s. What nobody reads then, joining does not help.
    static let patience: Int64 = 60_000_000_000

    /// When to look next; nil without an assignment.
    private var next: Int64?
    private var isDoubtful = false
    private var isUnderWay = false
    private var joinedAnew: Int64?

    /// An assignment has begun, or nobody will hear of the look under way.
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

    /// Takes in how many partitions nobody reads.
    ///
    /// - Returns: Whether to join the group anew.
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
