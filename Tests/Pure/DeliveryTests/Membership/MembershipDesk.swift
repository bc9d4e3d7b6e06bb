import Basics
import Delivery
import PushModel

/// What a loop does around a membership, without partitions and requests: it does what is answered, and counts.
struct MembershipDesk {
    /// Where a worker can be.
    enum State: CaseIterable { case fresh, asked, empty, begun, revoking, stopping, stopped }

    static let second: Int64 = 1_000_000_000
    static let drainTimeout = 20 * Self.second
    static let transactionTimeout = 15 * Self.second

    var membership: Membership
    var now = MonotonicTime(nanoseconds: 0)
    /// What was answered last.
    var answer: [Membership.Action] = []
    /// The epochs of all questions for positions.
    var asked: [Int] = []
    /// How often partitions were begun.
    var beginCount = 0
    /// Whether partitions are begun that were not forgotten.
    var hasBegun = false
    /// Whether positions say, when partitions begin, that no worker is at work.
    var isClosed = false
    /// Whether a partition waits for its leader when the others begin.
    var awaitsLeader = false
    /// Whether partitions cannot be read when they begin.
    var isUnreadable = false
    /// How far the draining is.
    var work = Membership.Work(isIdle: false, isCommitted: false, isOutOfGroup: false, canClose: false)
    /// What no worker may do.
    var faults: [String] = []

    init(checksForUnread: Bool = true) {
        membership = Membership(
            Membership.Terms(
                drainTimeout: Self.drainTimeout, transactionTimeout: Self.transactionTimeout, checksForUnread: checksForUnread))
    }

    /// A desk whose worker is there, at moment 0.
    static func at(_ state: State) -> MembershipDesk {
        var desk = MembershipDesk()
        switch state {
        case .fresh: return desk
        case .empty: desk.assign(0)
        case .asked, .begun, .revoking, .stopping, .stopped: desk.assign(3)
        }
        guard state != .asked && state != .empty else { return desk }
        desk.learn()
        switch state {
        case .fresh, .asked, .empty, .begun: break
        case .revoking: desk.revoke()
        case .stopping: desk.stop()
        case .stopped: desk.membership.stop()
        }
        return desk
    }

    static func partitions(_ count: Int) -> [Membership.Partition] {
        (0..<Int32(count)).map { Membership.Partition(topic: "requests", number: $0) }
    }

    /// The answer in words.
    var words: String { answer.map(Self.word).joined(separator: " ") }

    private static func word(_ action: Membership.Action) -> String {
        switch action {
        case .prepare: "prepare"
        case .ask: "ask"
        case .reportUnreadablePositions: "report"
        case .begin: "begin"
        case .drain: "drain"
        case .cut: "cut"
        case .forget: "forget"
        case .drop: "drop"
        case .probe: "probe"
        case .survey: "survey"
        case .examine: "examine"
        case .rejoin: "rejoin"
        case .stop: "stop"
        }
    }

    mutating func advance(_ nanoseconds: Int64) { now = now.advanced(byNanoseconds: nanoseconds) }

    mutating func perform(_ actions: [Membership.Action]) {
        answer = actions
        for action in actions {
            switch action {
            case .ask(_, _, let epoch): ask(epoch)
            case .begin: begin()
            case .forget: hasBegun = false
            case .drop:
                hasBegun = false
                if membership.ownsPartitions { faults.append("what was dropped is owned") }
            case .stop: if membership.mode != .stopped { faults.append("it has stopped and goes on") }
            default: break
            }
        }
    }

    private mutating func ask(_ epoch: Int) {
        asked.append(epoch)
        if epoch != membership.epoch { faults.append("asked for another assignment") }
        if hasBegun { faults.append("asked for what has begun") }
        if membership.mode != .running { faults.append("asked while \(membership.mode)") }
    }

    private mutating func begin() {
        if hasBegun { faults.append("begun twice") }
        if membership.mode != .running { faults.append("begun while \(membership.mode)") }
        if isUnreadable {
            let next = membership.positionsFailed(epoch: membership.epoch, isTimeout: false, now: now)
            if !next.isEmpty { faults.append("\(next) for partitions that cannot be read") }
            return
        }
        beginCount += 1
        hasBegun = true
        membership.noteStart(
            isOpening: isClosed, awaitsLeader: awaitsLeader, now: now,
            at: Timestamp(milliseconds: now.nanoseconds / 1_000_000))
    }

    // What happens.

    mutating func assign(_ count: Int) { perform(membership.assigned(Self.partitions(count), now: now)) }

    mutating func revoke(isLost: Bool = false) { perform(membership.revoked(isLost: isLost, now: now)) }

    /// Positions arrive, by default those that were asked for last.
    mutating func learn(_ epoch: Int? = nil) { perform(membership.positionsKnown(epoch: epoch ?? asked.last ?? 0)) }

    /// Positions cannot be learnt, by default those that were asked for last.
    mutating func fail(_ epoch: Int? = nil, isTimeout: Bool = false) {
        perform(membership.positionsFailed(epoch: epoch ?? asked.last ?? 0, isTimeout: isTimeout, now: now))
    }

    mutating func move() { perform(membership.positionsMoved(now: now)) }

    mutating func stop(isUrgent: Bool = false) { perform(membership.stopAsked(isUrgent: isUrgent, now: now)) }

    mutating func replaceCommitter() { perform(membership.committerReplaced(now: now)) }

    mutating func tick() { perform(membership.tick(isOutOfGroup: work.isOutOfGroup, now: now)) }

    mutating func finish() { perform(membership.noteWork(work, now: now)) }
}
