import Delivery

/// A worker process of the model: the real ledger, and the rules of the commit protocol around it.
///
/// What it does not do is as important: it keeps nothing over an assignment, and believes only what the broker says.
final class ModelWorker {
    /// A rule that the worker breaks on purpose, to see that the checks find it.
    enum Sabotage: CaseIterable {
        case none
        /// It starts from the committed offset alone.
        case forgetsTheMap
        /// After a commit without an answer it publishes again without asking where the group stands.
        case publishesAgain
        /// It publishes outcomes of an assignment that it has no more.
        case keepsOldResults
        /// Positions go first, results in the transaction after it.
        case commitsBeforePublishing
        /// It gives partitions up without waiting for its calls and committing them.
        case dropsOnRevoke
        /// It sends positions although it is no member of the group.
        case ignoresTheGuard
        /// It starts from positions that a transaction may still move.
        case readsUnstable
        /// It calls the hub again for what was in an aborted transaction.
        case callsAgainAfterAbort
    }

    enum Phase { case left, joined, assigned, running, draining, stopped }

    struct Held {
        let partition: Int
        var ledger: OffsetLedger
        /// The index in the log where reading goes on.
        var cursor: Int
        var parked: Int?
        var inWork = 0
        var isDirty = false
        /// The position as this worker knows it.
        var confirmed: LedgerCommit?
    }

    struct Call {
        let record: Int
        let held: Int
        let epoch: Int
    }

    /// What became of a commit that was not answered.
    enum Fate { case carriedOut, underWay, prepared, neverSent }

    /// Outcomes on their way, kept until the commit is confirmed.
    struct Offer {
        enum Stage { case waiting, open, doubtful }
        var records: [Int]
        var positions: [(partition: Int, commit: LedgerCommit)]
        var before: [LedgerCommit?]
        let epoch: Int
        var stage = Stage.waiting
    }

    let sabotage: Sabotage
    var window: Int
    var member: ModelGroup.Member
    var phase: Phase
    var isStalled = false
    var offer: Offer?
    var held: [Held] = []
    var calls: [Call] = []
    var outbox: [Int] = []
    /// Of the assignment; a completion with another one is dropped.
    var epoch = 0
    /// Of the producer; nil until the next one is initialised.
    private var producerEpoch: Int?
    /// Whether it is accounted for that what it holds may be called for again.
    var isExcused = false

    init(_ slot: Int, window: Int, _ sabotage: Sabotage, in broker: inout ModelBroker) {
        self.sabotage = sabotage
        self.window = window
        phase = .joined
        member = broker.group.enter(slot)
    }

    /// Whether everything it took has a confirmed result.
    var isIdle: Bool { offer == nil && outbox.isEmpty && !hasOwnCalls }

    var hasOwnCalls: Bool {
        for call in calls where call.epoch == epoch { return true }
        return false
    }
}

// From a record to its outcome.
extension ModelWorker {
    /// - Returns: Whether there may be another record to read.
    @discardableResult
    func receive(_ value: Int, from broker: inout ModelBroker) -> Bool {
        guard phase == .running, !held.isEmpty else { return false }
        let index = value % held.count
        guard let record = nextRecord(index, &broker) else { return false }
        switch held[index].ledger.received(broker.offsets[record]) {
        case .process:
            broker.called(record, by: member)
            calls.append(Call(record: record, held: index, epoch: epoch))
            held[index].inWork += 1
            if sabotage == .commitsBeforePublishing { held[index].isDirty = true }
        case .alreadyFinished: broker.dropped(record)
        case .beyondWindow:
            if held[index].inWork == 0 { broker.fail("\(broker.name(record)) waits for nothing") }
            held[index].parked = record
            broker.count(\.parked)
        }
        check(index, &broker)
        return held[index].parked == nil
    }

    private func nextRecord(_ index: Int, _ broker: inout ModelBroker) -> Int? {
        if let parked = held[index].parked {
            held[index].parked = nil
            return parked
        }
        guard held[index].ledger.hasRoom, let place = broker.next(held[index].partition, from: held[index].cursor) else {
            return nil
        }
        held[index].cursor = place + 1
        return broker.logs[held[index].partition][place]
    }

    func reachEnd(_ value: Int, of broker: inout ModelBroker) {
        guard phase == .running, !held.isEmpty else { return }
        let index = value % held.count
        let partition = held[index].partition
        guard held[index].parked == nil, broker.next(partition, from: held[index].cursor) == nil else { return }
        held[index].ledger.reachedEnd(broker.ends[partition])
        check(index, &broker)
    }

    func finish(_ value: Int, _ broker: inout ModelBroker) {
        guard phase != .stopped, !calls.isEmpty else { return }
        let place = value % calls.count
        calls.swapAt(place, calls.count - 1)
        let call = calls.removeLast()
        guard call.epoch == epoch else {
            broker.count(\.lateCompletions)
            if sabotage == .keepsOldResults { outbox.append(call.record) }
            return
        }
        outbox.append(call.record)
        held[call.held].ledger.finished(broker.offsets[call.record])
        held[call.held].isDirty = true
        held[call.held].inWork -= 1
        check(call.held, &broker)
    }

    private func check(_ index: Int, _ broker: inout ModelBroker) {
        guard phase == .running else { return }
        let ledger = held[index].ledger
        if ledger.unfinishedCount != held[index].inWork {
            broker.fail("\(ledger.unfinishedCount) are counted, \(held[index].inWork) are in work")
        }
        if ledger.lowWaterMark > ledger.position { broker.fail("the mark is beyond the position") }
        if !ledger.hasRoom && held[index].inWork == 0 { broker.fail("there is no room and nothing in work") }
    }
}

// From outcomes to a confirmed commit.
extension ModelWorker {
    /// Begins a transaction with what is finished, or with what an earlier one did not bring about.
    func publish(to broker: inout ModelBroker) {
        guard phase == .running || phase == .draining else { return }
        if offer == nil { gather(&broker) }
        guard let waiting = offer, waiting.stage == .waiting else { return }
        guard member.id != 0 || sabotage == .ignoresTheGuard else {
            broker.count(\.guarded)
            return
        }
        let answer = broker.publish(waiting.records, waiting.positions, by: member, producerEpoch: initialised(&broker))
        if answer == .refused {
            broker.count(\.refused)
            abort(&broker)
        } else if !isFenced(answer, &broker) {
            offer?.stage = .open
        }
    }

    private func gather(_ broker: inout ModelBroker) {
        var positions: [(partition: Int, commit: LedgerCommit)] = []
        var before: [LedgerCommit?] = []
        let goesAhead = sabotage == .commitsBeforePublishing
        guard !outbox.isEmpty || goesAhead else { return }
        for index in held.indices where held[index].isDirty {
            var ledger = held[index].ledger
            if goesAhead { for call in calls where call.held == index { ledger.finished(broker.offsets[call.record]) } }
            let commit = ledger.commit()
            if commit.metadata.utf8.count > 2735 { broker.fail("the metadata has \(commit.metadata.utf8.count) characters") }
            positions.append((held[index].partition, commit))
            before.append(held[index].confirmed)
            held[index].isDirty = false
        }
        if goesAhead && positions.isEmpty && outbox.isEmpty { return }
        let isAhead = goesAhead && !positions.isEmpty
        offer = Offer(records: isAhead ? [] : outbox, positions: positions, before: before, epoch: epoch)
        if !isAhead { outbox.removeAll(keepingCapacity: true) }
    }

    func commit(to broker: inout ModelBroker) {
        guard let open = offer, open.stage == .open, let producerEpoch else { return }
        if !isFenced(broker.commit(member.slot, producerEpoch: producerEpoch), &broker) { confirmed(open) }
    }

    func abort(_ broker: inout ModelBroker) {
        guard let open = offer, open.stage != .doubtful, let producerEpoch else { return }
        if isFenced(broker.abort(member.slot, producerEpoch: producerEpoch), &broker) { return }
        if sabotage == .callsAgainAfterAbort { for record in open.records { broker.called(record, by: member) } }
        unsettled(open)
    }

    /// The commit is asked for, and no answer comes.
    func commitUnanswered(_ fate: Fate, _ broker: inout ModelBroker) {
        guard let open = offer, open.stage == .open, let producerEpoch else { return }
        switch fate {
        case .carriedOut: if isFenced(broker.commit(member.slot, producerEpoch: producerEpoch), &broker) { return }
        case .underWay: broker.beginEnding(member.slot, producerEpoch: producerEpoch, .ending)
        case .prepared: broker.beginEnding(member.slot, producerEpoch: producerEpoch, .prepared)
        case .neverSent: break
        }
        offer?.stage = .doubtful
        self.producerEpoch = nil
        if open.epoch != epoch { offer = nil }
    }

    /// After a commit without an answer: a new producer, which settles the transaction, and then the group's position tells.
    func recover(_ broker: inout ModelBroker) {
        guard phase != .stopped, let doubtful = offer, doubtful.stage == .doubtful else { return }
        _ = initialised(&broker)
        if sabotage == .publishesAgain { return unsettled(doubtful) }
        var positions: [DoubtfulCommit.Position] = []
        for (index, position) in doubtful.positions.enumerated() {
            guard broker.isStable(position.partition) else { return }
            let found = broker.position(position.partition)
            positions.append(
                DoubtfulCommit.Position(before: doubtful.before[index], intended: position.commit, found: found))
        }
        switch DoubtfulCommit(positions) {
        case .committed:
            broker.count(\.foundCommitted)
            confirmed(doubtful)
        case .notCommitted:
            broker.count(\.foundNotCommitted)
            unsettled(doubtful)
        case .superseded: giveUp(&broker, \.superseded)
        case .inconclusive: giveUp(&broker, \.inconclusive)
        }
    }

    /// Somebody else moved the partitions: they are not ours any more, and the group will say so.
    private func giveUp(_ broker: inout ModelBroker, _ event: WritableKeyPath<ModelCounts, Int>) {
        broker.count(event)
        for held in held where broker.group.isOwner(member, of: held.partition) {
            broker.fail("the owner of \(held.partition) cannot tell whether its commit took place")
        }
        forget(&broker)
    }

    private func confirmed(_ done: Offer) {
        offer = nil
        guard done.epoch == epoch else { return }
        for position in done.positions {
            for index in held.indices where held[index].partition == position.partition {
                held[index].confirmed = position.commit
            }
        }
    }

    /// The outcomes stay and are offered again, without a second call; those of an old assignment are the next owner's.
    private func unsettled(_ open: Offer) {
        if open.epoch == epoch { offer?.stage = .waiting } else { offer = nil }
    }

    /// The epoch of the producer; the first time, the broker settles what its predecessor left.
    func initialised(_ broker: inout ModelBroker) -> Int {
        if let producerEpoch { return producerEpoch }
        let fresh = broker.initTransactions(member.slot)
        producerEpoch = fresh
        return fresh
    }

    /// A producer that is fenced has a successor, or the broker lost patience: the process ends.
    private func isFenced(_ answer: ModelBroker.Answer, _ broker: inout ModelBroker) -> Bool {
        guard answer == .fenced else { return false }
        broker.count(\.fenced)
        stop(&broker)
        return true
    }
}
