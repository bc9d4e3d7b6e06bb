import Basics

/// Tells that a worker stood still for so long, as a process does that is frozen, that the group may have gone on without it.
///
/// When it goes on, it has requests in memory and does not know yet that its session has ended. Until a commit that was offered since
/// then is confirmed, which the group does for a member only, nothing may be begun.
struct SuspensionGuard: Sendable {
    /// The time that a turn may take, nanoseconds.
    private let patience: Int64
    /// The number of commits that must be confirmed before one shows that the worker is a member.
    private var awaited = 0

    /// A worker that has not stood still.
    init(patience: Int64) { self.patience = patience }

    /// True if the group may have gone on without the worker.
    var isDoubtful: Bool { awaited > 0 }

    /// True if a turn took so long, from the moment of the one before.
    func stoodStill(from lastTurn: MonotonicTime?, to now: MonotonicTime) -> Bool {
        lastTurn.map { now - $0 > patience } ?? false
    }

    /// The worker stood still, and had read. While a commit is offered, its confirmation may be from before.
    mutating func suspect(isOffering: Bool) { awaited = isOffering ? 2 : 1 }

    /// A commit is confirmed.
    mutating func noteCommit() { awaited = max(0, awaited - 1) }

    /// There is nothing that could be begun.
    mutating func reset() { awaited = 0 }
}
