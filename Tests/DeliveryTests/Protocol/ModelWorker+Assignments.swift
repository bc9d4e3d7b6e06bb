import Delivery

/// Assignments: what the group gives and takes.
extension ModelWorker {
    /// Hears from the group, and does what it asks for.
    func heartbeat(isReplaced: Bool, _ broker: inout ModelBroker) {
        if phase == .stopped { return }
        guard broker.group.isMember(member) else {
            if isReplaced { return stop(&broker) }
            missed(&broker)
            return
        }
        if broker.group.mustJoin(member) {
            switch phase {
            case .running where sabotage == .dropsOnRevoke: return join(&broker)
            case .running: phase = .draining
            case .draining where !isIdle: return
            case .draining:
                broker.count(\.drained)
                join(&broker)
            case .joined, .assigned: join(&broker)
            case .left, .stopped: return
            }
        } else if phase == .joined && member.generation < broker.group.generation && !broker.group.isRebalancing {
            member.generation = broker.group.generation
            phase = .assigned
        }
    }

    /// The group has gone on without this worker: first the client knows, then the worker does, then it begins anew.
    private func missed(_ broker: inout ModelBroker) {
        if member.id != 0 {
            member.id = 0
            member.generation = -1
        } else if phase != .left {
            broker.count(\.lost)
            forget(&broker)
            phase = .left
        } else {
            member = broker.group.enter(member.slot)
            phase = .joined
        }
    }

    private func join(_ broker: inout ModelBroker) {
        forget(&broker)
        phase = .joined
        broker.group.join(member)
    }

    /// Starts at the group's positions, once no transaction can move them any more, and nowhere else.
    func start(_ broker: inout ModelBroker) {
        guard phase == .assigned, broker.group.isMember(member), member.generation == broker.group.generation else { return }
        _ = initialised(&broker)
        var fresh: [Held] = []
        for partition in broker.logs.indices where broker.group.isOwner(member, of: partition) {
            guard broker.isStable(partition) || sabotage == .readsUnstable else {
                broker.count(\.waits)
                return
            }
            guard let held = take(partition, at: broker.position(partition), &broker) else { return }
            fresh.append(held)
        }
        held = fresh
        epoch += 1
        phase = .running
        isExcused = false
        broker.count(\.takeovers)
    }

    private func take(_ partition: Int, at position: LedgerCommit?, _ broker: inout ModelBroker) -> Held? {
        let start = position ?? LedgerCommit(offset: 0, metadata: "")
        let text = sabotage == .forgetsTheMap ? "" : start.metadata
        guard let finished = try? FinishedOffsets(decoding: text) else {
            broker.fail("the metadata of \(partition) cannot be read")
            return nil
        }
        let ledger = OffsetLedger(start: start.offset, finished: finished, window: window)
        if sabotage == .none && ledger.commit() != start { broker.fail("\(start) is restored as \(ledger.commit())") }
        let cursor = broker.firstUncommitted[partition]
        return Held(partition: partition, ledger: ledger, cursor: cursor, confirmed: position)
    }

    /// The time to drain is over: calls under way are the next owner's, or even what is finished is.
    func cut(_ value: Int, _ broker: inout ModelBroker) {
        guard phase == .draining else { return }
        broker.count(\.cut)
        if value % 3 == 0 {
            excuse(&broker)
            join(&broker)
            return
        }
        for call in calls where call.epoch == epoch && !isExcused { broker.excuse(call.record) }
        calls.removeAll { $0.epoch == epoch }
    }

    /// Forgets the assignment and everything that belongs to it; calls under way end with an old epoch.
    func forget(_ broker: inout ModelBroker) {
        if sabotage == .keepsOldResults {
            if offer?.stage == .waiting { outbox += offer?.records ?? [] }
        } else {
            outbox.removeAll(keepingCapacity: true)
        }
        // One whose commit is under way may still be carried out; whoever starts there waits for it.
        if let open = offer, open.stage != .open { offer = nil }
        held = []
        epoch += 1
    }

    /// Accounts for what the next owner has to call again, once for each assignment.
    func excuse(_ broker: inout ModelBroker) {
        guard !isExcused else { return }
        isExcused = true
        for call in calls where call.epoch == epoch { broker.excuse(call.record) }
        for record in outbox { broker.excuse(record) }
        if let offer, offer.epoch == epoch { for record in offer.records { broker.excuse(record) } }
    }

    func stop(_ broker: inout ModelBroker) {
        excuse(&broker)
        phase = .stopped
    }
}
