import Basics
import Delivery
import PushModel

extension WorkerLoop {
    /// Puts a call into the queue, or lets it wait for the request's `not_before` or for what is left of its own wait.
    func schedule(_ flight: Flight, call index: Int) {
        if let start = flight.calls[index].notBefore ?? flight.request.notBefore, start > wallClock {
            wait(flight, call: index, for: start)
        } else {
            queue(flight, call: index)
        }
    }

    /// Ends a request of which attempts were made, because another version, or other settings, would make other calls of it.
    func giveUp(_ flight: Flight, delayed: DelayedRecord) {
        flight.report = delayed.report
        flight.calls = delayed.history.calls.map { _ in Flight.Call() }
        flight.openCalls = flight.calls.count
        flight.resume(after: delayed.history)
        for index in flight.calls.indices where flight.calls[index].phase != .done {
            end(
                flight, call: index, as: .transient, code: .internal,
                detail: "other settings gave the request other calls while it waited")
        }
    }

    /// Begins the assignment again if a partition ends before the group's position: then it is found out where to read it.
    func examinePartitionsBehindCommit() {
        guard !membership.behindCommit.isEmpty, membership.ownsPartitions else { return }
        beginAssignmentAgain(because: "a partition ends before the group's position")
    }
}

extension Flight {
    func resume(after history: DeliveryHistory) {
        for (index, state) in history.calls.enumerated() {
            calls[index].attempt = report.calls[index].attemptCount
            calls[index].mayHaveArrived = state.mayHaveArrived
            calls[index].notBefore = state.due
            if state.due == nil {
                calls[index].phase = .done
                openCalls -= 1
            }
        }
    }
}
