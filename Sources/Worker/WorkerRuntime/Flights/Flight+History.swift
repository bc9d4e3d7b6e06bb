import Basics
import Delivery
import FanOut
import PushModel

/// The known facts of a request's calls, for the record that it waits in.
extension Flight {
    /// The facts of it that count when its partition is given up, as far as it knows them itself.
    var drainFacts: DrainFacts {
        var facts: DrainFacts = []
        if work.hasCallInFlight { facts.insert(.hasCallInFlight) }
        if work.wasSent { facts.insert(.wasSent) }
        if mustFinish { facts.insert(.mayHaveArrived) }
        if work.cancellation != nil { facts.insert(.isCancelled) }
        return facts
    }

    /// The history of its calls, of which none is in flight, as the text of a `DeliveryHistory`. `isInDoubt` if a worker before
    /// this one may have made any of them.
    func history(isInDoubt: Bool, now: MonotonicTime, at time: Timestamp) -> ByteWriter {
        let states = work.states(isInDoubt: isInDoubt, now: now, at: time)
        var history = ByteWriter()
        DeliveryHistory(plan: work.plan.digest, calls: states).append(report, to: &history)
        return history
    }
}
