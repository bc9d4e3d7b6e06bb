import Basics
import Delivery

/// A group, a committer and a loop around a membership, in any order that can and cannot be.
struct MembershipModel {
    enum Event: CaseIterable, Sendable {
        case assigned, revoked, lost, known, failed, moved, replaced, second, minute
        case idle, committed, closable, outOfGroup, unreadable, stopAsked
    }

    struct Step: ShrinkableStep, Sendable {
        var event: Event
        var value: Int

        var simpler: [Step] { value > 0 ? [Step(event: event, value: 0), Step(event: event, value: value - 1)] : [] }
    }

    /// How often something happened.
    struct Counts {
        var begun = 0
        var drained = 0
        var cut = 0
        var reset = 0
        var outdated = 0

        static func += (left: inout Counts, right: Counts) {
            left.begun += right.begun
            left.drained += right.drained
            left.cut += right.cut
            left.reset += right.reset
            left.outdated += right.outdated
        }
    }

    private var desk = MembershipDesk()
    private(set) var counts = Counts()
    /// The assignments whose positions the committer was asked for and has not told.
    private var questions: [Int] = []
    private var askedCount = 0
    /// Whether the group has given something that is not given up.
    private var isGiven = false
    /// Until when calls may finish.
    private var drainEnd = MonotonicTime.never

    static func steps(_ count: Int, using random: inout some RandomNumberGenerator) -> [Step] {
        (0..<count).map { _ in
            // Few histories stop early.
            let isAnything = Int.random(in: 0..<50, using: &random) == 0
            let events = isAnything ? Event.allCases : Event.allCases.filter { $0 != .stopAsked && $0 != .minute }
            let event = events[Int.random(in: 0..<events.count, using: &random)]
            return Step(event: event, value: Int.random(in: 0..<4, using: &random))
        }
    }

    /// Plays a history, and at last stops.
    ///
    /// - Returns: What went wrong first, and what happened.
    static func play(_ steps: [Step]) -> (fault: String?, counts: Counts) {
        var model = MembershipModel()
        for step in steps {
            if let fault = model.play(step) { return (fault, model.counts) }
        }
        return (model.end(), model.counts)
    }

    private mutating func play(_ step: Step) -> String? {
        let (mode, owned) = (desk.membership.mode, desk.membership.ownsPartitions)
        if let fault = happen(step) { return fault }
        if let fault = note() { return fault }
        if step.event == .stopAsked, step.value == 0 { drainEnd = min(drainEnd, desk.now) }
        if step.event == .revoked, mode == .running, owned, desk.answer != [.drain] { return "given up without a drain" }
        if step.event == .moved, !desk.answer.isEmpty { counts.reset += 1 }
        if let fault = turn() { return fault }
        return progress()
    }

    private mutating func happen(_ step: Step) -> String? {
        desk.answer = []
        switch step.event {
        case .assigned: desk.assign(step.value)
        case .revoked: desk.revoke()
        case .lost: desk.revoke(isLost: true)
        case .known, .failed:
            guard !questions.isEmpty else { return nil }
            let epoch = questions.removeFirst()
            let isOutdated = epoch != desk.membership.epoch
            if step.event == .known { desk.learn(epoch) } else { desk.fail(epoch, isTimeout: step.value == 0) }
            guard isOutdated else { return nil }
            counts.outdated += 1
            if !desk.answer.isEmpty { return "positions of another assignment count" }
        case .moved: desk.move()
        case .replaced:
            questions = []
            desk.replaceCommitter()
        case .second: desk.advance(Int64(step.value) * MembershipDesk.second / 2)
        case .minute: desk.advance(60 * MembershipDesk.second)
        case .idle: desk.work.isIdle = step.value == 0
        case .committed: desk.work.isCommitted = step.value == 0
        case .closable: desk.work.canClose = step.value == 0
        case .outOfGroup: desk.work.isOutOfGroup = step.value == 0
        case .unreadable: desk.isUnreadable = step.value == 0
        case .stopAsked: desk.stop(isUrgent: step.value == 0)
        }
        return nil
    }

    /// What the last answer changes.
    private mutating func note() -> String? {
        questions += desk.asked[askedCount...]
        askedCount = desk.asked.count
        counts.begun = desk.beginCount
        for action in desk.answer {
            switch action {
            case .ask, .begin: isGiven = true
            case .forget, .drop: isGiven = false
            case .drain: drainEnd = desk.now.advanced(byNanoseconds: MembershipDesk.drainTimeout)
            default: break
            }
        }
        if desk.membership.ownsPartitions && !desk.hasBegun { return "owned without having begun" }
        return desk.faults.first
    }

    /// The end of a turn of the loop.
    private mutating func turn() -> String? {
        desk.tick()
        if let fault = note() { return fault }
        if desk.answer.contains(.cut) {
            if desk.now < drainEnd && !desk.work.isOutOfGroup { return "calls are cut too early" }
            counts.cut += 1
            desk.work.isIdle = true
        }
        let (owned, work) = (desk.membership.ownsPartitions, desk.work)
        desk.finish()
        if let fault = note() { return fault }
        guard owned, !desk.answer.isEmpty else { return nil }
        counts.drained += 1
        let isOver = desk.now >= drainEnd.advanced(byNanoseconds: MembershipDesk.transactionTimeout) || work.isOutOfGroup
        if !work.isIdle { return "given up with calls in flight" }
        return work.isCommitted || isOver ? nil : "given up before its commit"
    }

    /// Whatever was assigned begins at last, if the committer answers.
    private func progress() -> String? {
        guard desk.membership.mode == .running, isGiven, !desk.hasBegun, !questions.contains(desk.membership.epoch) else {
            return nil
        }
        var later = desk
        later.advance(Membership.askInterval)
        later.tick()
        return later.asked.last == desk.membership.epoch && later.asked.count > desk.asked.count
            ? nil : "no one asks for the positions"
    }

    /// A stop ends, however long calls and commits take.
    private mutating func end() -> String? {
        desk.work = Membership.Work(isIdle: false, isCommitted: false, isOutOfGroup: false, canClose: true)
        desk.stop()
        if let fault = note() { return fault }
        let limit = MembershipDesk.drainTimeout + MembershipDesk.transactionTimeout
        let last = desk.now.advanced(byNanoseconds: limit)
        while desk.membership.mode != .stopped {
            if desk.now > last { return "a stop does not end" }
            if let fault = turn() { return fault }
            desk.advance(MembershipDesk.second)
        }
        return nil
    }
}
