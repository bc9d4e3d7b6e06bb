import Basics
import Delivery
import PushModel

/// The life of a request's calls beside sending: they wait, have their turn, are cancelled, change the hub, and end.
extension WorkerLoop {
    /// Waits beyond this are taken in steps, one day in milliseconds.
    static let longestWait: Int64 = 86_400_000

    /// The time after which a call that a hold keeps in memory asks again: 1 s in nanoseconds.
    private static let heldStep: Int64 = 1_000_000_000

    /// Puts a call into the queue, or lets it wait for the request's `not_before` or for what is left of its own wait.
    func schedule(_ flight: Flight, call index: Int) {
        if let start = flight.work.calls[index].notBefore ?? flight.request.notBefore, start > wallClock {
            wait(flight, call: index, for: start)
        } else {
            queue(flight, call: index)
        }
    }

    /// Puts a call that may be made into the queue of its lane.
    private func queue(_ flight: Flight, call index: Int) {
        let port = ports[flight.route.port]
        if port.isRetired { return reroute(flight) }
        port.queue(flight, call: index)
    }

    /// Lets a call wait for a moment of the wall clock.
    private func wait(_ flight: Flight, call index: Int, for start: Timestamp) {
        let delay = min(start.milliseconds(since: wallClock), Self.longestWait)
        wait(flight, call: index, until: now + delay * 1_000_000, notBefore: start)
    }

    /// Lets a call wait for a moment of the monotonic clock, or for long in a delay lane when nothing else must be done for its request.
    /// While partitions are given up, leaves the request to their next owner.
    func wait(_ flight: Flight, call index: Int, until due: MonotonicTime, notBefore: Timestamp? = nil) {
        ports[flight.route.port].wait(flight, call: index, until: due, notBefore: notBefore)
        if mode == .running ? delayWaiting(flight) : leave(flight) { return }
        flights.setTimer(of: flight, call: index, at: due)
    }

    /// Has a call wait whose turn has come although a hold concerns its request: with the others of it in a lane, or else here.
    ///
    /// - Returns: False if no hold concerns it.
    func keepBack(_ flight: Flight, call index: Int) -> Bool {
        guard let order = hold(of: flight) else { return false }
        wait(flight, call: index, until: now + Self.heldStep)
        if flight.isActive, mode == .running, flight.work.cancellation == nil, flight.work.onlyWaits {
            _ = delay(flight, by: order)
        }
        return true
    }

    /// Puts calls whose wait is over into the queue. A wait taken in steps goes on.
    func handleTimers() {
        while let (flight, index) = flights.nextDue(now) {
            if let start = flight.work.calls[index].notBefore, start > wallClock {
                wait(flight, call: index, for: start)
                continue
            }
            ports[flight.route.port].makeReady(flight, call: index)
            queue(flight, call: index)
        }
    }

    /// Lets a request whose hub is gone wait for the one that it goes to now. With a call in flight, it does so when that has
    /// ended.
    func reroute(_ flight: Flight) {
        guard flight.wait.poll == nil, !flight.work.calls.isEmpty, !flight.work.hasCallInFlight else { return }
        let former = ports[flight.route.port]
        findHub(of: flight)
        let port = ports[flight.route.port]
        former.handOver(flight, to: port)
        guard flight.route.joinQueue(of: port.queue(of: flight)) else {
            if flight.route.fault != nil, holdUnrouted(flight) { return }
            endUnrouted(flight)
            return
        }
        for index in flight.work.calls.indices where flight.work.calls[index].phase == .ready { queue(flight, call: index) }
    }

    /// Ends the calls that wait of a request that has no hub. What an earlier attempt or worker did stays in the result.
    func endUnrouted(_ flight: Flight) {
        flight.forEachCall(where: \.isWaiting) {
            end(flight, call: $0, as: .permanent, code: .unknownHub, detail: "the settings have no hub for the request")
        }
    }

    /// Ends a request of which attempts were made, because another version, or other settings, would make other calls of it.
    func giveUp(_ flight: Flight, delayed: DelayedRecord) {
        flight.replaceCalls(by: delayed.history, report: delayed.report)
        for index in flight.work.calls.indices where flight.work.calls[index].phase != .done {
            end(
                flight, call: index, as: .transient, code: .internal,
                detail: "other settings gave the request other calls while it waited")
        }
    }

    /// Ends the calls of a request that wait.
    func cancel(_ flight: Flight, by cancellation: Cancellations.Cancellation) {
        flight.work.note(cancellation)
        flight.forEachCall(where: \.isWaiting) { end(flight, call: $0, by: cancellation) }
    }

    /// Ends a call because its request is cancelled. Of one that may have arrived, the attempt's own code says more.
    func end(_ flight: Flight, call index: Int, by cancellation: Cancellations.Cancellation) {
        if !flight.work.calls[index].mayHaveArrived { flight.noteCode(.cancelled, ofCall: index) }
        flight.noteDetail(cancellation.reason.map { "cancelled: \($0)" } ?? "cancelled", ofCall: index)
        end(flight, call: index, as: .cancelled)
    }

    /// Ends a call because its request is of no use any more.
    func expire(_ flight: Flight, call index: Int) {
        let isHeld = wasHeld(flight, at: flight.request.expiresAt)
        end(
            flight, call: index, as: .expired, code: isHeld ? .expiredOnHold : .expiredInQueue,
            detail: isHeld ? "the request expired while a hold stood" : "the request expired before the hub had taken it")
    }

    /// Ends a call with an outcome that no answer gave.
    func end(_ flight: Flight, call index: Int, as outcome: Outcome, code: ErrorCode, detail: StaticString) {
        flight.noteCode(code, ofCall: index)
        flight.noteDetail("\(detail)", ofCall: index)
        end(flight, call: index, as: outcome)
    }

    /// Ends a call. With the last one the request is finished.
    func end(_ flight: Flight, call index: Int, as outcome: Outcome) {
        // Once an attempt may have reached devices, only a success makes it certain again.
        let isDoubtful = outcome != .success && (flight.work.calls[index].mayHaveArrived || mayHaveBeenBegun(flight))
        ports[flight.route.port].end(flight, call: index, as: isDoubtful ? .ambiguous : outcome)
        if flight.work.openCalls == 0 {
            finish(flight)
        } else if mode == .running {
            _ = delayWaiting(flight)
        } else {
            leave(flight)
        }
    }
}
