public import Basics
public import PushModel

/// The knowledge of a worker's loop about its partitions' lives: which the group assigned, when they begin, how they are given
/// up, and when the worker ends.
///
/// The owner keeps what the partitions hold, and the requests. It says what happened, and does what is answered, in that order. Each
/// assignment has a number, the epoch; what belongs to another one counts no more.
///
///     nothing ── assigned ──▶ asked ── positions known ──▶ begun ── revoked ──▶ revoking ── drained ──▶ nothing
///                               ▲                           │ │
///                               └────── positions moved ────┘ └── lost ──▶ nothing
///
/// From each of them a stop leads to stopping, and that to stopped.
public struct Membership: Sendable {
    /// The present state, which holds what belongs to it.
    private(set) var state = State.nothing { didSet { noteState() } }
    // Stored beside the state, because a loop asks for them at each record, and to ask a value costs a copy of it:
    /// The mode of the worker.
    public private(set) var mode = Mode.running
    /// True if partitions have begun that are not given up.
    public private(set) var ownsPartitions = false
    /// True if partitions are given up, for others or because the worker stops.
    public private(set) var isDraining = false
    /// The number of the assignment.
    public private(set) var epoch = 0
    /// True if positions of the group say that no worker is at work. They are committed again before anything is begun: if this
    /// worker died, the next one would otherwise not know that something was.
    public private(set) var isOpening = false
    /// True if the worker stood still for so long that the group may have gone on without it. Then its positions are committed
    /// before anything is begun, which shows whether they are its own.
    public private(set) var isDoubtful = false
    /// True if results can be written.
    public private(set) var isProducerReady = false
    /// The partitions that were found to end before the group's position. They stay so until an assignment begins that knows of it.
    public private(set) var behindCommit: Set<Partition> = []
    private var doubts = LogDoubts()
    /// The moment at which the positions of the last assignment began to be asked for.
    public private(set) var assignedAt = MonotonicTime(nanoseconds: 0)
    /// The moment at which partitions last began.
    public private(set) var begunAt = Timestamp(milliseconds: 0)

    private let terms: Terms
    /// True if the worker has asked to be a member of the group.
    private var hasJoined = false
    /// The moment to try again to get the producer ready.
    private var prepareAt: MonotonicTime?
    /// True if a broker that failed is being asked.
    private var isProbing = false
    private var survey = GroupSurvey()
    private var lastTurn: MonotonicTime?
    private var suspension: SuspensionGuard { didSet { noteDoubt() } }

    /// A membership without partitions, whose producer is being made ready.
    public init(_ terms: Terms) {
        self.terms = terms
        suspension = SuspensionGuard(patience: terms.sessionTimeout / 2)
    }

    /// Until when an owner before this worker may go on whose end is not known: for a session after the partitions have begun here. A
    /// member hears within one that it has lost its own; one that stands still begins nothing before it has asked.
    public var overlapEnd: Timestamp { begunAt.adding(milliseconds: terms.sessionTimeout / 1_000_000) }

    /// True if such an owner may go on.
    ///
    /// - Parameter time: The present moment by the wall clock.
    /// - Returns: Whether it may.
    public func mayOverlap(at time: Timestamp) -> Bool { time <= overlapEnd }

    /// The worker has turned. Call this whenever its clock is read, of which nothing but the process's own suspension takes long.
    ///
    /// - Parameters:
    ///   - now: The present moment, by a clock that goes on while the process stands still.
    ///   - isOffering: Whether a commit is offered and not confirmed.
    ///   - hasRead: Whether there is a position to commit.
    public mutating func noteTurn(now: MonotonicTime, isOffering: Bool, hasRead: @autoclosure () -> Bool) {
        defer { lastTurn = now }
        guard suspension.stoodStill(from: lastTurn, to: now), mode == .running, ownsPartitions, hasRead() else { return }
        suspension.suspect(isOffering: isOffering)
    }

    private mutating func noteState() {
        mode = state.mode
        ownsPartitions = !state.share.partitions.isEmpty
        isDraining = state.drain != nil
        isOpening = state.share.hasClosed || isDoubtful
    }

    private mutating func noteDoubt() {
        isDoubtful = suspension.isDoubtful
        isOpening = state.share.hasClosed || isDoubtful
    }

    /// True if it is time to commit that nothing is in work. The worker does not wait long for that: without it, what the next
    /// owner cannot send is only reported as ambiguous.
    public func isClosing(now: MonotonicTime) -> Bool { state.drain?.isClosing(at: now) ?? false }

    /// Time has passed. Call this once a turn.
    ///
    /// - Parameters:
    ///   - isOutOfGroup: Whether the group has gone on without this worker.
    ///   - now: The present moment.
    /// - Returns: `prepare`, `ask`, `cut` and `examine`, as far as they are due.
    public mutating func tick(isOutOfGroup: Bool, now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        if let due = prepareAt, due <= now {
            prepareAt = nil
            actions.append(.prepare)
        }
        if case .asked(let question) = state, let due = question.askAt, due <= now { actions.append(ask(question.partitions)) }
        if let drain = state.drain, now >= drain.deadline || isOutOfGroup { actions.append(.cut) }
        let doubted = doubts.takeDue(now: now)
        if !doubted.isEmpty { actions.append(.examine(doubted, epoch: epoch)) }
        return actions
    }

    /// A second has passed.
    ///
    /// - Parameters:
    ///   - isBrokerDoubtful: Whether the broker failed and has not answered since. A member that keeps its partitions does not hear from it
    ///     otherwise.
    ///   - now: The present moment.
    /// - Returns: `probe` and `survey`, as far as they are due.
    public mutating func secondPassed(isBrokerDoubtful: Bool, now: MonotonicTime) -> [Action] {
        var actions: [Action] = []
        if isBrokerDoubtful, !isProbing, ownsPartitions {
            isProbing = true
            actions.append(.probe)
        }
        if terms.checksForUnread || survey.isAwaited, mode == .running, survey.startSurvey(now) { actions.append(.survey) }
        return actions
    }
}

// The group.
extension Membership {
    /// Decides whether it is time to join the group, which a worker does once. One that has never been able to send leaves the requests to
    /// others.
    ///
    /// - Parameter isWanted: Whether the worker can take requests. It is asked for only until then.
    /// - Returns: Whether to join now.
    public mutating func joins(isWanted: @autoclosure () -> Bool) -> Bool {
        guard !hasJoined, mode == .running, isWanted() else { return false }
        hasJoined = true
        return true
    }

    /// The group has assigned partitions, and perhaps none. A failed rebalance takes partitions away without a revocation: whatever was
    /// theirs is the next owner's now.
    ///
    /// - Parameters:
    ///   - partitions: All that this member has from now on.
    ///   - now: The present moment.
    /// - Returns: `forget`, and then `ask`; or `begin` where there is nothing to ask for. An empty assignment is answered like any other: a
    ///   member that owes the answer does not join again when others leave. One that stops answers when it leaves.
    public mutating func assigned(_ partitions: [Partition], now: MonotonicTime) -> [Action] {
        if mode == .revoking { state = .nothing }
        return take(partitions, now: now)
    }

    /// The group takes the partitions away. Before they are given up, calls in flight may finish and be committed. Lost
    /// partitions have other owners already.
    ///
    /// - Parameters:
    ///   - isLost: Whether they are lost.
    ///   - now: The present moment.
    /// - Returns: `drain` or `drop`; nothing if the worker stops, which gives them up at its end.
    public mutating func revoked(isLost: Bool, now: MonotonicTime) -> [Action] {
        if mode == .stopping && !isLost { return [] }
        guard !isLost, case .begun(let share) = state, ownsPartitions else { return drop() }
        state = .revoking(share, startDrain(at: now))
        return [.drain]
    }

    /// The group has said where it stands.
    ///
    /// - Parameter epoch: What `ask` had.
    /// - Returns: `begin`, or nothing if that assignment has ended, has begun, or is given up.
    public func positionsKnown(epoch: Int) -> [Action] {
        guard epoch == self.epoch, case .asked = state else { return [] }
        return [.begin]
    }

    /// The positions could not be learnt, or the partitions cannot be read from there. They are asked for again after a while: a member
    /// that owes the answer is not asked again, and would have nothing assigned.
    ///
    /// - Parameters:
    ///   - epoch: What `ask` had.
    ///   - isTimeout: Whether the answer did not come in time.
    ///   - now: The present moment.
    /// - Returns: `reportUnreadablePositions` if that takes too long, or nothing.
    public mutating func positionsFailed(epoch: Int, isTimeout: Bool, now: MonotonicTime) -> [Action] {
        guard epoch == self.epoch, case .asked(var question) = state else { return [] }
        question.askAt = now.advanced(byNanoseconds: Self.askInterval)
        state = .asked(question)
        let isTooLong = now.nanoseconds(since: assignedAt) > Self.positionPatience
        return isTimeout && isTooLong ? [.reportUnreadablePositions] : []
    }

    /// The partitions have begun whose positions were asked for. Nothing changes if they were not.
    ///
    /// - Parameters:
    ///   - isOpening: Whether positions say that no worker is at work.
    ///   - awaitsLeader: Whether one of them waits for its leader. Then any member looks whether it is back.
    ///   - now: The present moment.
    ///   - time: The same by the wall clock.
    public mutating func noteStart(isOpening: Bool, awaitsLeader: Bool = false, now: MonotonicTime, at time: Timestamp) {
        guard case .asked(let question) = state else { return }
        state = .begun(Share(partitions: question.partitions, hasClosed: isOpening))
        begunAt = time
        behindCommit.removeAll()
        survey.isAwaited = awaitsLeader
        survey.noteStart(now)
    }

    /// A partition has begun later than the others, because records had to be read first that say where. It is opening if its
    /// position says that no worker is at work.
    public mutating func beganLater(isOpening: Bool) {
        if case .begun = state, isOpening { state.share.hasClosed = true }
    }

    /// The group's positions were committed. `hasClosed` if some of them say that no worker is at work.
    public mutating func noteCommit(hasClosed: Bool) {
        if mode == .running { suspension.noteCommit() } else { suspension.reset() }
        state.share.hasClosed = mode == .running && hasClosed
    }

    /// A partition ends before the group's position.
    public mutating func foundBehindCommit(_ partition: Partition) { behindCommit.insert(partition) }

    /// Something says that the log of a partition is not the one that was read.
    public mutating func foundDoubt(_ partition: Partition, now: MonotonicTime) { doubts.note(partition, now: now) }

    /// It is known what some of the partitions hold that were in doubt. Where one does not hold what was read of it, the assignment begins
    /// again.
    ///
    /// - Parameters:
    ///   - same: Those that hold it.
    ///   - changed: Those that do not.
    ///   - epoch: What `examine` had.
    ///   - now: The present moment.
    /// - Returns: Those that are in doubt no more, and are read on.
    public mutating func examined(same: [Partition], changed: [Partition], epoch: Int, now: MonotonicTime) -> [Partition] {
        guard epoch == self.epoch else { return [] }
        behindCommit.formUnion(changed)
        doubts.answered(same, now: now)
        return same
    }

    /// The group does not stand where this worker believes, or a partition ends before it: the assignment begins again from the group's
    /// positions.
    ///
    /// - Parameter now: The present moment.
    /// - Returns: `forget`, and then `ask` unless the partitions are given up anyway; nothing without partitions.
    public mutating func positionsMoved(now: MonotonicTime) -> [Action] {
        ownsPartitions ? take(state.share.partitions, now: now) : []
    }

    /// It is known which partitions have no consumer.
    ///
    /// - Parameters:
    ///   - unread: These partitions; none where it could not be learnt.
    ///   - now: The present moment.
    /// - Returns: `rejoin` or nothing.
    public mutating func surveyed(_ unread: [Partition], now: MonotonicTime) -> [Action] {
        survey.noteUnread(unread.count, at: now) && mode == .running ? [.rejoin(unread: unread)] : []
    }

    private mutating func take(_ partitions: [Partition], now: MonotonicTime) -> [Action] {
        end()
        // While partitions are given up, none is begun.
        guard mode == .running else { return [.forget] }
        assignedAt = now
        state = .asked(Question(partitions: partitions))
        return [.forget, partitions.isEmpty ? .begin : ask(partitions)]
    }

    private mutating func ask(_ partitions: [Partition]) -> Action {
        state = .asked(Question(partitions: partitions))
        return .ask(partitions, behindCommit: behindCommit, epoch: epoch)
    }

    private mutating func drop() -> [Action] {
        end()
        if mode == .revoking { state = .nothing }
        return [.drop]
    }

    private mutating func end() {
        state.endAssignment()
        epoch += 1
        doubts = LogDoubts()
        suspension.reset()
        survey.noteEnd()
    }

    /// Begins nothing more, and gives calls their time to finish.
    private mutating func startDrain(at now: MonotonicTime) -> Drain {
        suspension.reset()
        return Drain(until: now.advanced(byNanoseconds: terms.drainTimeout))
    }
}

// The producer, whoever does what blocks, and the end.
extension Membership {
    /// Results can be written.
    public mutating func producerPrepared() { isProducerReady = true }

    /// The producer is not ready. That is tried again after a while.
    public mutating func producerFailed(now: MonotonicTime) {
        prepareAt = now.advanced(byNanoseconds: Self.prepareInterval)
    }

    /// The broker that failed has answered, or has not.
    public mutating func probed() { isProbing = false }

    /// Whoever did what blocks is given up, with all that it was to do, and another takes its place.
    ///
    /// - Parameter now: The present moment.
    /// - Returns: `prepare`, and `ask` if positions are not known.
    public mutating func committerReplaced(now: MonotonicTime) -> [Action] {
        isProducerReady = false
        prepareAt = nil
        isProbing = false
        survey.noteStart(now)
        doubts.answered([], now: now)
        guard case .asked(let question) = state else { return [.prepare] }
        return [.prepare, ask(question.partitions)]
    }

    /// The worker is asked to stop. It may be said again and again.
    ///
    /// - Parameters:
    ///   - isUrgent: Whether calls in flight are not waited for.
    ///   - now: The present moment.
    /// - Returns: `drain`, the first time.
    public mutating func stopAsked(isUrgent: Bool, now: MonotonicTime) -> [Action] {
        guard mode != .stopped else { return [] }
        let isFirst = mode != .stopping
        if isFirst { state = .stopping(state.share, startDrain(at: now)) }
        if isUrgent { state.drain?.shorten(to: now) }
        return isFirst ? [.drain] : []
    }

    /// The worker cannot go on: another process has its name, its Kafka client has failed for good, or a position cannot be read.
    public mutating func stop() { state = .stopped(state.share) }

    /// The loop has worked while partitions are given up. Call this once a turn, after `tick`.
    ///
    /// - Parameters:
    ///   - work: How far that is.
    ///   - now: The present moment.
    /// - Returns: `drop` or `stop` when calls are done or time is up, and the rest is committed; else nothing.
    public mutating func noteWork(_ work: Work, now: MonotonicTime) -> [Action] {
        guard let deadline = state.drain?.deadline, work.isIdle || !ownsPartitions else { return [] }
        if work.isCommitted, !work.isOutOfGroup, ownsPartitions {
            state.drain?.noteDrained(at: now)
            if work.canClose && isClosing(now: now) { return [] }
        }
        // The group has the partitions given to others, whose the work is now: nothing of it can be committed any more.
        let isGivenUp = work.isOutOfGroup || now >= deadline.advanced(byNanoseconds: terms.transactionTimeout)
        guard work.isCommitted || isGivenUp || !ownsPartitions else { return [] }
        guard case .stopping(let share, _) = state else { return drop() }
        state = .stopped(share)
        return [.stop(isCommitted: work.isCommitted)]
    }
}
