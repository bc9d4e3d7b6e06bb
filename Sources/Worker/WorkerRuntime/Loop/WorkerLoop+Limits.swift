import Basics
import Delivery
import PushModel

/// Limits that orders set. Those of a hub are its rate. Of those that concern more, a call takes a token when it begins. Without one it waits
/// with its turn, or its request is deferred if too many do.
extension WorkerLoop {
    /// True if a call may be written now, as far as limits go. Else it was put to wait, or its request was deferred.
    func mayBegin(_ flight: Flight, call index: Int, at port: HubPort) -> Bool {
        guard controlTopic.orders.slowsRequests, limited.isUsed, !limited.isReleasing else { return true }
        let orders = lend(&flight.request) {
            controlTopic.orders.limits(of: $0, hub: port.name, lane: flight.route.lane.name, now: orderTime)
        }
        guard let line = limited.line(of: flight, at: port.number, among: orders) else { return true }
        if limited.waiting.begins(line, now: now) { return true }
        if limited.waiting.hasRoom(in: line, wasDeferred: flight.wait.delayed != nil)
            || !deferLimited(flight, in: line, until: orders.filter { line.orders.contains($0.id) }.map(\.until).max())
        {
            limited.waiting.append(WaitingCall(flight, call: index), to: line)
        }
        return false
    }

    /// Defers a request of which nothing but its calls' turn is awaited. One that has calls in flight, or finds no lane, waits here.
    ///
    /// - Returns: Whether it is in a lane, or held.
    private func deferLimited(_ flight: Flight, in line: LimitedLine, until end: Timestamp?) -> Bool {
        guard mode == .running, hasRoomForOutcomes, flight.onlyWaitsForTurn, scheduler.delays.hasLanes || flight.route.key != nil
        else { return false }
        let former = flight.wait.delayed.map { $0.due.milliseconds(since: wallClock) }
        let wait = limited.waiting.deferral(in: line, of: flight.work.openCalls, former: former, now: now)
        let moment = wallClock.adding(milliseconds: wait)
        let due = max(min(moment, end ?? moment), wallClock.adding(milliseconds: DelayPolicy.shortestStay))
        let (isFirst, expiry) = (flight.wait.delayed == nil, flight.request.expiresAt)
        guard delay(flight, until: due) else { return false }
        if isFirst { for order in line.orders { facts.held.note(order, expiresAt: expiry, now: wallClock) } }
        return true
    }

    /// The moment when the loop must turn for calls that wait for a token.
    var momentOfLimits: MonotonicTime { limited.isUsed && !isCommitOverdue ? max(now, limited.waiting.nextDue) : .never }

    /// Obeys the limits that stand now, with this loop's partitions and hubs. What waited is looked at again.
    func limitsChanged() {
        let calls = limited.waiting.removeAll()
        limited.take(controlTopic.orders.all, areHubsSeveral: ports.count { !$0.isRetired } > 1, now: now)
        for port in ports.markAll() where !port.isRetired {
            port.setRate(ordered: limited.rate(ofHub: port.name), part: limited.part, now: now)
        }
        for next in calls {
            guard let flight = flights.flight(of: next, in: .ready), !ports[flight.route.port].isRetired else { continue }
            ports[flight.route.port].queue(flight, call: next.call)
        }
    }
}
