import Basics
import Delivery
import Kafka
import PushModel

/// Holds: nothing in their scope is begun while they stand.
///
/// A request that a hold concerns waits like one that must not be sent yet, in a delay lane or, with an ordering key, in the topic of held
/// requests, until the hold ends. So it takes no room of what passes. Without a lane it waits in memory, with its partition behind it.
/// A request in memory is found when the turn of one of its calls has come. A hold that ends before its time leaves records in lanes that
/// wait for that time: the lanes are swept, each record once.
extension WorkerLoop {
    /// The time after which a call that a hold keeps in memory asks again: 1 s in nanoseconds.
    private static let heldStep: Int64 = 1_000_000_000

    /// The hold that concerns a request whose hub is known, or nil.
    func hold(of flight: Flight) -> OrderRecord? {
        guard controlTopic.orders.slowsRequests else { return nil }
        let (hub, lane) = (flight.spread == nil ? ports[flight.port].name : nil, flight.lane.name)
        return lend(&flight.request) { controlTopic.orders.hold(of: $0, hub: hub, lane: lane, now: orderTime) }
    }

    /// Puts a request that starts where it waits for the end of a hold that concerns it. One that has expired goes on to its end.
    func checkHold(of flight: Flight) -> StartFacts {
        guard let order = hold(of: flight), !isExpired(flight) else { return .isHoldChecked }
        return delay(flight, by: order) ? .isGone : .isHoldChecked
    }

    /// Puts a request where it waits for the end of a hold, and counts it unless it waited there for the same.
    private func delay(_ flight: Flight, by order: OrderRecord) -> Bool {
        let (due, expiry) = (flight.due, flight.request.expiresAt)
        guard delay(flight, until: order.until) else { return false }
        if due != DelayPolicy.moment(until: order.until, expiresAt: expiry) {
            facts.held.note(order.id, expiresAt: expiry, now: wallClock)
        }
        return true
    }

    /// Has a call wait whose turn has come although a hold concerns its request: with the others of it in a lane, or else here.
    ///
    /// - Returns: False if no hold concerns it.
    func keepBack(_ flight: Flight, call index: Int) -> Bool {
        guard let order = hold(of: flight) else { return false }
        wait(flight, call: index, until: now + Self.heldStep)
        if flight.isActive, mode == .running, flight.cancellation == nil, flight.onlyWaits {
            _ = delay(flight, by: order)
        }
        return true
    }

    /// Obeys the orders that stand now.
    func ordersChanged() {
        facts.held.keep(controlTopic.orders.all)
        limitsChanged()
        cancelWaiting()
        guard controlTopic.orders.mayHaveWaiting(now: orderTime, isRestart: false) else { return }
        delayedPartitions.sweep.request(now: now)
        scheduler.hurry { $0.delayed != nil }
    }

    /// Once a second: begins a sweep of the delay lanes that is due. It ends at the last record that is there now. What was released while
    /// no worker ran counts for a worker's first minutes, however long ago that was.
    func beginSweep() {
        if !delayedPartitions.sweep.isConsidered, !partitions.isEmpty, controlTopic.allowsRequests {
            let isRestart = now - facts.startedAt < LaneSweep.youth
            delayedPartitions.sweep.consider(
                isNeeded: controlTopic.orders.mayHaveWaiting(now: orderTime, isRestart: isRestart), now: now)
        }
        guard delayedPartitions.sweep.isDue(now: now) else { return }
        for slot in delayedPartitions.slots {
            let end = delayReader.watermarks(slot: slot - delayedPartitions.slots.lowerBound)?.high
            delayedPartitions.sweep.begin(slot, end: end ?? partitions[slot].lookedUpTo ?? 0)
            if isSwept(slot) { delayedPartitions.check(slot, at: wallClock) }
        }
    }

    /// True if the first record of a delay lane's partition is examined before its time.
    func isSwept(_ slot: Int) -> Bool {
        (partitions[slot].head?.offset ?? partitions[slot].unread?.offset).map { isSwept($0, in: slot) } ?? false
    }

    /// The same of the record at an offset.
    func isSwept(_ offset: Int64, in slot: Int) -> Bool { delayedPartitions.sweep.covers(offset, in: slot) }

    private func isExpired(_ flight: Flight) -> Bool { flight.request.expiresAt.map { $0 <= wallClock } ?? false }
}
