import Basics

/// Tells that a worker stood still for so long, as a process does that is frozen, that the group may have gone on without it.
///
/// When it goes on, it has requests in memory and does not know yet that its session has ended. Until a commit that was offered since
/// then is confirmed, which the group does for a member only, nothing may be begun.
struct SuspensionGuard: Sendable {
    /// The time that a turn may take, nanoseconds.
    private let patience: Int64
    private var lastTurn: MonotonicTime?
    /// The number of commits that must be confirmed before one shows that the worker is a member.
    private var awaited = 0

    /// A worker that has made no turn.
    init(patience: Int64) { self.patience = patience }

    /// True if the group may have gone on without the worker.
    var isDoubtful: Bool { awaited > 0 }

    /// The worker has turned. While a commit is offered, its confirmation may be from before. Without a position to commit,
    /// nothing was read.
    mutating func noteTurn(_ now: MonotonicTime, isOffering: Bool, hasRead: () -> Bool) {
        if let lastTurn, now - lastTurn > patience, hasRead() { awaited = isOffering ? 2 : 1 }
        lastTurn = now
    }

    /// A commit is confirmed.
    mutating func noteCommit() { awaited = max(0, awaited - 1) }

    /// There is nothing that could be begun.
    mutating func reset() { awaited = 0 }
}
