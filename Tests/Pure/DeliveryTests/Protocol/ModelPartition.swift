import Basics
import Delivery

/// One assigned partition of a model worker: what `PartitionState` keeps of it.
struct ModelPartition {
    let number: Int
    var ledger: OffsetLedger?
    /// The index in the log where reading goes on.
    var cursor: Int
    /// The record that lies beyond the window.
    var parked: Int?
    var inWork = 0
    var isDirty: Bool
    /// Where the group stands as this worker knows it.
    var committed: LedgerCommit?
    /// The same, if the ledger began there or has moved it.
    var recorded: LedgerCommit?
    var begun: StartedRange
    /// Whether a call was given up before its answer.
    var hasLostCalls = false
    var isClosed: Bool
    var reserve: BeginReserve
    /// The offset of the record that is parked.
    var parkedOffset: Int64?

    /// A partition that begins as it is planned.
    init(_ number: Int, _ plan: AssignmentPlan.Partition, committed: LedgerCommit?, cursor: Int) {
        self.number = number
        self.cursor = cursor
        self.committed = committed
        ledger = plan.ledger
        isDirty = plan.isDirty
        recorded = plan.isDirty ? nil : committed
        begun = plan.begun
        // Calls of workers that have lost the partition count as excused here: the reach is what the position alone says.
        begun.overlapEnded()
        isClosed = plan.isClosed
        reserve = plan.reserve
    }

    func mayHaveBeenBegun(_ offset: Int64) -> Bool { offset < begun.end }

    var hasUncommittedGap: Bool {
        guard let ledger else { return false }
        return ledger.lowWaterMark > committed?.offset ?? -1
    }

    var isToBeClosed: Bool { !isClosed && endOfBegun.map { reserve.end > $0 } ?? false }

    /// Whether a record waits for a commit that lets it be begun.
    var isReserveShort: Bool { parkedOffset.map { !reserve.allows($0) } ?? false }

    func isRestDue(now: MonotonicTime) -> Bool {
        guard let ledger, let end = endOfBegun else { return false }
        return reserve.isRestDue(least: max(end, ledger.position), now: now)
    }

    mutating func nextReserve(now: MonotonicTime) -> Int64? {
        guard let ledger, let least = endOfBegun else { return nil }
        let end = reserve.next(least: least, position: ledger.position, wanted: parkedOffset, now: now)
        return end - ledger.lowWaterMark <= FinishedOffsets.mostBegun ? end : nil
    }

    var endOfBegun: Int64? {
        guard let ledger else { return nil }
        return begun.end(of: ledger, hasLostCalls: hasLostCalls)
    }
}
