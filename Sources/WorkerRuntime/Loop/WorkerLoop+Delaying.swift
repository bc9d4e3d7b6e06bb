import Basics
import Delivery
import FanOut
import Observability
import PushModel

/// Requests that have to wait for long: into a delay lane, in the same transaction as everything else that is finished.
extension WorkerLoop {
    /// Puts a request that must not be sent yet into a delay lane.
    ///
    /// - Returns: Whether it is there; false when the wait is short, or there is no such lane.
    func delayStart(_ flight: Flight) -> Bool {
        guard let start = flight.request.notBefore, start > wallClock else { return false }
        for index in flight.calls.indices { flight.calls[index].notBefore = start }
        return delay(flight, until: start)
    }

    /// Puts a request into a delay lane whose calls all wait, if the first of them waits for long.
    ///
    /// - Returns: Whether it is there.
    func delayWaiting(_ flight: Flight) -> Bool {
        guard !delayLanes.available.isEmpty || flight.key != nil, flight.cancellation == nil, flight.onlyWaits else {
            return false
        }
        return flight.nextMoment(now: now, at: wallClock).map { delay(flight, until: $0) } ?? false
    }

    /// Does so where the wait is long, or short if it `isLeft`: the partition's next owner is to know what became of its calls.
    func delay(_ flight: Flight, until due: Timestamp, isLeft: Bool = false) -> Bool {
        let (moment, expiry) = (min(due, flight.request.expiresAt ?? due), flight.request.expiresAt)
        var lane = flight.key == nil ? delayLanes.lane(for: moment.milliseconds(since: wallClock)) : nil
        if isLeft && flight.key == nil { lane = lane ?? delayLanes.laneToNextOwner(expiresAt: expiry, now: wallClock) }
        guard lane != nil || flight.key != nil else { return false }
        let history = flight.history(isInDoubt: mayHaveBeenBegun(flight), now: now, at: wallClock)
        if let key = flight.key { return hold(flight, key: key, until: moment, history: history, isLeft: isLeft) }
        guard let lane else { return false }
        write(flight, to: lane, until: moment, history: history)
        return true
    }

    /// Hands a request on from lane to lane, as it is.
    func delayFurther(_ flight: Flight, delayed: DelayedRecord) -> Bool {
        guard flight.request.expiresAt.map({ $0 > wallClock }) ?? true,
            let lane = delayLanes.lane(for: delayed.due.milliseconds(since: wallClock))
        else { return false }
        write(flight, to: lane, until: delayed.due, history: delayed.text)
        return true
    }

    private func write(_ flight: Flight, to lane: Int, until due: Timestamp, history: borrowing ByteWriter) {
        recorders.delays.record(flight, to: .delay(lane), due: due, history: history, into: &outbox)
        metrics.delayed(in: lane)
        log.debug(
            .requestDelayed, "a request waits in a delay lane",
            [
                .requestID: .string(flight.request.document.string(flight.request.id)),
                .delayMilliseconds: LogValue(due.milliseconds(since: wallClock)),
                .topic: .string(configuration.topics.delays[lane]),
            ])
        ports[flight.port].waitingForRetry -= flight.calls.count { $0.phase == .waiting }
        settle(flight)
    }
}
