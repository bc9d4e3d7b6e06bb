import Basics
import Delivery
import Observability
import PushModel

/// The requests that wait in memory for their turn: what `Scheduler` decides is done here.
///
/// Those of one ordering key are sent one after the other, in the order in which they were published. A request of a key starts only
/// after its predecessor has completed: its final result is in the outbox, or its parts are. What has to wait for longer than moments is
/// held. A lane whose requests name tenants, or whose hubs are several, is read beyond what has places. Of what is read, a tenant has some
/// calls waiting for their turn, and the rest of its records are buffered.
extension WorkerLoop {
    /// Asks for the turn of a request's key.
    func takeTurn(for flight: Flight) -> StartFacts {
        guard let key = flight.orderingKey, scheduler.takeTurn(of: key, in: flight.place.slot, origin: flight.place.origin) else {
            return .isBehindKey
        }
        flight.route.takeTurn(of: key)
        return .hasTurn
    }

    /// Puts a request behind those of its key, or ends it as the copy of one that is there.
    func waitForKey(_ flight: Flight, due: Timestamp = .past, writtenAt: Timestamp = .never) {
        guard let key = flight.orderingKey else { return abandon(flight) }
        let isAdded = scheduler.offer(flight.buffered(writtenAt: writtenAt), of: key, due: due)
        if let slot = scheduler.requests(of: flight.place.slot) { noteRoomForKeys(slot) }
        // A copy waits already, with what has happened to it.
        if isAdded { flights.release(flight) } else { settle(flight) }
    }

    /// Calls `body` with the requests whose keys have their turn, as far as there is room in their lanes: they come before what was not
    /// read yet.
    func forEachOfKeys(_ body: (Flight, StartFacts) -> Void) {
        guard scheduler.isUsed, canProceed else { return }
        for lane in Lane.allCases {
            while canStartKeys(of: lane), let (slot, record, key) = scheduler.nextOfKeys(in: lane, now: wallClock) {
                let flight = resume(record)
                flight.route.takeTurn(of: key)
                body(flight, record.delayed == nil ? .isNew : [])
                noteRoomForKeys(slot)
            }
        }
        relieveBlocked(body)
    }

    private func canStartKeys(of lane: Lane) -> Bool {
        // Requests that wait for their keys were read already, so no hub holds them up.
        let isRead = ports.areSeveral && scheduler.delays.hasLanes
        return canProceed && mayBeginWholes(lane) && (isRead || hasRoom(lane))
            && ports.delayedReadyCount < ReadyCalls.mostDelayed * ports.count
    }

    /// Moves what lies behind requests that wait for their moment, where a partition cannot be read on. Calls `body` with what has no place
    /// there, to be refused: behind a request that was tried only for the sake of other hubs.
    private func relieveBlocked(_ body: (Flight, StartFacts) -> Void) {
        let (moves, refused, slots) = scheduler.relieve(
            where: { partitions[$0].isBlocked }, refusingBehind: { ports.areSeveral || !$0.wasTried }, now: (now, wallClock))
        move(moves)
        for flight in refused.lazy.map(resume) {
            flight.note([.orderingKeyFull])
            takeBack(flight)
            body(flight, .isNew)
        }
        slots.forEach(noteRoomForKeys)
    }

    /// Writes records to partitions of held requests, with what they say of the past if they were held before.
    func move(_ moves: [Scheduler.Move]) {
        for (record, partition) in moves {
            let flight = resume(record)
            recorders.delays.record(
                flight, to: .held(partition), due: record.heldDue(now: wallClock), history: record.history(of: flight),
                into: &outbox)
            metrics.held()
            settle(flight)
        }
    }

    /// Notes whether a partition may be read although records of its keys are buffered.
    private func noteRoomForKeys(_ slot: Int) {
        let isFull = scheduler.isFull(slot) { memory.keys(of: $0) }
        guard isFull != partitions[slot].isFullOfKeys else { return }
        partitions[slot].isFullOfKeys = isFull
        if !isFull, case .requests(let lane) = partitions[slot].role { lanes[lane.rawValue].windowMoved(slot) }
    }

    /// Ends what waits for its moment and is cancelled by now. Those whom orders may cancel are read for it if there is a new one.
    func hurryCancelledKeys(isOrdered: Bool) {
        var request = PushRequest()
        scheduler.hurry { record in
            record.isCancelled(by: controlTopic.cancellations) || isOrdered && isEnded(record, reading: &request)
        }
    }

    /// Decides whether an order cancels a request that waits for its moment.
    private func isEnded(_ record: BufferedRecord, reading request: inout PushRequest) -> Bool {
        guard record.delayed != nil else { return false }
        guard desk.read(record, of: partitions[record.slot].role, into: &request) == .request else { return false }
        let route = ports.route(of: request, tenant: record.tenant)
        let hub = route.fault == nil && route.spread == nil ? ports.peek(at: route.port).name : nil
        return orderedCancellation(of: request, published: record.origin.timestamp, hub: hub, lane: record.lane) != nil
    }

    /// The moment when there is something to do for keys, monotonic nanoseconds. Not after `now` for at once.
    func momentOfKeys() -> MonotonicTime {
        guard scheduler.isUsed || held.mayHaveRecords, canProceed else { return .never }
        if held.mayHaveRecords { return now }
        var moment = MonotonicTime.never
        for lane in Lane.allCases where canStartKeys(of: lane) {
            guard let due = scheduler.nextMoment(in: lane) else { continue }
            if due <= wallClock { return now }
            let wait = min(due.milliseconds(since: wallClock), Self.longestWait)
            moment = min(moment, now + wait * 1_000_000)
        }
        return moment
    }
}

// Tenants and hubs that share a lane: one that has more requests than places does not cause head-of-line blocking for others.
extension WorkerLoop {
    /// True if a lane has requests of tenants, or had some lately, or of several hubs. Then it is read beyond what has places.
    func hasTenants(_ lane: Lane) -> Bool {
        guard let port = ports.only else { return true }
        return scheduler.buffers.readsAhead(lane, of: port.number, now: now)
    }

    /// True if large requests that have not ended take all that they may: no other is begun until some have.
    var areWholesFull: Bool { parents.byteCount >= memory.wholes }

    /// True if requests of a lane may begin though they may be large. Those of our own lane always may: parts end what is open. With several
    /// hubs large ones are deferred instead, since one hub that is out must not hold up what others get.
    private func mayBeginWholes(_ lane: Lane) -> Bool {
        lane == .own || !areWholesFull || ports.areSeveral && scheduler.delays.hasLanes
    }

    /// True if a lane's records may be read, as far as its own calls and large requests go.
    func hasRoom(_ lane: Lane) -> Bool {
        guard mayBeginWholes(lane) else { return false }
        guard let port = ports.only else { return !room.isHeldUp(lane) }
        guard hasTenants(lane) else { return port.hasRoom(lane) }
        return scheduler.buffers.byteCount(at: port.number, in: lane) < memory.buffered
    }

    /// Looks at the calls of a request's tenant.
    func checkTenant(of flight: Flight) -> StartFacts {
        let lane = flight.route.lane
        if flight.route.tenant != .none { scheduler.buffers.noteTenant(in: lane, now: now) }
        guard hasTenants(lane) else { return .isTenantChecked }
        let port = ports[flight.route.port]
        flight.route.join(port.queue(of: flight))
        let isTenantFull =
            scheduler.buffers.hasRecords(of: flight.route.tenant, at: port.number, in: lane)
            || !mayHaveMoreCalls(flight.route.tenant, in: lane, at: port, flight: flight)
        let isDeferred = ports.areSeveral && room.isDeferred(at: port, in: lane)
        return isTenantFull && !isDeferred ? [.isTenantChecked, .isTenantFull] : .isTenantChecked
    }

    /// Buffers a request until its tenant has fewer calls waiting.
    func buffer(_ flight: Flight) {
        if !scheduler.buffers.hasRecords(of: flight.route.tenant, at: flight.route.port, in: flight.route.lane) {
            ports[flight.route.port].ready.watch(flight.route.tenant, in: flight.route.lane)
        }
        scheduler.buffers.append(flight.buffered(), of: flight.route.tenant, at: flight.route.port)
        if ports.areSeveral { room.noteBuffered(at: flight.route.port, in: flight.route.lane) }
        flights.release(flight)
    }

    /// Calls `body` with buffered requests: all whose hub is gone, and the others as far as their tenants have had turns.
    func forEachBuffered(_ body: (Flight, StartFacts) -> Void) {
        while canProceed, let record = scheduler.buffers.nextDisplaced() { body(resume(record), .isNew) }
        for number in scheduler.buffers.hubs {
            for lane in Lane.allCases { takeBuffered(of: ports[number], in: lane, startingBy: body) }
        }
    }

    private func takeBuffered(of port: HubPort, in lane: Lane, startingBy body: (Flight, StartFacts) -> Void) {
        while canProceed, mayBeginWholes(lane), room.hasShare(port), let tenant = port.ready.removeServed(in: lane) {
            while canProceed, mayHaveMoreCalls(tenant, in: lane, at: port),
                let record = scheduler.buffers.nextOfTenant(tenant, at: port.number, in: lane)
            {
                let flight = resume(record)
                flight.route.join(tenant)
                body(flight, [.isNew, .isTenantChecked])
            }
            let isLeft = scheduler.buffers.hasRecords(of: tenant, at: port.number, in: lane)
            if isLeft { port.ready.watch(tenant, in: lane) }
        }
    }

    /// True if a tenant may have another call waiting, and its hub has memory for `flight`, or another one.
    private func mayHaveMoreCalls(_ tenant: TenantID, in lane: Lane, at port: HubPort, flight: Flight? = nil) -> Bool {
        let queues = port.ready.fresh(in: lane)
        let hasPlace = HubBuffers.hasPlace(
            waiting: queues.count(of: tenant), tenantCount: queues.tenantCount, most: port.settings.maxInFlight)
        return hasPlace && room.hasShare(port, for: flight)
    }

    /// Once a second: moves the first requests of a partition out of the way whose hub does not take them, when what was read behind them
    /// fills half of the partition's window, or memory is full, and another hub has nothing to do. Else nothing could be read for that one.
    /// Calls `body` with those that were buffered, which it defers.
    func relieveWindows(_ body: (Flight, StartFacts) -> Void) {
        guard ports.areSeveral, scheduler.delays.hasLanes, canProceed, ports.contains(where: room.isIdle) else { return }
        for lane in Lane.allCases {
            for slot in lanes[lane.rawValue].slots where hasRoomForOutcomes {
                let end = partitions[slot].reliefEnd(isMemoryFull: flights.byteCount >= memory.flights)
                if let end { relieve(slot, lane: lane, before: end, startingBy: body) }
            }
        }
    }

    private func relieve(_ slot: Int, lane: Lane, before end: Int64, startingBy body: (Flight, StartFacts) -> Void) {
        let moment = now + -FullHubs.patience
        for flight in flights.flights
        where flight.isActive && flight.place.slot == slot && flight.place.offset < end && flight.place.epoch == epoch
            && flight.place.receivedAt < moment && isWaiting(flight) && hasRoomForOutcomes
        {
            _ = deferNow(flight)
        }
        for port in ports where hasRoomForOutcomes {
            let removed = scheduler.buffers.removeAll(of: slot, in: lane, at: port.number, before: end, readBefore: moment)
            for record in removed {
                let flight = resume(record)
                flight.wait.markForDeferral()
                body(flight, [.isNew, .isTenantChecked])
            }
        }
    }

    /// True if nothing but its turn at the hub keeps a request.
    private func isWaiting(_ flight: Flight) -> Bool {
        partitions[flight.place.slot].parked !== flight && flight.onlyWaitsForTurn
    }

    /// Logs what is said once for each assignment.
    func sayNotices() {
        for notice in scheduler.takeNotices() {
            let fields = notice.fields(heldTopic: configuration.topics.held) { partitions[$0].id }
            log.warning(.requestDelayed, notice.message, fields)
        }
    }
}
