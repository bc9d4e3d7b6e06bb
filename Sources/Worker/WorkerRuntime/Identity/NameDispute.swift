import Basics

/// Decides what a worker does that was fenced: whether it was by another process of its name, or by its own earlier membership.
///
/// A coordinator that stops in the middle of a join gives the name a membership that its client never hears of, and takes the client for
/// an outdated one from then on. A new client is let in again. So the worker ends only when another process is seen to live under its name.
///
/// Only time tells: a group goes on to show the client id of whoever joined first under a name, when others take its place. The worker's
/// client is closed, so a membership of its own ends with its session. But a session begins again when its broker comes back or another
/// broker takes over, and lasts while a rebalance waits, and a join on its way makes one more membership. So the proof of another
/// process is one membership that outlives a session while nothing of that is seen, nor had the time to happen unseen.
/// Who has the name for longer lives.
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
    /// The time beyond a session for which a member must have the name to be believed to live: 3 s. A broker that crashes takes longer
    /// to come back, so looks of this distance belong together.
    static let margin: Int64 = 3_000_000_000

    private let session: Int64
    private var wait = Self.firstWait
    private var fencedAt: MonotonicTime?
    /// The moment of the last answer, or that of the fencing.
    private var heardAt = MonotonicTime.past
    private var ownMemberID: String?
    private var proof: Proof?

    /// The looks that showed one membership without a break.
    private struct Proof {
        let member: NameMember
        /// The moment of the first answer.
        let begun: MonotonicTime
        /// The moment of the last question.
        var asked: MonotonicTime
    }

    /// A worker that was not fenced yet. The group keeps a silent member for `session`.
    init(session: Int64) { self.session = session }

    /// The worker was fenced, and its client is closed, which was the member `ownMemberID` where that is known. Returns `check`, half
    /// a wait to a whole one later. `jitter` is by chance, 0 – 1.
    mutating func fenced(as ownMemberID: String?, now: MonotonicTime, jitter: Double) -> Action {
        if let fencedAt, now.nanoseconds(since: fencedAt) >= Self.calm { wait = Self.firstWait }
        fencedAt = now
        heardAt = now
        self.ownMemberID = ownMemberID
        proof = nil
        defer { wait = min(wait * 2, Self.longestWait) }
        return .check(at: now.advanced(byNanoseconds: wait / 2 + Int64(Double(wait / 2) * min(max(jitter, 0), 1))))
    }

    /// A look that was begun at `asked` has shown the membership under the name, or that there is none. Returns `rejoin` for none and
    /// for the worker's own, `end` if one has the name for longer than a session without a break, else `check`.
    mutating func noteMember(_ member: NameMember?, asked: MonotonicTime, now: MonotonicTime) -> Action {
        heardAt = now
        guard let member, member.memberID != ownMemberID else { return .rejoin }
        if let proof, proof.member == member, member.isStable, now.nanoseconds(since: proof.asked) <= Self.margin {
            self.proof?.asked = asked
            if isOver(since: proof.begun, now: asked) { return .end }
        } else {
            proof = Proof(member: member, begun: now, asked: asked)
        }
        return .check(at: now.advanced(byNanoseconds: Self.checkInterval))
    }

    /// A look has shown nothing. Returns `check`, or `rejoin` when that has lasted longer than a session.
    mutating func noteNoAnswer(now: MonotonicTime) -> Action {
        proof = nil
        return isOver(since: heardAt, now: now) ? .rejoin : .check(at: now.advanced(byNanoseconds: Self.checkInterval))
    }

    private func isOver(since start: MonotonicTime, now: MonotonicTime) -> Bool {
        now.nanoseconds(since: start) > session + Self.margin
    }
}

/// A member under a worker's name, as one look shows it.
struct NameMember: Sendable, Equatable {
    /// The id that the group gave it when it joined. Each joining has another.
    var memberID: String
    /// The broker that keeps the group's sessions, or nil where none is named.
    var coordinator: Int32?
    /// False while the group is rebalanced, when it keeps silent members.
    var isStable: Bool
}
