import Basics
import Delivery
import FanOut
import Payloads
import PushModel

extension Flight {
    /// The state of one hub call.
    enum Phase {
        /// Waits for its turn. Goes to each of the others.
        case ready
        /// Handed to a connection. Goes to each of the others.
        case inFlight
        /// Waits for a timer. Goes to `ready`, or is over.
        case waiting
        /// Has its outcome. Goes nowhere.
        case done

        /// True if nothing of the call is in flight.
        var isWaiting: Bool { self == .ready || self == .waiting }
    }

    /// One hub call of the request.
    struct Call {
        private(set) var phase = Phase.ready
        /// The attempts made, the one in flight included.
        var attempt = 0
        /// True if an attempt ended without showing if the hub took it.
        var mayHaveArrived = false
        /// True if an attempt failed while calls of others succeeded: then what it shows is about the call, not about the hub.
        var failsAlone = false
        /// The role of the attempt in flight for the hub's circuit breaker.
        var circuitCall: CircuitBreaker.Call?
        /// The index of the payload that it sends, among the flight's.
        var payload = 0
        /// The number of the token that the attempt in flight was signed with.
        var tokenSerial: UInt64 = 0
        /// The moment when the wait for the next attempt is over, monotonic nanoseconds.
        var due = MonotonicTime.past
        /// The moment before which the next attempt must not be made, where it is known by the wall clock.
        var notBefore: Timestamp?
        /// The beginning of the attempt in flight: monotonic nanoseconds, and wall clock.
        var startedAt = MonotonicTime.past
        var startedAtWall = Timestamp(milliseconds: 0)

        /// Enters a phase.
        ///
        /// - Returns: The change of the number of calls that wait for a timer: -1, 0 or 1. The hub's port counts them.
        mutating func enter(_ new: Phase) -> Int {
            defer { phase = new }
            return (new == .waiting ? 1 : 0) - (phase == .waiting ? 1 : 0)
        }

        /// Goes on, before anything was done for the call, with the state that an earlier record has of it.
        mutating func resume(_ state: DeliveryHistory.CallState, attempts: Int) {
            attempt = attempts
            mayHaveArrived = state.mayHaveArrived
            notBefore = state.due
            if state.due == nil { phase = .done }
        }
    }

    /// The work on a request: its calls, and what they send. `HubPort` changes the phases of calls, and counts them.
    struct Work {
        var calls: [Call] = []
        /// Calls without an outcome.
        var openCalls = 0
        /// True if a call was made since the record was read.
        var wasSent = false
        /// The cancellation of the request, if there is one: then no call is begun any more.
        private(set) var cancellation: Cancellations.Cancellation?
        var plan = FanOutPlan()
        /// The rendered payloads. The first `payloadCount` belong to this request.
        var payloads: [RenderedPayload] = []
        private(set) var payloadCount = 0

        /// True if a call of the flight is with a connection.
        @inline(__always) var hasCallInFlight: Bool { calls.contains { $0.phase == .inFlight } }

        /// True if all its calls wait for a moment, or have their outcome.
        @inline(__always) var onlyWaits: Bool { calls.allSatisfy { $0.phase == .waiting || $0.phase == .done } }

        /// The memory that it takes. It is the room of lists that the next request uses again.
        @inline(__always) var byteCount: Int {
            var count = plan.byteCount + calls.capacity * MemoryLayout<Call>.stride
            for index in payloads.indices { count += payloads[index].byteCount }
            return count
        }

        /// Begins with another request. The room of all lists stays.
        mutating func begin() {
            calls.removeAll(keepingCapacity: true)
            (openCalls, payloadCount, wasSent, cancellation) = (0, 0, false, nil)
        }

        /// Renders another payload.
        mutating func addPayload<Failure: Error>(
            from render: (inout RenderedPayload) throws(Failure) -> Void
        ) throws(Failure) {
            if payloads.count == payloadCount { payloads.append(.init()) }
            try render(&payloads[payloadCount])
            payloadCount += 1
        }

        /// Lends the plan, and the payload of a call, without copying them.
        @inline(__always)
        mutating func lendCall<Result, Failure: Error>(
            _ index: Int, to body: (borrowing FanOutPlan, borrowing RenderedPayload) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try lend(&plan, and: &payloads[calls[index].payload], to: body)
        }

        /// Notes the cancellation of the request, or that there is none.
        mutating func note(_ cancellation: Cancellations.Cancellation?) { self.cancellation = cancellation }

        /// Has all calls wait until a moment.
        mutating func postpone(until start: Timestamp) {
            for index in calls.indices { calls[index].notBefore = start }
        }

        /// Has the calls that wait do so until a moment at least.
        mutating func postponeWaiting(until due: Timestamp) {
            for index in calls.indices where calls[index].phase.isWaiting {
                calls[index].notBefore = max(calls[index].notBefore ?? due, due)
            }
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
    }
}

extension Flight.Call {
    /// Begins an attempt.
    mutating func begin(role: CircuitBreaker.Call, token: UInt64, now: MonotonicTime, at time: Timestamp) {
        circuitCall = role
        attempt += 1
        tokenSerial = token
        startedAt = now
        startedAtWall = time
    }

    /// Takes down the end of its wait.
    mutating func wait(until due: MonotonicTime, notBefore: Timestamp?) {
        self.due = due
        self.notBefore = notBefore
    }

    /// Notes that it fails while others succeed.
    mutating func noteFailsAlone() { failsAlone = true }

    /// Takes its role for the circuit breaker, which hears of the end of an attempt once.
    mutating func takeCircuitCall() -> CircuitBreaker.Call? {
        defer { circuitCall = nil }
        return circuitCall
    }

    /// The moment when the call may be made, by the wall clock. Not before its timer, though this counts whole milliseconds.
    func moment(now: MonotonicTime, at time: Timestamp) -> Timestamp {
        if let notBefore { return notBefore }
        return phase == .waiting ? time.adding(milliseconds: (due - now + 999_999) / 1_000_000) : time
    }
}
