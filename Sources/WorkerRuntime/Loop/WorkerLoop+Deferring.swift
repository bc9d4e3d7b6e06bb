import Basics
import Delivery
import FanOut
import Kafka
import Observability
import PushModel

/// Requests of a hub for which there is no room, while those of other hubs have some, go on in a delay lane. So a hub that is out, or
/// that gets more than it takes, does not cause head-of-line blocking for other hubs.
///
/// A deferred request waits as long again as it has waited so far. So it is not written often, and waits no more than twice as long as it
/// had to.
extension WorkerLoop {
    /// True if there are lanes for deferred requests.
    var canDefer: Bool { !delayLanes.available.isEmpty }

    /// The number of calls of delayed requests that may wait for their turn at one hub.
    private static let maximumDelayed = WorkerLoop.maximumReady

    /// Defers a request that was planned, if its hub has no room for its calls.
    ///
    /// - Returns: Whether it is in a lane.
    func postpone(_ flight: Flight) -> Bool {
        guard canDefer, flight.cancellation == nil else { return false }
        let port = ports[flight.port]
        let isFull =
            flight.delayed == nil
            ? ports.isFull(port, for: flight.lane, of: memory)
            : port.ready.delayedCount >= Self.maximumDelayed
                || !ports.hasShare(port, for: flight, among: flights.byteCounts, of: memory)
        return (isFull || flight.mustDefer) && deferNow(flight)
    }

    private func deferNow(_ flight: Flight) -> Bool {
        let age = wallClock.milliseconds(since: flight.origin.timestamp)
        let wait = min(max(age, Self.shortestStay), Self.longestStay)
        let due = wallClock.adding(milliseconds: wait)
        for index in flight.calls.indices where flight.calls[index].phase.isWaiting {
            flight.calls[index].notBefore = max(flight.calls[index].notBefore ?? due, due)
        }
        return delay(flight, until: due)
    }

    /// The time that the shortest lane takes, and the longest: milliseconds.
    private static let shortestStay = DelayLanes.lengths[0] + DelayLanes.margin
    private static let longestStay = DelayLanes.lengths[DelayLanes.lengths.count - 1] + DelayLanes.margin

    /// Once a second: moves the first requests of a partition out of the way whose hub does not take them, when what was read behind them
    /// fills half of the partition's window, or memory is full, and another hub has nothing to do. Else nothing could be read for that one.
    func relieveWindows() {
        guard ports.areSeveral, canDefer, canProceed, ports.contains(where: isIdle) else { return }
        for lane in Lane.allCases {
            for slot in lanes[lane.rawValue].slots {
                guard hasRoomForOutcomes, let ledger = partitions[slot].ledger else { continue }
                let length = ledger.position - ledger.lowWaterMark
                let isFull = flights.byteCount >= memory.flights
                guard isFull || length >= Int64(ledger.window / 2) else { continue }
                relieve(slot, lane: lane, before: isFull ? ledger.position : ledger.lowWaterMark + length / 2)
            }
        }
    }

    /// True if the hub could take calls at once but has none.
    private func isIdle(_ port: HubPort) -> Bool {
        !port.isRetired && port.ready.isEmpty && port.buffered.allSatisfy(\.isEmpty) && port.limits.waitEnd(now: now) == nil
    }

    /// The least time that a request must have waited to be moved out of the way: 2 s in nanoseconds.
    private static let reliefPatience: Int64 = 2_000_000_000

    private func relieve(_ slot: Int, lane: Lane, before end: Int64) {
        let moment = now + -Self.reliefPatience
        for flight in flights.flights
        where flight.isActive && flight.slot == slot && flight.offset < end && flight.epoch == epoch
            && flight.receivedAt < moment && isWaiting(flight) && hasRoomForOutcomes
        {
            _ = deferNow(flight)
        }
        for port in ports where hasRoomForOutcomes {
            for record in port.buffered[lane.rawValue].removeAll(of: slot, before: end, readBefore: moment) {
                let flight = resume(record, in: lane)
                flight.mustDefer = true
                start(flight)
            }
        }
    }

    /// True if nothing but its turn at the hub keeps a request.
    private func isWaiting(_ flight: Flight) -> Bool {
        flight.deadLetter == nil && flight.poll == nil && partitions[flight.slot].parked !== flight
            && !flight.calls.isEmpty && flight.cancellation == nil
            && flight.calls.allSatisfy { $0.phase == .ready || $0.phase == .done }
    }
}
