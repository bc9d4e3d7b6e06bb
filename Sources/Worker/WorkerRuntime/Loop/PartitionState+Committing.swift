import Basics
import Delivery

/// The facts of the moment at which positions are offered.
struct OfferFacts {
    /// True if the positions say that nothing is in work any more.
    var closes = false
    /// True if requests may be begun.
    var isRunning = true
    /// True if the group may have gone on without this worker. A commit shows that.
    var isDoubtful = false
    /// True if positions name no finished records above them, so that results wait for those before them.
    var isInOrder = false
    /// The present moment.
    var now: MonotonicTime
}

/// The part of one partition in a commit.
///
/// A partition of large requests has no ledger. What is finished in it is known to `ParentPartitions`, whose low-water mark is given as
/// `parentsMark`. For all others that is nil.
extension PartitionState {
    /// True if the mark has moved over offsets that hold no record, which nothing else would commit.
    func hasUncommittedGap(parentsMark: Int64?) -> Bool {
        if let parentsMark { return parentsMark > committed?.offset ?? 0 }
        // Where it begins without a position is committed too, so that it is not decided again.
        return ledger.map { $0.lowWaterMark > committed?.offset ?? -1 } ?? false
    }

    /// True if results may wait in the outbox that have none before them to wait for. To look for them there, at every turn, would take as
    /// long as there are many.
    func mayPublishInOrder(parentsMark: Int64?) -> Bool {
        parentsMark == nil ? hasUncommittedGap(parentsMark: nil) : isDirty
    }

    /// True if the batch that is offered now is to have a position of it.
    func isToBeCommitted(_ facts: OfferFacts, parentsMark: Int64?) -> Bool {
        if isDirty || hasUncommittedGap(parentsMark: parentsMark) { return true }
        if facts.closes { return isToBeClosed }
        let isWanted = isClosed || facts.isDoubtful && ledger != nil
        return facts.isRunning && (isWanted || isReserveShort || isRestDue(now: facts.now))
    }

    /// The offset behind which nothing is begun at a position that is offered now, or nil if it does not say that. `isWhole`: it leaves
    /// nothing out.
    mutating func reserveEnd(_ facts: OfferFacts, isWhole: Bool) -> Int64? {
        if facts.closes { return endOfBegun }
        return isWhole && !facts.isInOrder ? nextReserve(now: facts.now) : nil
    }

    /// The position that says what is finished, or nil while nothing says where the partition begins.
    ///
    /// - Parameters:
    ///   - left: Offsets of finished records that a later commit takes, ascending.
    ///   - begunBefore: The offset behind which nothing is begun, or nil if that is not said, as where something is left.
    ///   - isInOrder: Whether it names no finished records above it, but those that the group has named.
    /// - Returns: The position.
    func commit(leavingOut left: [Int64], begunBefore: Int64?, isInOrder: Bool) -> LedgerCommit? {
        guard let ledger else { return nil }
        let position =
            left.isEmpty ? ledger.commit(marks: marks, begunBefore: begunBefore) : ledger.commit(leavingOut: left, marks: marks)
        return isInOrder ? position.inOrder(after: recorded) : position
    }

    /// Notes that a position is offered that lets requests before `reserveEnd` begin, any if that is nil. `isWhole`: it leaves nothing out.
    mutating func noteOffer(reserveEnd: Int64?, isWhole: Bool) {
        reserve.offer(reserveEnd)
        isDirty = !isWhole
    }

    /// Notes that the offered position is the group's. `closes`: it says that nothing is in work any more.
    mutating func noteCommit(of position: LedgerCommit, closes: Bool) {
        committed = position
        recorded = position
        isClosed = closes
        reserve.noteCommit()
    }
}

/// The same of the partitions of large requests. A slot of another kind has no part in it.
extension ParentPartitions {
    /// The low-water mark of a partition, or nil if it does not hold large requests.
    func mark(of slot: Int) -> Int64? { slots.contains(slot) ? self[slot].lowWaterMark : nil }

    /// The position that says what is finished in a partition, or nil if it does not hold large requests.
    func commit(of slot: Int, leavingOut left: [Int64], marks: ReadMarks?) -> LedgerCommit? {
        slots.contains(slot) ? self[slot].commit(leavingOut: left, marks: marks) : nil
    }

    /// Notes that a position is offered that leaves out what ended at the offsets `left`.
    mutating func noteOffer(of slot: Int, leavingOut left: [Int64]) {
        if slots.contains(slot) { self[slot].offered(leavingOut: left) }
    }

    /// Notes that the offered position is the group's.
    mutating func noteCommit(of slot: Int) {
        if slots.contains(slot) { self[slot].recorded() }
    }
}

extension OutcomeBatch {
    /// The units of the batch, with what is known of their partitions.
    func units(in partitions: [PartitionState]) -> [CommitUnit] {
        var units = units()
        for index in units.indices {
            let id = units[index].id
            if partitions[id.slot].role == .parents {
                // What parents come to has no place in an order.
                units[index].isWhole = true
            } else {
                units[index].isNext = partitions[id.slot].begins(after: id.offset)
            }
        }
        return units
    }
}
