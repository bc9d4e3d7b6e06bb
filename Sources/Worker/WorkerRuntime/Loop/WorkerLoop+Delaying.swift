import Delivery
import HubREST
import Observability
import PushModel

/// Requests that have to wait for long: into a delay lane, or held if they have a key, in the same transaction as everything else that is
/// finished.
extension WorkerLoop {
    /// Puts a request that must not be sent yet where it waits: here if that is short. Without a place for it, it is refused.
    func delayStart(_ flight: Flight) -> StartFacts {
        guard let start = flight.request.notBefore, start > wallClock else { return .waitsHere }
        flight.work.postpone(until: start)
        if flight.route.key != nil, scheduler.hasNoPlace(for: flight, until: start, now: wallClock) {
            flight.note([.orderingKeyFull])
            takeBack(flight)
            return .hasFaults
        }
        return delay(flight, until: start) ? .isGone : .waitsHere
    }

    /// Puts a request where it waits whose calls all wait, if the first of them waits for long.
    ///
    /// - Returns: Whether it is there.
    func delayWaiting(_ flight: Flight) -> Bool {
        guard scheduler.delays.hasLanes || flight.route.key != nil, flight.work.cancellation == nil, flight.work.onlyWaits,
            let moment = flight.work.nextMoment(now: now, at: wallClock)
        else { return false }
        return delay(flight, until: moment)
    }

    /// Hands a request on from lane to lane, as it is.
    func delayFurther(_ flight: Flight, delayed: DelayedRecord) -> Bool {
        let lane = scheduler.delays.nextLane(until: delayed.due, expiresAt: flight.request.expiresAt, now: wallClock)
        guard let lane else { return false }
        write(flight, to: .delay(lane), until: delayed.due, history: delayed.text)
        return true
    }

    /// The room of hubs now.
    var room: HubRoom {
        HubRoom(
            ports: ports, buffers: scheduler.buffers, memory: memory, byteCounts: flights.byteCounts,
            canDefer: scheduler.delays.hasLanes, now: now)
    }

    /// Defers a request that was planned, if its hub has no room for its calls while those of other hubs have some. So a hub that is out, or
    /// that gets more than it takes, does not cause head-of-line blocking for other hubs.
    ///
    /// - Returns: Whether it is in a lane.
    func deferIfFull(_ flight: Flight) -> Bool {
        guard scheduler.delays.hasLanes, flight.work.cancellation == nil else { return false }
        let port = ports[flight.route.port]
        let hasNone =
            flight.wait.delayed == nil ? room.isDeferred(at: port, in: flight.route.lane) : room.defersAgain(flight, at: port)
        return (hasNone || flight.wait.mustDefer) && deferNow(flight)
    }

    /// Defers a large request that comes from where reading goes on although those that have not ended take all that they may: a delay lane,
    /// our own lane, in which the parts are that end them, or any where there are several hubs.
    ///
    /// - Returns: Whether it is in a lane.
    func deferWhole(_ flight: Flight) -> Bool { scheduler.delays.hasLanes && deferNow(flight) }

    func deferNow(_ flight: Flight) -> Bool {
        let due = DelayPolicy.deferral(publishedAt: flight.place.origin.timestamp, now: wallClock)
        flight.work.postponeWaiting(until: due)
        return delay(flight, until: due)
    }

    /// - Returns: Whether a request that has no hub is in a delay lane, or held, to be routed again.
    func holdUnrouted(_ flight: Flight) -> Bool {
        let due = wallClock.adding(milliseconds: DelayPolicy.shortestStay)
        guard ports.routes.isSettling(now), !flight.request.options.dryRun, flight.work.cancellation == nil,
            flight.request.expiresAt.map({ $0 > due }) ?? true
        else { return false }
        flight.work.postponeWaiting(until: due)
        let hub = ports.missingHub(of: flight)
        guard delay(flight, until: due) else { return false }
        facts.unrouted.add(hub, due: due)
        return true
    }

    /// Leaves a request to the partition's next owner, by a delay lane, or as a held one, if calls of it were made, so that it
    /// goes on where they were. What is not committed with the position could be sent twice. Returns whether it is gone.
    @discardableResult func leave(_ flight: Flight) -> Bool {
        let isAtomic = mode == .stopping || configuration.guarantee == .exactlyOnce
        var facts = flight.drainFacts
        if isAtomic, hasRoomForOutcomes, !isCommitOverdue, !cycle.isOutOfGroup { facts.insert(.isCommittable) }
        if DrainGate.next(facts) == .handOver {
            if let due = flight.work.nextMoment(now: now, at: wallClock), delay(flight, until: due, isLeft: true) { return true }
            facts.insert(.hasNoPlace)
        }
        guard DrainGate.next(facts) == .forget else { return delayWaiting(flight) }
        abandon(flight)
        return true
    }

    /// Puts a request where it waits if its wait is long, or if it `isLeft`: the partition's next owner must know of its calls.
    func delay(_ flight: Flight, until due: Timestamp, isLeft: Bool = false) -> Bool {
        let expiry = flight.request.expiresAt
        let moment = DelayPolicy.moment(until: due, expiresAt: expiry)
        if let key = flight.route.key { return hold(flight, key: key, until: moment, isLeft: isLeft) }
        let lane = scheduler.delays.lane(until: due, expiresAt: expiry, isLeft: isLeft, now: wallClock)
        guard let lane, let history = history(of: flight) else { return false }
        write(flight, to: .delay(lane), until: moment, history: history)
        return true
    }

    /// Puts a request where it waits for the end of a hold, and counts it unless it waited there for the same.
    func delay(_ flight: Flight, by order: OrderRecord) -> Bool {
        let (due, expiry) = (flight.wait.due, flight.request.expiresAt)
        // By the machine's clock, as lanes count. The shortest lane may end a little later than the hold.
        let left = max(order.until.milliseconds(since: orderTime), DelayPolicy.shortestStay)
        let end = wallClock.adding(milliseconds: left)
        guard delay(flight, until: end) else { return false }
        if flight.wait.delayed == nil
            || due.map({ abs($0.milliseconds(since: DelayPolicy.moment(until: end, expiresAt: expiry))) > 1000 }) ?? true
        {
            facts.held.note(order.id, expiresAt: expiry, now: wallClock)
        }
        return true
    }

    /// Puts a request of a key, which is in work, into the topic of held requests, unless it waits in memory.
    private func hold(_ flight: Flight, key: RequestIdentity, until due: Timestamp, isLeft: Bool) -> Bool {
        guard let history = history(of: flight) else { return false }
        let partition = scheduler.hold(
            flight, key: key, until: due, historyByteCount: history.count, isLeft: isLeft, now: wallClock)
        guard let partition else { return false }
        flight.route.takeTurn(of: nil)
        write(flight, to: .held(partition), until: due, history: history)
        return true
    }

    private func history(of flight: Flight) -> ByteWriter? {
        recorders.delays.history(of: flight, isInDoubt: mayHaveBeenBegun(flight), now: now, at: wallClock)
    }

    /// Writes a request where it waits, in the transaction that counts its record as read.
    private func write(
        _ flight: Flight, to destination: OutcomeBatch.Destination, until due: Timestamp, history: borrowing ByteWriter
    ) {
        recorders.delays.record(flight, to: destination, due: due, history: history, into: &outbox)
        noteDelay(of: flight, to: destination, until: due)
        ports[flight.route.port].endWaits(of: flight)
        settle(flight)
    }

    private func noteDelay(of flight: Flight, to destination: OutcomeBatch.Destination, until due: Timestamp) {
        let (message, topic): (StaticString, String)
        if case .delay(let lane) = destination {
            metrics.delayed(in: lane)
            (message, topic) = ("a request waits in a delay lane", configuration.topics.delays[lane])
        } else {
            metrics.held()
            (message, topic) = (
                "request held; later requests with this ordering key are blocked behind it", configuration.topics.held
            )
        }
        log.debug(
            .requestDelayed, message,
            [
                .requestID: .string(flight.request.document.string(flight.request.id)),
                .delayMilliseconds: LogValue(due.milliseconds(since: wallClock)), .topic: .string(topic),
            ])
    }
}
