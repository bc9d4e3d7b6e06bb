import Delivery
import TestSupport

/// Queues of a client library, which signals them as `PartitionCursor` says, and a loop that reads groups of them by its rules.
struct CursorModel {
    /// A rule that the loop can leave out, to see that records are left lying then.
    enum Rule: CaseIterable {
        /// 1: a mark ends with a read that found nothing. Without: when there is no room, too; or when the window is full.
        case roomEndsNoMark, windowEndsNoMark
        /// 2: who takes a signal marks the partition that it names, or all where signals are missing. Without: one of them; or none of those
        /// whose signals are missing.
        case signalsMarkTheirOwn, lossesMarkAll
        /// 3: a partition is ready while it can be read. Without: once for each signal; or it does not hear of its window; or it is forgotten
        /// when there is no room; or a signal gives it a turn, for which there is no room, although it waits for its window.
        case leftoversAreNoted, windowsAreNoted, turnsAreKept, waitersWaitOn
        /// 4: an assignment begins with all marks set.
        case assignmentsBeginMarked
    }

    struct Step: ShrinkableStep, CustomStringConvertible {
        enum Kind: CaseIterable { case append, finish, turn, takeRoom, giveRoom, assign }
        var kind: Kind
        var value: Int
        var description: String { "\(kind) \(value)" }
        var simpler: [Step] { [0, 1, 2, 3, 5, 8].filter { $0 < value }.map { Step(kind: kind, value: $0) } }
    }

    private struct Partition {
        /// The records in the library's queue.
        var queued = 0
        /// True if the library signals the next record: the queue was read until it was empty.
        var isArmed = false
        var cursor = PartitionCursor()
        /// The records that are not finished; a window has `CursorModel.window` of them.
        var inWork = 0
        /// True if a record is in memory that lies beyond the window, and starts when that moves, even where there is no room.
        var hasParked = false
    }

    private static let window = 3
    /// The signals that there is room for. One that finds none is lost.
    private static let signalCount = 3
    private static let partitionCount = 4

    private let omitted: Rule?
    private var partitions = Array(repeating: Partition(), count: partitionCount)
    private var groups = [CursorGroup([0, 1]), CursorGroup([2, 3])]
    /// The partitions that were signalled: no more than the pipe has room for.
    private var signals: [Int] = []
    private var hasRoom = true
    /// The partitions that have a reason for a turn in which nothing can be read: a signal, or a window that moved.
    private var excused: Set<Int> = [0, 1, 2, 3]
    /// The partitions whose record in memory is to start in this turn.
    private var due: [Int] = []
    /// The partition that has its turn, or that had it last in this round.
    private var present: Int?
    private var fault: String?

    private init(without rule: Rule?) { omitted = rule }

    /// Some histories have more records than their reader finishes, and in some queues are empty most of the time.
    static func steps(_ count: Int, using random: inout SeededRandom) -> [Step] {
        let weights: [(Step.Kind, Int)] = [
            (.append, [2, 6, 12][random.below(3)]), (.finish, 12), (.turn, 12), (.takeRoom, random.below(3)), (.giveRoom, 3),
            (.assign, random.below(2)),
        ]
        let kinds = weights.flatMap { Array(repeating: $0.0, count: $0.1) }
        return (0..<count).map { _ in Step(kind: kinds[random.below(kinds.count)], value: random.below(1 << 20)) }
    }

    /// Plays steps, and then what is left until nothing more happens.
    ///
    /// - Returns: What is wrong, or nil.
    static func fault(of steps: [Step], without rule: Rule? = nil) -> String? {
        var model = CursorModel(without: rule)
        for step in steps {
            model.take(step)
            if let fault = model.fault { return fault }
        }
        return model.rest()
    }

    private mutating func take(_ step: Step) {
        let slot = step.value % Self.partitionCount
        switch step.kind {
        case .append: append(1 + step.value / 4 % 3, to: slot, isEarly: step.value / 12 % 2 == 1)
        case .finish: finish(slot)
        case .turn: turn(step.value)
        case .takeRoom: hasRoom = false
        case .giveRoom: hasRoom = true
        case .assign: assign(step.value)
        }
    }

    private func group(of slot: Int) -> Int? { groups.firstIndex { $0.slots.contains(slot) } }

    /// Records come. An empty queue is signalled for certain if a read has found that, and if `isEarly` else, too.
    private mutating func append(_ count: Int, to slot: Int, isEarly: Bool) {
        let isSignalled = partitions[slot].isArmed || isEarly && partitions[slot].queued == 0
        partitions[slot].queued += count
        guard isSignalled else { return }
        partitions[slot].isArmed = false
        if signals.count < Self.signalCount { signals.append(slot) }
    }

    private mutating func finish(_ slot: Int) {
        guard partitions[slot].inWork > 0, let group = group(of: slot) else { return }
        if isBlocked(slot) || slot == present { excused.insert(slot) }
        partitions[slot].inWork -= 1
        if omitted != .windowsAreNoted { groups[group].windowMoved(slot) }
    }

    /// Other groups are made. What was in work is read again, and no signal was asked for yet. Signals of before may still come.
    private mutating func assign(_ value: Int) {
        let isMarked = omitted != .assignmentsBeginMarked
        for slot in partitions.indices {
            let queued = partitions[slot].queued + partitions[slot].inWork + (partitions[slot].hasParked ? 1 : 0)
            partitions[slot] = Partition(queued: queued, cursor: PartitionCursor(mayHaveRecords: isMarked))
        }
        let border = value % (Self.partitionCount + 1)
        groups = [CursorGroup(0..<border), CursorGroup(border..<Self.partitionCount)]
        excused = [0, 1, 2, 3]
    }

    private mutating func mark(_ slot: Int) {
        guard let group = group(of: slot) else { return }
        partitions[slot].cursor.noteArrivals()
        if omitted == .waitersWaitOn { groups[group].mark(slot) } else { groups[group].noteArrivals(slot) }
        if !isBlocked(slot) || omitted == .waitersWaitOn { excused.insert(slot) }
    }

    /// Takes signals, and reads a round of each group. What happens in the middle of it is up to `value`.
    private mutating func turn(_ value: Int) {
        for slot in signals.prefix(omitted == .signalsMarkTheirOwn ? 1 : .max) { mark(slot) }
        // A pipe that was full may have lost some.
        if signals.count == Self.signalCount, omitted != .lossesMarkAll { for slot in partitions.indices { mark(slot) } }
        signals = []
        due = partitions.indices.filter { partitions[$0].hasParked && hasPlace($0) }
        for group in groups.indices where groups[group].mayHaveRecords { round(of: group, value: value) }
        if let slot = due.first { fault = fault ?? "records lie in the memory of partition \(slot), whose window has moved" }
    }

    private mutating func round(of group: Int, value: Int) {
        var reads = 0
        for _ in 0..<groups[group].beginRound() {
            guard let slot = groups[group].takeFirst(isFull: !hasRoom) else { break }
            if !canRead(slot), !excused.contains(slot) { fault = "a partition has a turn that cannot be read" }
            excused.remove(slot)
            present = slot
            startParked(slot)
            var budget = 1 + value % 3
            while budget > 0 && hasRoom && canRead(slot) {
                read(slot)
                budget -= 1
                reads += 1
                if reads == value / 4 % 8 { disturb(value / 32) }
            }
            if omitted == .roomEndsNoMark && !hasRoom { partitions[slot].cursor.wasEmpty() }
            if omitted == .windowEndsNoMark && isBlocked(slot) { partitions[slot].cursor.wasEmpty() }
            if omitted == .turnsAreKept && !hasRoom { continue }
            groups[group].noteRead(
                slot, canRead: omitted != .leftoversAreNoted && canRead(slot), isBlocked: isBlocked(slot))
        }
        present = nil
    }

    /// A record comes, a request is finished, or room ends, while a round is read.
    private mutating func disturb(_ value: Int) {
        let slot = value % Self.partitionCount
        switch value / 4 % 3 {
        case 0: append(1, to: slot, isEarly: value / 12 % 2 == 1)
        case 1: finish(slot)
        default: hasRoom = false
        }
    }

    private func isBlocked(_ slot: Int) -> Bool { partitions[slot].hasParked || partitions[slot].inWork >= Self.window }

    /// True if the window lets the next record start. In odd partitions offsets without records lie before the last place of a window.
    private func hasPlace(_ slot: Int) -> Bool { partitions[slot].inWork < Self.window - slot % 2 }

    private mutating func startParked(_ slot: Int) {
        guard partitions[slot].hasParked, hasPlace(slot) else { return }
        partitions[slot].hasParked = false
        partitions[slot].inWork += 1
        due.removeAll { $0 == slot }
    }

    private func canRead(_ slot: Int) -> Bool { partitions[slot].cursor.mayHaveRecords && !isBlocked(slot) }

    private mutating func read(_ slot: Int) {
        if partitions[slot].queued > 0 {
            partitions[slot].queued -= 1
            partitions[slot].hasParked = true
            startParked(slot)
        } else {
            partitions[slot].isArmed = true
            partitions[slot].cursor.wasEmpty()
        }
    }

    /// Lets everything be finished, until nobody has a reason to read.
    private mutating func rest() -> String? {
        let most = 10 * (partitions.reduce(Self.partitionCount) { $0 + $1.queued + $1.inWork + 1 })
        hasRoom = true
        for _ in 0..<most {
            for slot in partitions.indices { finish(slot) }
            turn(0)
            if let fault { return fault }
            let isFinished = partitions.allSatisfy { $0.inWork == 0 && !$0.hasParked }
            let isResting = signals.isEmpty && isFinished && !groups.contains(where: \.mayHaveRecords)
            guard isResting else { continue }
            return partitions.firstIndex { $0.queued > 0 }.map { "\(partitions[$0].queued) records lie in partition \($0)" }
        }
        return "the loop does not come to rest"
    }
}
