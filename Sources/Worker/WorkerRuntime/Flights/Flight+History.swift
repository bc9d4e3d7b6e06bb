import Basics
import Delivery
import FanOut
import PushModel

/// The known facts of a request's calls, for the record that it waits in.
extension Flight {
    /// True if all its calls wait for a moment, or have their outcome.
    var onlyWaits: Bool { calls.allSatisfy { $0.phase == .waiting || $0.phase == .done } }

    /// The facts of it that count when its partition is given up, as far as it knows them itself.
    var drainFacts: DrainFacts {
        var facts: DrainFacts = []
        if hasCallInFlight { facts.insert(.hasCallInFlight) }
        if wasSent { facts.insert(.wasSent) }
        if mustFinish { facts.insert(.mayHaveArrived) }
        if cancellation != nil { facts.insert(.isCancelled) }
        return facts
    }

    /// The moment when the first of its calls may be made, or nil when all have their outcome. `time` is `now` by the wall clock.
    func nextMoment(now: MonotonicTime, at time: Timestamp) -> Timestamp? {
        var earliest: Timestamp?
        for call in calls where call.phase != .done {
            let moment = call.moment(now: now, at: time)
            earliest = min(earliest ?? moment, moment)
        }
        return earliest
    }

    /// The history of its calls, of which none is in flight, as the text of a `DeliveryHistory`. `isInDoubt` if a worker before
    /// this one may have made any of them.
    func history(isInDoubt: Bool, now: MonotonicTime, at time: Timestamp) -> ByteWriter {
        let states = calls.map { call in
            DeliveryHistory.CallState(
                mayHaveArrived: call.mayHaveArrived || isInDoubt, due: call.phase == .done ? nil : call.moment(now: now, at: time)
            )
        }
        var history = ByteWriter()
        DeliveryHistory(plan: plan.digest, calls: states).append(report, to: &history)
        return history
    }
}

extension Flight.Call {
    /// The moment when the call may be made, by the wall clock. Not before its timer, though this counts whole milliseconds.
    fileprivate func moment(now: MonotonicTime, at time: Timestamp) -> Timestamp {
        if let notBefore { return notBefore }
        return phase == .waiting ? time.adding(milliseconds: (due - now + 999_999) / 1_000_000) : time
    }
}
