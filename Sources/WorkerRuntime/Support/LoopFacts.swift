import Basics
import Delivery
import PushModel

/// The facts that the loop remembers for its status alone, and the board that shows it.
struct LoopFacts {
    let board: StatusBoard
    /// Requests finished since the start.
    var finishedCount = 0
    private(set) var finishRate = FinishRate()
    /// The time when partitions were last assigned or taken away.
    var lastRebalance: Timestamp?
    /// The time when a commit was last confirmed.
    var lastCommit: Timestamp?
    /// The entries of the partitions, by slot.
    var statuses: [LoopStatus.Partition] = []
    /// The assignment that they are of.
    private var statusEpoch: Int?
    /// The time since which the oldest unread request waits, as far as that is known. Nil when nothing is unread.
    var oldestUnread: Timestamp?

    /// No facts yet.
    init(board: StatusBoard) { self.board = board }

    /// Makes the entries of an assignment, unless they are there.
    mutating func beginStatuses(of partitions: [PartitionState], epoch: Int, now: Timestamp) {
        guard statusEpoch != epoch || statuses.count != partitions.count else { return }
        statusEpoch = epoch
        statuses = partitions.map { $0.status(inWork: 0, oldest: nil, reading: nil, now: now) }
    }

    /// Counts what was finished since the last call. To be called once a second.
    mutating func measureRate(now: MonotonicTime) { finishRate.add(finishedCount, at: now) }
}

extension Membership.Mode {
    /// Its name in the status.
    var name: String {
        switch self {
        case .running: "running"
        case .revoking: "revoking"
        case .stopping: "stopping"
        case .stopped: "stopped"
        }
    }
}
