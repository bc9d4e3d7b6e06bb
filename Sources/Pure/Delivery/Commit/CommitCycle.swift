public import Basics

/// The decisions of a worker's commit: when what is finished is offered to the brokers, how much of it, what a failure means, and
/// what waits.
///
/// One batch at a time is offered, and stays until the brokers have confirmed it or none of it can be published any more. The owner keeps
/// the records and the positions. It says what happened and does what is answered. Moments are those of a monotonic clock that the
/// owner reads.
///
///     empty ── due: check, noteHoldings: offer ──▶ in flight ── confirmed: settle ──▶ empty
///                                                  │      ▲
///                                       noteFailure: wait, due: offerAgain
///                                                  ▼      │
///                                                  waiting
///
/// A failure that divides the batch, refuses it alone or gives it up makes the cycle empty too, and less is offered next. `State`
/// says what may follow what.
public struct CommitCycle: Sendable {
    /// The time for which brokers reject a unit, while its topics take others, before it is given up: 5 min in nanoseconds. A
    /// setting that is wrong for a while loses no result.
    public static let refusalPatience: Int64 = 300_000_000_000
    /// After what time a batch that failed is offered again: 500 ms in nanoseconds.
    public static let retryInterval: Int64 = 500_000_000
    /// After what time a worker that was out of the group offers again: 200 ms in nanoseconds.
    public static let groupInterval: Int64 = 200_000_000
    /// The time for which positions without records wait for another commit: 5 s in nanoseconds.
    public static let gapInterval: Int64 = 5_000_000_000
    /// After what time units that cannot go out are looked at again, where nothing else waits: 100 ms in nanoseconds.
    public static let checkInterval: Int64 = 100_000_000
    /// The least time that a commit may take before calls wait for it, ten times what one usually takes: 500 ms in nanoseconds.
    public static let leastPatience: Int64 = 500_000_000

    /// True if results wait until all before them in their partition are there, because brokers take no map of finished offsets.
    public private(set) var isInOrder = false
    private let transactionTimeout: Int64
    private var schedule: CommitSchedule
    private var size: CommitSize { didSet { noteState() } }
    private var refused: RefusedUnits { didSet { pausedUntil = refused.pausedUntil } }
    private(set) var state = State.empty { didSet { noteState() } }
    // Stored beside the state, because a loop asks for them at each record, and to ask a value costs a copy of it:
    /// True if a batch is offered and not confirmed.
    public private(set) var isOffering = false
    /// The moment from which results cannot be recorded, as far as what is offered shows.
    public private(set) var overdueAt = MonotonicTime.never
    /// The moment before which nothing may be begun, because brokers reject so much.
    public private(set) var pausedUntil = MonotonicTime.past
    /// Before when nothing is offered.
    private var nextOffer = MonotonicTime.past
    /// The moment from which positions without records may be committed by themselves.
    private var nextGap = MonotonicTime.past
    /// True if the last unit that was offered by itself came before others that wait.
    private var hasProbed = false

    /// A cycle that has offered nothing.
    public init(_ terms: Terms) {
        transactionTimeout = terms.transactionTimeout
        schedule = CommitSchedule(interval: terms.interval)
        size = CommitSize(transactionTimeout: terms.transactionTimeout)
        refused = RefusedUnits(patience: terms.refusalPatience)
    }

    /// True if what is offered, if anything, says no more than that nothing is in work.
    public var isOnlyClosing: Bool { state.offer.map { $0.closes && $0.isEmpty } ?? true }

    /// The bytes that a unit should have whose size can be chosen: half of what the next commit may have, so that others fit beside it.
    public var roomOfUnit: Int { size.byteLimit / 2 }

    /// True if the group has gone on without this worker, which therefore cannot commit what it offers.
    public var isOutOfGroup: Bool {
        if case .waiting(_, _, let isOutOfGroup) = state { isOutOfGroup } else { false }
    }

    /// True if results cannot be recorded at present. Then nothing may be begun: its calls would be made again if the worker
    /// died, or lost its partitions, before they are.
    public func isOverdue(now: MonotonicTime) -> Bool { now < pausedUntil || now >= overdueAt }

    private mutating func noteState() {
        isOffering = state.offer != nil
        overdueAt =
            switch state {
            case .empty: .never
            case .inFlight(let offer), .outdated(let offer): offer.since + (patience + 1)
            case .waiting: .past
            }
    }

    /// The time that a commit may take before calls wait for it, nanoseconds: where brokers are slow, as long as the fastest of
    /// the last ones took, at most `CommitSize.target`. Otherwise calls would be made for half a second of each commit, however
    /// long all of them take.
    public var patience: Int64 { max(Self.leastPatience, min(size.fastest, size.target)) }

    /// True if positions without records may be committed by themselves.
    public func isGapDue(now: MonotonicTime) -> Bool { now >= nextGap }

    /// The moment at which `due` must be asked at the latest.
    ///
    /// - Parameters:
    ///   - waiting: How many records wait.
    ///   - partitions: How many partitions a commit would touch.
    ///   - isHurried: Whether there are positions to commit as soon as they can be.
    ///   - now: The present moment.
    /// - Returns: A moment, `never` for none.
    public func wakeTime(waiting: Int, partitions: Int, isHurried: Bool = false, now: MonotonicTime) -> MonotonicTime {
        switch state {
        case .empty: break
        case .inFlight, .outdated: return .never
        case .waiting(_, let moment, _): return moment
        }
        if isHurried { return max(nextOffer, now) }
        return waiting == 0 ? .never : max(nextOffer, schedule.due(waiting: waiting, partitions: partitions, now: now))
    }

    /// Time has passed, and a worker could offer.
    ///
    /// - Parameters:
    ///   - waiting: How many records wait.
    ///   - partitions: How many partitions a commit would touch.
    ///   - isHurried: Whether what is there must be committed as soon as it can be.
    ///   - now: The present moment.
    /// - Returns: `wait`, `check` or `offerAgain`.
    public mutating func due(waiting: Int, partitions: Int, isHurried: Bool, now: MonotonicTime) -> Action {
        switch state {
        case .empty:
            let isDue = isHurried || schedule.due(waiting: waiting, partitions: partitions, now: now) <= now
            guard isDue, now >= nextOffer else { return .wait }
            return .check
        case .inFlight, .outdated: return .wait
        case .waiting(var offer, let moment, _):
            guard now >= moment else { return .wait }
            offer.begun = now
            state = .inFlight(offer)
            return .offerAgain(offer.standing)
        }
    }

    /// There is nothing to commit at present. Where records wait, each waits for results before it in its partition.
    ///
    /// - Parameters:
    ///   - waiting: How many records wait.
    ///   - now: The present moment.
    public mutating func noteNothingPending(waiting: Int, now: MonotonicTime) {
        if waiting > 0 { nextOffer = now + Self.checkInterval }
    }

    /// There is something to commit: records, or positions that have moved.
    ///
    /// - Parameters:
    ///   - holdings: What there is.
    ///   - now: The present moment.
    ///   - units: The units of all records that wait, in the order of partitions and offsets; asked for only where not all is offered.
    /// - Returns: `wait` or `offer`.
    public mutating func noteHoldings(_ holdings: Holdings, now: MonotonicTime, units: () -> [CommitUnit]) -> Action {
        guard case .empty = state else { return .wait }
        schedule.noteStart(at: now)
        var selection = CommitSelection()
        if refused.isEmpty, !isInOrder, holdings.recordCount <= refused.unitLimit, size.holds(bytes: holdings.byteCount) {
            selection.isAll = true
        } else {
            let all = units()
            if let alone = probe(all, now: now, holdings: holdings) {
                selection = alone
            } else {
                selection = CommitSelection(all, isInOrder: isInOrder, size: size, refused: refused)
                if selection.places.isEmpty, !refused.suspects.isEmpty {
                    refused.searchEnded()
                    selection = CommitSelection(all, isInOrder: isInOrder, size: size, refused: refused)
                }
            }
            guard !selection.places.isEmpty || refused.isEmpty || holdings.hasPositions else {
                hasProbed = false
                nextOffer = now + Self.checkInterval
                return .wait
            }
        }
        let takenCount = selection.isAll ? holdings.recordCount : selection.places.count
        selection.closes = holdings.isDrained && takenCount == holdings.recordCount
        nextGap = now + Self.gapInterval
        state = .inFlight(Offer(since: now, begun: now, isEmpty: takenCount == 0, closes: selection.closes))
        return .offer(selection)
    }

    /// The unit that was rejected before and is offered by itself now, if there is one. Where others wait, they have every other turn.
    private mutating func probe(_ units: [CommitUnit], now: MonotonicTime, holdings: Holdings) -> CommitSelection? {
        var earliest: (index: Int, moment: MonotonicTime)?
        var areOthersWaiting = holdings.hasPositions
        var start = 0
        for (index, unit) in units.enumerated() {
            if units[start].id.slot != unit.id.slot { start = index }
            if isInOrder && !unit.isNext { continue }
            guard refused.holdsBack(unit.id) else {
                areOthersWaiting = true
                continue
            }
            let moment = refused.moment(of: unit, isInOrder: isInOrder, now: now, isHurried: holdings.isDrained)
            let before = units[start..<index]
            guard moment <= now, earliest.map({ moment < $0.moment }) ?? true,
                CommitSelection.mayFollow(unit, first: before.first?.id.offset, count: before.count, isInOrder: isInOrder)
            else { continue }
            earliest = (index, moment)
        }
        guard let chosen = earliest, !(hasProbed && areOthersWaiting) else {
            hasProbed = false
            return nil
        }
        hasProbed = true
        return CommitSelection(only: units[chosen.index], of: units)
    }

    /// The offered batch could not be handed over, because the worker's place in the group is not known.
    public mutating func notHandedOver(isOutOfGroup: Bool, now: MonotonicTime) {
        guard case .inFlight(let offer) = state else { return }
        state = .waiting(offer, until: now + Self.groupInterval, isOutOfGroup: isOutOfGroup)
    }

    /// The offered batch is committed.
    ///
    /// - Parameters:
    ///   - byteCount: Its bytes.
    ///   - now: The present moment.
    ///   - units: Its units; asked for only where brokers have rejected something.
    /// - Returns: `settle`, `forget` or `wait`.
    public mutating func confirmed(byteCount: Int, now: MonotonicTime, units: () -> [CommitUnit]) -> Action {
        let ended = endOffer()
        guard let done = ended.offer else { return .wait }
        if !done.isEmpty {
            if refused.isLearning { refused.took(units()) }
            // What was published before says nothing about how long it takes.
            if done.standing == .unpublished { size.committed(bytes: byteCount, in: now - done.begun) }
        }
        return ended.isOutdated ? .forget : .settle(closes: done.closes)
    }

    /// The offered batch is not committed.
    ///
    /// - Parameters:
    ///   - cause: Why.
    ///   - standing: How far it has got.
    ///   - now: The present moment.
    ///   - units: Its units; asked for only where it may be divided.
    /// - Returns: `wait` if it is offered again as it is, or what to do with it.
    public mutating func noteFailure(_ cause: Cause, standing: Standing, now: MonotonicTime, units: () -> [CommitUnit]) -> Action
    {
        let ended = endOffer()
        guard var batch = ended.offer else { return .wait }
        // What belongs to an assignment that has ended is its next owner's.
        guard !ended.isOutdated else { return .forget }
        if cause == .metadataTooLarge && !isInOrder {
            isInOrder = true
            return .putBackInOrder
        }
        batch.standing = standing
        let meaning = meaning(of: cause, batch: batch, now: now)
        let action =
            standing == .unpublished && meaning != .unrelated ? cure(cause, failure: meaning, units: units(), now: now) : .wait
        batch.hasTimedOut = batch.hasTimedOut || cause == .timedOut
        if action == .wait || action == .cutDeadLetters {
            state = .waiting(batch, until: now + Self.retryInterval, isOutOfGroup: cause == .outOfGroup)
        }
        return action
    }

    private func meaning(of cause: Cause, batch: Offer, now: MonotonicTime) -> CommitSize.Failure {
        if cause == .tooLarge || cause == .refused { return .refused }
        // Brokers fence a producer whose transaction they have given up.
        let isOverlong = now - batch.begun > transactionTimeout / 10 * 9
        return cause == .timedOut || batch.hasTimedOut || cause == .fenced && isOverlong ? .timedOut : .unrelated
    }

    private mutating func cure(_ cause: Cause, failure: CommitSize.Failure, units: [CommitUnit], now: MonotonicTime)
        -> Action
    {
        if failure == .refused { refused.rejected(units) }
        let bytes = units.reduce(0) { $0 + $1.byteCount }
        let isProven = units.count == 1 && refused.isHopeless(units[0], isInOrder: isInOrder, now: now)
        let cure = size.noteFailure(failure, units: units.count, bytes: bytes, isProven: isProven)
        guard cure != .again, let unit = units.first else { return .wait }
        if cure != .divide, cause == .tooLarge, unit.canBeCut { return .cutDeadLetters }
        nextOffer = now
        switch cure {
        case .again: break
        case .divide: if failure == .refused { refused.suspect(units) }
        case .postpone: refused.refused(unit, now: now)
        case .replace:
            refused.gaveUp(unit.id, now: now)
            return .writeDeadLetter(for: unit.id)
        }
        return .putBack
    }

    /// Nothing of the offered batch is published, nor can it be as the partitions are. Returns `reset`, `forget` or `wait`.
    public mutating func impossible(_ reason: ResetCause) -> Action {
        switch endOffer() {
        case .empty: .wait
        case .inFlight, .waiting: .reset(reason)
        case .outdated: .forget
        }
    }

    /// Another process has this worker's name.
    public func takenOver() -> Action { .stop }

    /// Whoever had the offered batch is given up, and another takes its place. It is unknown what became of the batch. Returns
    /// `forget` or `wait`.
    public mutating func committerReplaced(now: MonotonicTime) -> Action {
        switch state {
        case .empty, .waiting: return .wait
        case .inFlight(var offer):
            offer.standing = .doubtful
            state = .waiting(offer, until: now, isOutOfGroup: false)
            return .wait
        case .outdated:
            state = .empty
            return .forget
        }
    }

    /// The assignment has ended, and what waits is forgotten. A batch that the committer has is fenced by its generation. It is
    /// waited for no longer than for its answer.
    ///
    /// - Returns: `forget` or `wait`.
    public mutating func assignmentEnded() -> Action {
        refused.removeAll()
        switch state {
        case .empty, .outdated: return .wait
        case .inFlight(let offer):
            state = .outdated(offer)
            return .wait
        case .waiting:
            state = .empty
            return .forget
        }
    }

    /// Ends the offer, if there is one. Returns the state that it was in.
    private mutating func endOffer() -> State {
        defer { state = .empty }
        return state
    }
}
