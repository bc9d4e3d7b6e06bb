import Delivery
import HubREST
import Observability
import PushModel

/// The start of requests: what was read, and what waited, passes `StartGate` and is sent, waits, or has its end. Nothing else starts a
/// request.
extension WorkerLoop {
    /// Starts what was held and waits for its turn no more than others, what has its key's turn, and what is new.
    func startNext() {
        forEachHeld { start($0) }
        forEachOfKeys { start($0, knowing: $1) }
        forEachRead { start($0) }
    }

    /// Starts what has waited in delay lanes.
    func startDelayed() { forEachDelayed { start($0) } }

    /// Starts what was buffered.
    func startBuffered() { forEachBuffered { start($0, knowing: $1) } }

    /// Once a second: starts what makes room for what was read behind it, and of delay lanes what holds no calls.
    func startEverySecond() {
        checkDelayed { start($0) }
        relieveWindows { start($0, knowing: $1) }
    }

    private func start(_ flight: Flight, knowing known: StartFacts = []) {
        flights.count(flight)
        var facts = facts(of: flight).union(known)
        var gate = StartGate.next(facts)
        while gate.isStep {
            facts.formUnion(perform(gate, with: flight, knowing: facts))
            gate = StartGate.next(facts)
        }
        conclude(flight, at: gate)
    }

    private func facts(of flight: Flight) -> StartFacts {
        var facts = flight.facts(at: wallClock)
        if facts.contains(.isConcluded) || flight.wait.poll != nil { return facts }
        let hasKey = flight.request.orderingKey != nil && partitions[flight.place.slot].role.hasRequests
        if hasKey, !Sabotage.isOn(.ignoreKeys) { facts.insert(.wantsTurn) }
        if flight.route.tenant == .none, !hasTenants(flight.route.lane) { facts.insert(.isTenantChecked) }
        if flight.place.offset < partitions[flight.place.slot].knownEnd { facts.insert(.mayBeKnown) }
        if !ports.areSeveral { facts.insert(.hasRoom) }
        if areWholesFull { facts.insert(.areWholesFull) }
        if !controlTopic.orders.slowsRequests { facts.insert(.isHoldChecked) }
        flight.work.note(cancellation(of: flight))
        if flight.work.cancellation != nil { facts.insert(.isCancelled) }
        return facts
    }

    /// Takes a step, and returns what it has found.
    private func perform(_ step: StartGate, with flight: Flight, knowing facts: StartFacts) -> StartFacts {
        switch step {
        case .takeTurn: takeTurn(for: flight)
        case .checkTenant: checkTenant(of: flight)
        case .deduplicate: deduplicate(flight)
        case .findOutcome: findOutcome(of: flight, isNew: facts.contains(.isNew))
        case .checkTime: checkTime(of: flight)
        case .plan: prepare(flight, isNew: facts.contains(.isNew))
        case .restore: flight.wait.delayed.map { restore(flight, from: $0) } ?? true ? .isRestored : .isGone
        case .delay: delayStart(flight)
        case .checkHold: checkHold(of: flight)
        case .checkRoom: deferIfFull(flight) ? .isGone : .hasRoom
        case .deferWhole: deferWhole(flight) ? .isGone : .waitsHere
        case .record, .poll, .expand, .waitForKey, .buffer, .refuse, .unrouted, .endWhole, .endDryRun, .expire, .cancel, .send,
            .done:
            .isGone
        }
    }

    private func conclude(_ flight: Flight, at gate: StartGate) {
        switch gate {
        case .record: record(flight)
        case .poll: takePoll(flight)
        case .expand: expand(flight)
        case .waitForKey: waitForKey(flight)
        case .buffer: buffer(flight)
        case .refuse: reject(flight)
        case .unrouted: startUnrouted(flight)
        case .endWhole: endWhole(flight)
        case .endDryRun: end(flight, as: .cancelled, code: .cancelled, detail: "dry run: nothing was sent")
        case .expire:
            end(
                flight, as: .expired, code: .expiredInQueue, detail: "the request expired; a worker that died may have sent it")
        case .cancel: if let cancellation = flight.work.cancellation { cancel(flight, by: cancellation) }
        case .send:
            for index in flight.work.calls.indices where flight.work.calls[index].phase == .ready {
                schedule(flight, call: index)
            }
        case .done, .takeTurn, .checkTenant, .deduplicate, .findOutcome, .checkTime, .plan, .restore, .delay, .checkHold,
            .checkRoom,
            .deferWhole:
            break
        }
    }
}

// The steps.
extension WorkerLoop {
    /// Finds out that a request can be sent and repeats none: that is detected in the order of the records, so before it waits. If not,
    /// notes why.
    private func deduplicate(_ flight: Flight) -> StartFacts {
        guard desk.repetitions != nil || flight.request.dedupeKey != nil else { return .isNew }
        do throws(RequestFault) {
            try plan(flight)
            try refuseRepetition(flight)
            return .isNew
        } catch {
            flight.note([error])
            return .hasFaults
        }
    }

    /// Looks up the outcome of a request from before its partition was lost.
    private func findOutcome(of flight: Flight, isNew: Bool) -> StartFacts {
        let partition = Membership.Partition(partitions[flight.place.slot].id)
        guard var outcome = offered.known.take(KnownRequest(flight), of: partition) else { return .isLookedUp }
        outcome.move(to: flight.place.slot)
        if !isNew { remember(flight) }
        flight.wait.conclude(as: outcome)
        return [.isLookedUp, .isConcluded]
    }

    /// Looks if a request that comes from a delay lane may go on now. Else it waits there, or in the next one.
    private func checkTime(of flight: Flight) -> StartFacts {
        guard let delayed = flight.wait.delayed else { return .isDue }
        if partitions[flight.place.slot].role != .held, !isSwept(flight) {
            if delayed.recheckTime > wallClock {
                keepFirst(flight)
                return .isGone
            }
            if delayFurther(flight, delayed: delayed) { return .isGone }
        }
        flight.place.noteReception(at: now)
        return .isDue
    }

    /// Puts a request that starts where it waits for the end of a hold that concerns it. One that has expired goes on to its end.
    private func checkHold(of flight: Flight) -> StartFacts {
        guard let order = hold(of: flight), flight.request.expiresAt.map({ $0 > wallClock }) ?? true else {
            return .isHoldChecked
        }
        return delay(flight, by: order) ? .isGone : .isHoldChecked
    }

    private func prepare(_ flight: Flight, isNew: Bool) -> StartFacts {
        if Sabotage.isOn(.commitEarly) { partitions[flight.place.slot].ledger?.finished(flight.place.offset) }
        do throws(RequestFault) {
            try plan(flight)
            if !isNew { try refuseRepetition(flight) }
            // A fault of a request is worth more to its publisher than that it came too late.
            let isTooLate = flight.request.expiresAt.map { $0 <= wallClock } ?? false
            if isTooLate, flight.wait.delayed == nil, flight.work.calls.isEmpty || !mayHaveBeenBegun(flight) {
                let isHeld = wasHeld(flight, at: flight.request.expiresAt)
                let message = isHeld ? "The request expired while a hold stood." : "The request expired before it was read."
                throw RequestFault(isHeld ? .expiredOnHold : .expiredInQueue, at: "", message: message)
            }
            return flight.work.calls.isEmpty ? [.isPlanned, .isLarge] : .isPlanned
        } catch {
            flight.note([error])
            return [.isPlanned, .hasFaults]
        }
    }

    /// Goes on with a request where it was: its calls are planned again, and have what happened to them before.
    ///
    /// - Returns: Whether its calls must be made. Else it is finished.
    private func restore(_ flight: Flight, from delayed: DelayedRecord) -> Bool {
        if flight.restore(from: delayed) || delayed.report.attemptCount == 0 { return true }
        giveUp(flight, delayed: delayed)
        return false
    }
}

// The last words.
extension WorkerLoop {
    private func record(_ flight: Flight) {
        if let letter = flight.wait.deadLetter { outbox.append(contentsOf: letter) }
        settle(flight)
    }

    private func takePoll(_ flight: Flight) {
        if let poll = flight.wait.poll {
            poll.recheckTime > wallClock && !isSwept(flight)
                ? keepFirst(flight) : startPoll(flight, poll: poll)
        }
    }

    private func reject(_ flight: Flight) {
        // Attempts are not forgotten because other settings would refuse it now.
        if let delayed = flight.wait.delayed, delayed.report.attemptCount > 0 { return giveUp(flight, delayed: delayed) }
        let code = flight.report.faults.first?.code ?? .schemaInvalid
        metrics.rejected(code, topic: flight.place.origin.topic)
        flight.report.calls.removeAll(keepingCapacity: true)
        finish(flight)
    }

    /// Ends all calls of a request before any is made.
    private func end(_ flight: Flight, as outcome: Outcome, code: ErrorCode, detail: StaticString) {
        for index in flight.work.calls.indices { end(flight, call: index, as: outcome, code: code, detail: detail) }
    }

    /// Lets a planned request that has no hub wait while the settings are new, and ends it afterwards.
    ///
    /// A name that is missing from settings, or mistyped there, is seen and mended within seconds of a start or a reload, and requests that
    /// name a hub may be there before the workers know it. Later the mistake is more likely the publisher's, who should hear of it at once.
    private func startUnrouted(_ flight: Flight) {
        if let delayed = flight.wait.delayed { facts.unrouted.remove(ports.missingHub(of: flight), due: delayed.due) }
        if let delayed = flight.wait.delayed, !flight.work.calls.isEmpty, !restore(flight, from: delayed) { return }
        if holdUnrouted(flight) { return }
        if flight.wait.delayed?.report.attemptCount ?? 0 > 0 || mayHaveBeenBegun(flight), !flight.work.calls.isEmpty {
            endUnrouted(flight)
        } else {
            takeBack(flight)
            if let fault = flight.route.fault { flight.note([ports.fault(fault)]) }
            reject(flight)
        }
    }

    /// Ends a request of which no part was written.
    private func endWhole(_ flight: Flight) {
        let reason = flight.work.cancellation?.reason.map { "cancelled: \($0)" } ?? "cancelled"
        let message = flight.request.options.dryRun ? "dry run: nothing was sent" : reason
        flight.restoreReception()
        flight.note([RequestFault(.cancelled, at: "", message: message)])
        finish(flight)
    }

    /// Writes parts of a request that needs more calls than one may make, as many as one commit should have, and what continues it if there
    /// are more. They become requests of their own in our own lane, in the transaction that counts it as read. It has its result when the last
    /// of these has ended. A continuation is divided even if it is cancelled or comes too late: each of its parts has an end of its own.
    private func expand(_ flight: Flight) {
        flight.restoreReception()
        guard let body = desk.body(of: flight) else {
            flight.note([RequestFault(.internal, at: "", message: "The request cannot be divided.")])
            return finish(flight)
        }
        let count: Int
        do throws(RequestFault) {
            count = try recorders.expansions.record(
                flight, body: body, using: desk.planner, over: flight.route.spread.map { ports.routes.spreads[$0].hubs },
                room: cycle.roomOfUnit, into: &outbox)
        } catch {
            flight.note([error])
            return reject(flight)
        }
        if flight.request.remaining == nil {
            metrics.requestsExpanded.increment()
            requestLog.noteParts(count, of: flight.request.document.string(flight.request.id))
        }
        settle(flight)
    }
}
