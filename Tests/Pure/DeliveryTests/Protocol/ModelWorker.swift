import Basics
import Delivery
import TestSupport

/// A worker process of the model. It decides nothing about partitions, commits, positions and starts: `Membership`, `CommitCycle`,
/// `OffsetLedger`, `AssignmentPlan` and `StartRule` do, and it performs, as the loop does.
///
/// What it does not do is as important: it keeps nothing over an assignment, and believes only what the broker says.
final class ModelWorker {
    /// Something that the worker performs wrongly on purpose, to see that the checks find it.
    enum Sabotage: CaseIterable {
        case none
        /// It starts from the committed offset alone.
        case forgetsTheMap
        /// After a commit without an answer it publishes again without asking where the group stands.
        case publishesAgain
        /// Its positions say nothing of what a commit leaves out.
        case forgetsWhatIsLeft
        /// It gives partitions up without waiting for its calls and committing them.
        case dropsOnRevoke
        /// It sends positions although it is no member of the group.
        case ignoresTheGuard
        /// It starts from positions that a transaction may still move.
        case readsUnstable
        /// It calls the hub again for what was put back.
        case callsAgain
        /// What is put back is forgotten.
        case dropsWhatIsPutBack
        /// It begins requests while positions say that no worker is at work, or that it begins none of these.
        case beginsBeforeOpening
    }

    /// What the client of the group is about; the worker hears of it by `Membership`.
    enum Client {
        /// The partitions were lost, which the worker knows.
        case left
        /// It has given up what it had, and waits for its share.
        case joined
        /// The worker knows its share.
        case assigned
        /// The worker knows that its share is taken away, and has not given it up.
        case revoked
    }

    /// What all workers of a history go by.
    struct Terms {
        var rule = StartRule.beginning
        var sabotage = Sabotage.none
        /// Whether it is looked for partitions without a consumer.
        var checksForUnread = true
        /// How long calls may take to finish before partitions are given up, nanoseconds.
        var drainTimeout: Int64 = 20_000_000_000
        var commit: CommitCycle.Terms = {
            var terms = CommitCycle.Terms(interval: 20_000_000, transactionTimeout: 15_000_000_000)
            terms.refusalPatience = 20_000_000_000
            return terms
        }()
    }

    struct Call {
        let record: Int
        let slot: Int
        let epoch: Int
        var isBegun = false
    }

    let terms: Terms
    let window: Int
    var isStalled = false
    // Its place in the group, and the assignment.
    var member: ModelGroup.Member
    var client = Client.joined
    var membership: Membership
    var partitions: [ModelPartition] = []
    /// Whether where partitions begin must be committed.
    var isRefreshDue = false
    /// Whether calls that are cut are lost, and get no result.
    var losesCalls = false
    // What the worker is judged by, and does not go by.
    /// The partitions that the group gave it.
    var share: [Int] = []
    /// The epoch of what it holds.
    var heldEpoch = 0
    /// Before when no call is cut.
    var drainEnd = MonotonicTime.never
    /// Whether it is accounted for that what it holds may be called for again.
    var isExcused = false
    // From records to a commit.
    var calls: [Call] = []
    var outbox: [ModelOutcome] = []
    var cycle: CommitCycle
    /// What is offered and not confirmed.
    var offered: ModelCommitter.Job?
    var committer: ModelCommitter

    init(_ slot: Int, window: Int, _ terms: Terms, in broker: inout ModelBroker) {
        self.terms = terms
        self.window = window
        member = broker.group.enter(slot)
        membership = Membership(
            Membership.Terms(
                drainTimeout: terms.drainTimeout, transactionTimeout: terms.commit.transactionTimeout,
                checksForUnread: terms.checksForUnread))
        cycle = CommitCycle(terms.commit)
        committer = ModelCommitter(slot, transactionTimeout: terms.commit.transactionTimeout)
        committer.questions.append(.prepare)
    }

    var mode: Membership.Mode { membership.mode }

    /// Of the assignment; a completion with another one is dropped.
    var epoch: Int { membership.epoch }

    /// Whether everything it took has a confirmed result.
    var isIdle: Bool { mode == .stopped || !cycle.isOffering && outbox.isEmpty && !hasOwnCalls }

    var hasOwnCalls: Bool {
        for call in calls where call.epoch == epoch { return true }
        return false
    }
}

// From a record to its outcome.
extension ModelWorker {
    /// Whether what was read may begin.
    private func canProceed(_ now: Int64) -> Bool {
        guard mode == .running, membership.isProducerReady, !cycle.isOverdue(now: .at(now)) else { return false }
        return !membership.isOpening || terms.sabotage == .beginsBeforeOpening
    }

    /// - Returns: Whether there may be another record to read.
    @discardableResult
    func receive(_ value: Int, from broker: inout ModelBroker) -> Bool {
        guard canProceed(broker.now), !partitions.isEmpty else { return false }
        let slot = value % partitions.count
        guard let record = nextRecord(slot, &broker) else { return false }
        let offset = broker.records[record].offset
        if let expected = partitions[slot].ledger?.position { partitions[slot].begun.read(offset, expected: expected) }
        partitions[slot].reserve.read(at: broker.moment)
        guard let reception = received(offset, slot) else { return false }
        switch reception {
        case .process:
            calls.append(Call(record: record, slot: slot, epoch: epoch))
            partitions[slot].inWork += 1
        case .alreadyFinished: broker.dropped(record)
        case .beyondWindow:
            partitions[slot].parked = record
            partitions[slot].parkedOffset = offset
            broker.count(partitions[slot].isReserveShort ? \.reserveWaits : \.parked)
            if partitions[slot].inWork == 0, !partitions[slot].isReserveShort {
                broker.fail("\(broker.name(record)) waits for nothing")
            }
        }
        check(slot, &broker)
        return partitions[slot].parked == nil
    }

    private func received(_ offset: Int64, _ slot: Int) -> OffsetLedger.Reception? {
        let isAllowed = partitions[slot].reserve.allows(offset) || terms.sabotage == .beginsBeforeOpening
        guard isAllowed || partitions[slot].ledger?.isKnown(offset) ?? false else { return .beyondWindow }
        return partitions[slot].ledger?.received(offset)
    }

    private func nextRecord(_ slot: Int, _ broker: inout ModelBroker) -> Int? {
        if let parked = partitions[slot].parked {
            if partitions[slot].isReserveShort { return nil }
            partitions[slot].parked = nil
            partitions[slot].parkedOffset = nil
            return parked
        }
        let number = partitions[slot].number
        guard partitions[slot].ledger?.hasRoom ?? false, let place = broker.next(number, from: partitions[slot].cursor) else {
            return nil
        }
        partitions[slot].cursor = place + 1
        return broker.logs[number][place]
    }

    func reachEnd(_ value: Int, of broker: inout ModelBroker) {
        guard mode == .running, !partitions.isEmpty else { return }
        let slot = value % partitions.count
        let number = partitions[slot].number
        guard partitions[slot].parked == nil, broker.next(number, from: partitions[slot].cursor) == nil else { return }
        partitions[slot].ledger?.reachedEnd(broker.ends[number])
        check(slot, &broker)
    }

    /// Makes the call of a record that waits for it.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    func begin(_ value: Int, _ broker: inout ModelBroker) -> Bool {
        guard canProceed(broker.now) else { return false }
        let waiting = calls.indices.filter { !calls[$0].isBegun }
        guard !waiting.isEmpty else { return false }
        let place = waiting[value % waiting.count]
        calls[place].isBegun = true
        let record = calls[place].record
        let isSuspected = partitions[calls[place].slot].mayHaveBeenBegun(broker.records[record].offset)
        broker.called(record, by: member, isSuspected: isSuspected)
        return true
    }

    /// A call is answered.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    func finish(_ value: Int, _ broker: inout ModelBroker) -> Bool {
        guard mode != .stopped else { return false }
        let begun = calls.indices.filter { calls[$0].isBegun }
        guard !begun.isEmpty else { return false }
        let call = calls.remove(at: begun[value % begun.count])
        if call.epoch == epoch { record(call, &broker) } else { broker.count(\.lateCompletions) }
        return true
    }

    func record(_ call: Call, _ broker: inout ModelBroker) {
        guard partitions.indices.contains(call.slot) else {
            broker.fail("a call of an assignment that has ended counts")
            return
        }
        let record = broker.records[call.record]
        let id = CommitUnit.ID(slot: call.slot, offset: record.offset)
        for topic in record.topics {
            outbox.append(ModelOutcome(record: call.record, id: id, topic: topic, byteCount: record.byteCount))
        }
        partitions[call.slot].ledger?.finished(record.offset)
        partitions[call.slot].isDirty = true
        partitions[call.slot].inWork -= 1
        check(call.slot, &broker)
    }

    private func check(_ slot: Int, _ broker: inout ModelBroker) {
        guard mode == .running, let ledger = partitions[slot].ledger else { return }
        let inWork = partitions[slot].inWork
        if ledger.unfinishedCount != inWork { broker.fail("\(ledger.unfinishedCount) are counted, \(inWork) are in work") }
        if ledger.lowWaterMark > ledger.position { broker.fail("the mark is beyond the position") }
        if !ledger.hasRoom && inWork == 0 { broker.fail("there is no room and nothing in work") }
    }
}
