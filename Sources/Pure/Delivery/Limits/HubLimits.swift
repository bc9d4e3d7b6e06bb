public import Basics

/// Everything that limits the calls to one hub: what it asked for, whether it has worked yet or is out, how much it bears at once, and the
/// rate.
///
/// Times are nanoseconds of a monotonic clock that the owner reads.
public struct HubLimits: Sendable {
    /// The rest that the hub asked for.
    public var pause = HubPause()
    /// True if no call may start because the hub has not worked yet, whatever else allows it (`HubAvailability.hold`).
    public var isHeld = false
    /// True if the hub has refused a token and taken none since. Calls then go one at a time, so that few are lost by a wrong key, and those
    /// that a change of the key finds in flight do not open the circuit.
    public var isKeyInDoubt = false
    /// The circuit, which says whether the hub is out.
    public var circuit = CircuitBreaker()
    /// The limit of calls that may be in flight at once.
    public var concurrency: ConcurrencyLimit
    /// The limit of calls that may start in a second, or nil for as many as there are.
    public var rate: RateLimit?
    /// The pace that lets fewer start while the hub throttles some of them.
    private(set) var pace = Pace()
    private var refusals = Refusals()
    private var slow = SlowCalls()
    /// Calls in flight.
    public private(set) var inFlight = 0
    /// Calls that were started since the last poll, where there is a rate.
    private var callsSincePoll = 0
    /// The calls for one poll while both wait for the rate.
    private static let callsPerPoll = 3

    /// Limits of a hub that was not called yet.
    public init(concurrency: ConcurrencyLimit, rate: RateLimit? = nil) {
        self.concurrency = concurrency
        self.rate = rate
    }

    /// True if a call may start at `now`. The first one after an outage is the circuit's probe.
    public mutating func mayStart(now: MonotonicTime) -> Bool {
        !isHeld && inFlight < places(now: now) && pause.end(now: now) == nil && pace.hasCall(now: now)
            && rate?.hasCall(now: now) ?? true && circuit.mayStart(now: now)
    }

    /// The number of calls that may be in flight at `now`: as many as the limit says, and one more for each that takes far longer
    /// than usual while others are answered. When all that are in flight take so long, one more may find out whether the hub
    /// still answers. Never more than the most that the limit can be, and one beside those while the key is in doubt.
    public mutating func places(now: MonotonicTime) -> Int {
        slow.advance(now: now)
        if isKeyInDoubt { return min(1 + slow.count, concurrency.most) }
        guard slow.count > 0 else { return concurrency.limit }
        if slow.isAnswering(now: now) { return min(concurrency.limit + slow.count, concurrency.most) }
        return slow.count < inFlight ? concurrency.limit : min(max(concurrency.limit, inFlight + 1), concurrency.most)
    }

    /// True if a call says nothing about the hub if it fails again: an attempt failed, and a call that was started no earlier
    /// succeeded.
    ///
    /// - Parameters:
    ///   - attempt: How often it was made, from 0.
    ///   - startedAt: When it was started last.
    /// - Returns: Whether its failure is its own.
    public func failsAlone(attempt: Int, startedAt: MonotonicTime) -> Bool {
        attempt > 0 && startedAt > .past && circuit.hasSucceeded(since: startedAt)
    }

    /// True if a call should let others go first as probes of a hub that is out: it failed before, so that its failure may be its
    /// own.
    ///
    /// - Parameter attempt: How often it was made, from 0.
    /// - Returns: Whether others should go first.
    public func isUnfitAsProbe(attempt: Int) -> Bool { attempt > 0 && circuit.state != .closed }

    /// True if it is known that the hub takes no call for some nanoseconds: it is held, its circuit is not closed, or it asked for a pause
    /// as long.
    public mutating func isOut(for time: Int64, now: MonotonicTime) -> Bool {
        isHeld || circuit.state != .closed || pause.end(now: now).map { $0 - now >= time } ?? false
    }

    /// The end of the wait of a call that wants to start at `now`. Nil when it may, `never` when only something else than
    /// time can change it.
    public mutating func waitEnd(now: MonotonicTime) -> MonotonicTime? {
        if isHeld || inFlight >= places(now: now) { return .never }
        var end = pause.end(now: now)
        if let change = circuit.nextChange, change > now { end = max(end ?? change, change) }
        if let call = pace.nextCall(now: now) { end = max(end ?? call, call) }
        if let call = rate?.nextCall(now: now) { end = max(end ?? call, call) }
        return end
    }

    /// Notes that a call starts, for which `mayStart` was true at `now`. The circuit must learn how it ended.
    public mutating func started(now: MonotonicTime) -> CircuitBreaker.Call {
        inFlight += 1
        slow.started()
        concurrency.started(inFlight: inFlight - slow.count)
        pace.started()
        if rate != nil {
            rate?.started()
            callsSincePoll += 1
        }
        return circuit.started(now: now)
    }

    /// True if a telemetry poll may start at `now`: as a call, but never as a probe of a hub that is out, and while calls wait
    /// for the rate only one for three of them.
    public mutating func mayAsk(now: MonotonicTime, areCallsWaiting: Bool) -> Bool {
        guard !isHeld, circuit.state == .closed, inFlight < places(now: now), pause.end(now: now) == nil else { return false }
        guard let hasCall = rate?.hasCall(now: now) else { return true }
        return hasCall && (!areCallsWaiting || callsSincePoll >= Self.callsPerPoll)
    }

    /// Notes that a poll starts, for which `mayAsk` was true: it has a place and its part of the rate. Its end says nothing of the
    /// circuit and of how many calls the hub bears.
    public mutating func startedPoll() {
        inFlight += 1
        slow.started()
        rate?.started()
        callsSincePoll = 0
    }

    /// Notes that a call, or a poll, is not in flight any more, however it ended. A poll names no start, nor does a call whose
    /// start is not known any more.
    public mutating func noteEnd(startedAt: MonotonicTime? = nil) {
        inFlight -= 1
        slow.noteEnd(startedAt: startedAt)
    }

    /// Takes in how a call ended, for what the hub bears at once.
    ///
    /// A call that is lost after far longer than usual, while one that was started later has succeeded, tells nothing of that.
    ///
    /// - Parameters:
    ///   - startedAt: When it was started.
    ///   - now: The present moment.
    ///   - isLost: Whether the hub did not answer, or as one that is overloaded.
    public mutating func noteEnd(startedAt: MonotonicTime, now: MonotonicTime, isLost: Bool) {
        let duration = now - startedAt
        if !isLost {
            slow.answered(after: duration, now: now)
        } else if duration > slow.patience && circuit.hasSucceeded(since: startedAt) {
            return
        }
        concurrency.noteEnd(startedAt: startedAt, now: now, isLost: isLost)
    }

    /// Takes in an answer of the hub's, for its pace: where it throttles some calls, fewer start.
    ///
    /// - Parameters:
    ///   - isRefusal: Whether it throttles.
    ///   - now: The present moment.
    /// - Returns: Whether the hub refuses as a whole, so that what it asks for with Retry-After holds for all calls.
    public mutating func answered(isRefusal: Bool, now: MonotonicTime) -> Bool {
        let refusesAll = refusals.answered(isRefusal: isRefusal, now: now)
        // What all calls wait for says nothing of how fast they may go afterwards, and a round with a rest in it has no rate.
        if refusesAll || pause.end(now: now) != nil { pace = Pace() } else { pace.answered(isRefusal: isRefusal, now: now) }
        return refusesAll
    }

    /// Notes at the end of a turn whether calls are left that wait to start.
    public mutating func noteWaiting(_ isWaiting: Bool, now: MonotonicTime) {
        guard rate != nil else { return }
        let isForRate =
            isWaiting && !isHeld && inFlight < places(now: now) && pause.end(now: now) == nil
            && circuit.inFlightAllowance > inFlight
            && rate?.hasCall(now: now) == false
        rate?.noteWaiting(isForRate, now: now)
    }
}
