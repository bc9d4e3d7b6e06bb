import Basics

/// Decides what a worker does that was fenced: whether it was by another process of its name, or by its own earlier membership.
///
/// A coordinator that stops in the middle of a join gives the name a membership that its client never hears of, and takes the client for
/// an outdated one from then on. A new client is let in again. So the worker ends only when another process is seen to live under its name.
///
/// Only time tells: a group goes on to show the client id of whoever joined first under a name, when others take its place. The worker's
/// client is closed, so a membership of its own ends with its session. Who has the name for longer lives.
///
/// Times are nanoseconds.
struct NameDispute: Sendable {
    /// The kinds of what to do.
    enum Action: Sendable, Equatable {
        /// Look who has the name, but not sooner.
        case check(at: MonotonicTime)
        /// Join the group again, with a new client.
        case rejoin
        /// End: another process has the name.
        case end
    }

    /// The first wait: 1 s. Each is twice the one before.
    static let firstWait: Int64 = 1_000_000_000
    /// The longest wait: 30 s.
    static let longestWait: Int64 = 30_000_000_000
    /// The time since the last fencing after which a fenced worker begins with the first wait again: 60 s.
    static let calm: Int64 = 60_000_000_000
    /// Between two looks: 1 s.
    static let checkInterval: Int64 = 1_000_000_000
    /// The time beyond a session for which a member must have the name to be believed to live: 3 s.
    static let margin: Int64 = 3_000_000_000

    private let session: Int64
    private var wait = Self.firstWait
    private var fencedAt: MonotonicTime?

    /// A worker that was not fenced yet. The group keeps a silent member for `session`.
    init(session: Int64) { self.session = session }

    /// The worker was fenced, and its client is closed. Returns `check`, half a wait to a whole one later. `jitter` is by chance,
    /// 0 – 1.
    mutating func fenced(now: MonotonicTime, jitter: Double) -> Action {
        if let fencedAt, now.nanoseconds(since: fencedAt) >= Self.calm { wait = Self.firstWait }
        fencedAt = now
        defer { wait = min(wait * 2, Self.longestWait) }
        return .check(at: now.advanced(byNanoseconds: wait / 2 + Int64(Double(wait / 2) * min(max(jitter, 0), 1))))
    }

    /// A probe has shown who has the name. Returns `rejoin` once no member has it, `end` if one has it for longer than a session,
    /// else `check`.
    func noteHolder(_ holder: NameHolder, now: MonotonicTime) -> Action {
        guard holder != .nobody else { return .rejoin }
        return isOver(now) ? .end : .check(at: now.advanced(byNanoseconds: Self.checkInterval))
    }

    /// A probe has shown nothing. Returns `check`, or `rejoin` when that has lasted longer than a session.
    func noteNoAnswer(now: MonotonicTime) -> Action {
        isOver(now) ? .rejoin : .check(at: now.advanced(byNanoseconds: Self.checkInterval))
    }

    /// True if a membership of this worker's own must have ended.
    private func isOver(_ now: MonotonicTime) -> Bool {
        guard let fencedAt else { return true }
        return now.nanoseconds(since: fencedAt) > session + Self.margin
    }
}
