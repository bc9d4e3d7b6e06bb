public import Basics

/// Stops the calls to a hub that is out, so that an outage is waited for and not stormed, and lets them in again step by step.
///
/// A failure here is the hub's own: no connection, no usable answer in time, or a status of 500 and above. Every other answer,
/// 429 too, shows a hub that works and is a success; what throttling asks for is `HubPause`'s. While closed, a failure is no evidence
/// when a call has succeeded that was started no earlier: the hub was not out.
///
///     closed     every call may start; too many failures → open
///     open       no call may start; when its wait is over → half-open
///     half-open  one probe; a success doubles the allowance → closed, a failure halves it → open for longer
///
/// Only calls that were started in the present state count, so a call that was in flight when the circuit opened changes nothing any
/// more. Moments are nanoseconds of a monotonic clock that the owner reads.
public struct CircuitBreaker: Sendable, Equatable {
    /// The settings of a circuit breaker.
    public struct Configuration: Sendable, Equatable {
        /// Failures one after the other that open the circuit when they went on for 0.1 s. Four times as many do at once.
        /// Where more than one call of twenty fails anyway, more are needed (`FailureRow`). Default 5, at least 1.
        public var failuresInRow = 5
        /// The first wait, nanoseconds. Default and least 1 s, which keeps a worker below two probes a second.
        public var firstWait: Int64 = 1_000_000_000
        /// The longest wait, nanoseconds. Waits double up to it. Default 5 s, at least the first one and at most 30 s.
        public var longestWait: Int64 = 5_000_000_000
        /// The allowance with which the circuit is closed again. Default 64, at least 2.
        public var fullAllowance = 64

        /// The defaults.
        public init() {}
    }

    /// The states of a circuit, which decide whether calls may start.
    public enum State: Sendable, Equatable {
        /// Calls may start.
        case closed
        /// No call may start until then.
        case open(until: MonotonicTime)
        /// A few calls may start as probes.
        case halfOpen
    }

    /// The reason why the circuit opened.
    public enum OpenCause: String, Sendable, CaseIterable {
        /// Too many failures one after the other.
        case failuresInRow = "failures_in_row"
        /// Nine of ten calls of 5 – 10 s failed, and they were 20 at least.
        case failureShare = "failure_share"
    }

    /// A call that was started, to be handed back once when it ended.
    public struct Call: Sendable, Equatable {
        fileprivate let turn: Int
        fileprivate let series: Int
        fileprivate let startedAt: MonotonicTime
    }

    private let configuration: Configuration
    /// The state, which decides whether calls may start.
    public private(set) var state = State.closed
    /// The reason why the circuit is not closed, or nil while it is.
    public private(set) var reason: OpenCause?
    /// The number of times that the circuit left the closed state.
    public private(set) var openingCount = 0

    private var recent: RecentFailures
    /// The number of the present state. Calls of an earlier one have no say.
    private var turn = 0
    /// The number of the calls that are waited for. An answer to an earlier call of this turn still tells that the hub is only
    /// slow, but its failure says nothing of the hub as it is now.
    private var series = 0
    /// The calls of this series in flight.
    private var inFlight = 0
    private var allowance = 1
    private var wait: Int64
    /// The moment at which a call of this series last started or ended.
    private var lastMove = MonotonicTime.past
    /// The start of the call that started last of those that succeeded.
    private var lastSuccess = MonotonicTime.past

    /// A closed circuit. Values outside their range are clamped.
    public init(_ configuration: Configuration = Configuration()) {
        var configuration = configuration
        configuration.failuresInRow = max(1, configuration.failuresInRow)
        configuration.firstWait = min(max(configuration.firstWait, 1_000_000_000), 30_000_000_000)
        configuration.longestWait = min(max(configuration.longestWait, configuration.firstWait), 30_000_000_000)
        configuration.fullAllowance = max(2, configuration.fullAllowance)
        self.configuration = configuration
        recent = RecentFailures(longestRow: configuration.failuresInRow)
        wait = configuration.firstWait
    }

    /// True if a call may start at `now`. The first one after the wait is the probe.
    public mutating func mayStart(now: MonotonicTime) -> Bool {
        switch state {
        case .closed: return true
        case .open(let until):
            guard now >= until else { return false }
            begin(.halfOpen)
            return true
        case .halfOpen:
            if inFlight < allowance { return true }
            guard now >= patienceEnd else { return false }
            beginSeries()
            return true
        }
    }

    /// Notes that a call starts, for which `mayStart` was true at `now`.
    public mutating func started(now: MonotonicTime) -> Call {
        inFlight += 1
        lastMove = now
        return Call(turn: turn, series: series, startedAt: now)
    }

    /// Notes that the hub answered with anything below 500.
    public mutating func succeeded(_ call: Call, now: MonotonicTime) {
        guard noteEnd(call, now: now) else { return }
        lastSuccess = max(lastSuccess, call.startedAt)
        switch state {
        case .closed: _ = recent.noteEnd(isFailure: false, now: now)
        case .halfOpen:
            allowance = min(allowance * 2, configuration.fullAllowance)
            if allowance == configuration.fullAllowance { close() }
        case .open: break
        }
    }

    /// True if a call has succeeded that was started at `start` or later.
    public func hasSucceeded(since start: MonotonicTime) -> Bool { lastSuccess >= start }

    /// Notes that the hub did not answer, or with 500 or above.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - isOwnFault: Whether the call failed before while others succeeded: then it tells nothing about the hub.
    ///   - now: The present moment.
    ///   - generator: Draws how long to wait if the circuit opens.
    public mutating func noteFailure(
        _ call: Call, isOwnFault: Bool = false, now: MonotonicTime, using generator: inout some RandomNumberGenerator
    ) {
        guard !isOwnFault else { return abandoned(call, now: now, using: &generator) }
        guard call.series == series, noteEnd(call, now: now) else { return }
        switch state {
        case .closed:
            guard !hasSucceeded(since: call.startedAt) else { return }
            guard let reason = recent.noteEnd(isFailure: true, now: now) else { return }
            self.reason = reason
            openingCount += 1
            open(now, using: &generator)
        case .halfOpen:
            guard allowance == 1 else {
                allowance /= 2
                return
            }
            wait = min(wait * 2, configuration.longestWait)
            open(now, using: &generator)
        case .open: break
        }
    }

    /// Notes that a call ended without telling anything about the hub: it was cancelled, or never sent.
    public mutating func abandoned(_ call: Call, now: MonotonicTime, using generator: inout some RandomNumberGenerator) {
        guard call.series == series, noteEnd(call, now: now) else { return }
        // The next probe waits as long as this one did: probes that tell nothing are no reason to hurry.
        if state == .halfOpen && allowance == 1 { open(now, using: &generator) }
    }

    /// The moment from which a call may start that may not now, or nil if one may, or if only the end of a call can change that.
    ///
    /// It may lie in the past, so it matters only while there is a call to start.
    public var nextChange: MonotonicTime? {
        switch state {
        case .closed: nil
        case .open(let until): until
        case .halfOpen: inFlight < allowance ? nil : patienceEnd
        }
    }

    /// The number of calls that may be in flight: 0 while open, growing while half-open, as good as unlimited while closed.
    public var inFlightAllowance: Int {
        switch state {
        case .closed: .max
        case .open: 0
        case .halfOpen: allowance
        }
    }

    /// Calls that hang are not waited for longer than the longest wait: then it starts again with one probe.
    private var patienceEnd: MonotonicTime { lastMove + configuration.longestWait }

    /// Notes the end of a call. Returns whether it has a say.
    private mutating func noteEnd(_ call: Call, now: MonotonicTime) -> Bool {
        guard call.turn == turn else { return false }
        if call.series == series {
            inFlight -= 1
            lastMove = now
        }
        return true
    }

    private mutating func begin(_ state: State) {
        self.state = state
        turn += 1
        beginSeries()
    }

    private mutating func beginSeries() {
        series += 1
        inFlight = 0
        allowance = 1
    }

    /// Up to a quarter of the wait, in milliseconds, is left out by chance, so that workers do not probe all at once.
    private mutating func open(_ now: MonotonicTime, using generator: inout some RandomNumberGenerator) {
        let leftOut = Int64.random(in: 0...wait / 4_000_000, using: &generator) * 1_000_000
        begin(.open(until: now + (wait - leftOut)))
    }

    /// The calls of the last turn are still in flight and still count.
    private mutating func close() {
        state = .closed
        reason = nil
        wait = configuration.firstWait
        recent.restart()
    }
}
