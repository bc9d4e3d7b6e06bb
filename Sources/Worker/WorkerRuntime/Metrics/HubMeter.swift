import CurlHTTP
import Delivery
import Observability
import PushModel

/// The metrics of one hub, with the series that every request touches looked up once.
final class HubMeter {
    private let metrics: PushfanMetrics
    private let tally: LoopTally
    /// The calls of this loop that were answered, or failed.
    private(set) var callCount: Int64 = 0
    private let hub: String
    private var oldestWaiting: WaitGauge
    private let sendLimit: GaugeShare
    private let circuitState: GaugeShare
    private let keyRefused: GaugeShare
    private let inFlight: GaugeShare
    private let retryQueue: GaugeShare
    private let limitedBy: [GaugeShare]
    /// The limit that was published, if any was.
    private var limit: CallLimit.Cause??
    private var turn = (inFlight: 0, waiting: 0)
    private let throttled: SecondsCounter
    /// None for a hub whose rate has no limit.
    private let rate: (limit: GaugeShare, wait: SecondsCounter)?
    private let publishToFinal: Histogram
    private var finishedByOutcome: [Outcome: Counter] = [:]
    private var sendsByKey: [Int: Counter] = [:]
    private var durations: [Histogram] = []
    /// The counters of the latest outcome and of the latest answer, which are mostly those of the next.
    private var latestFinished: (outcome: Outcome, counter: Counter)?
    private var latestSent: (key: Int, counter: Counter)?
    private var latestPolled: (status: Int, counter: Counter)?
    private var latestOutcome: (reason: String, counter: Counter)?
    private var throttledBefore: Int64 = 0
    private var waitedBefore: Int64 = 0
    private var opened: CounterShare
    private var retired: CounterShare
    private var moved: CounterShare

    init(_ metrics: PushfanMetrics, gauges: HubGauges, loop: Int, tally: LoopTally, hub: String) {
        self.metrics = metrics
        self.tally = tally
        self.hub = hub
        oldestWaiting = WaitGauge(gauges.oldestWaiting.share(of: loop))
        sendLimit = gauges.sendLimit.share(of: loop)
        circuitState = gauges.circuitState.share(of: loop)
        keyRefused = gauges.keyRefused.share(of: loop)
        inFlight = gauges.inFlight.share(of: loop)
        retryQueue = gauges.retryQueue.share(of: loop)
        limitedBy = gauges.limitedBy.map { $0.share(of: loop) }
        throttled = metrics.throttledTime.series([hub])
        rate = gauges.rateLimit.map { ($0.share(of: loop), metrics.rateWait.series([hub])) }
        publishToFinal = metrics.publishToFinal.series([hub])
        opened = CounterShare(metrics.connectionsOpened.series([hub]))
        retired = CounterShare(metrics.connectionsRetired.series([hub]))
        moved = CounterShare(metrics.sendsMoved.series([hub]))
        for outcome in Outcome.allCases { finishedByOutcome[outcome] = metrics.requestsFinished.series([hub, outcome.rawValue]) }
        for index in 0...Platform.allCases.count {
            durations.append(metrics.sendDuration.series([hub, Self.name(of: Platform(rawValue: UInt8(index)))]))
        }
    }

    private static func name(of platform: Platform?) -> String { "\(platform?.name ?? "template")" }

    private static func index(of platform: Platform?) -> Int { platform.map { Int($0.rawValue) } ?? Platform.allCases.count }

    private func noteCall() {
        callCount += 1
        tally.noteCall()
    }

    /// Counts an answer: successes by class, everything else by status.
    func sent(_ platform: Platform?, status: Int, nanoseconds: Int64) {
        noteCall()
        let index = Self.index(of: platform)
        durations[index].observe(nanoseconds: nanoseconds)
        let code = (200..<300).contains(status) ? 2 : status
        let key = index << 16 | code
        let counter = latestSent?.key == key ? latestSent?.counter : nil
        (counter ?? self.counter(of: platform, code: code, key: key)).increment()
    }

    private func counter(of platform: Platform?, code: Int, key: Int) -> Counter {
        if let counter = sendsByKey[key] {
            latestSent = (key, counter)
            return counter
        }
        let label = code == 2 ? "2xx" : (400..<600).contains(code) ? "\(code)" : "other"
        let counter = metrics.sends.series([hub, Self.name(of: platform), label])
        sendsByKey[key] = counter
        latestSent = (key, counter)
        return counter
    }

    /// Counts a call without an answer.
    func countFailure(_ platform: Platform?, reason: String, nanoseconds: Int64) {
        noteCall()
        durations[Self.index(of: platform)].observe(nanoseconds: nanoseconds)
        metrics.sends.series([hub, Self.name(of: platform), reason]).increment()
    }

    /// Counts a request that has its final result, and the time since it was published, none when that is yet to come. The time of one that
    /// a hold kept from its publication on tells nothing of hub and workers, and is left out.
    func finished(_ conclusion: Conclusion, nanoseconds: Int64, isPublishedOnHold: Bool = false) {
        let outcome = conclusion.outcome
        tally.noteResult(conclusion.state, milliseconds: nanoseconds / 1_000_000)
        if latestFinished?.outcome != outcome { latestFinished = finishedByOutcome[outcome].map { (outcome, $0) } }
        latestFinished?.counter.increment()
        if outcome == .expired, conclusion.code == .expiredOnHold { metrics.expiredOnHold.series([hub]).increment() }
        if !isPublishedOnHold { publishToFinal.observe(nanoseconds: max(0, nanoseconds)) }
    }

    /// Counts a telemetry poll that was answered.
    func polled(status: Int) {
        if latestPolled?.status != status { latestPolled = (status, metrics.outcomePolls.series([hub, "\(status)"])) }
        latestPolled?.counter.increment()
    }

    /// Counts a telemetry poll that was deferred, or not answered, and why.
    func unpolled(_ reason: String) { metrics.outcomePolls.series([hub, reason]).increment() }

    /// Counts an outcome, by what it is judged for.
    func outcomeKnown(_ reason: String) {
        if latestOutcome?.reason != reason { latestOutcome = (reason, metrics.outcomes.series([hub, reason])) }
        latestOutcome?.counter.increment()
    }

    /// Counts a list of refused devices, by what came of reading it.
    func readDetails(_ result: String) { metrics.errorDetails.series([hub, result]).increment() }

    func retryScheduled(_ code: ErrorCode?) {
        metrics.retriesScheduled.series([hub, code?.rawValue ?? "none"]).increment()
    }

    /// Publishes what the loop counts by itself.
    func turnEnded(inFlight: Int, waiting: Int, throttled: Int64) {
        if turn != (inFlight, waiting) {
            turn = (inFlight, waiting)
            self.inFlight.set(inFlight)
            retryQueue.set(waiting)
        }
        if throttled > throttledBefore {
            self.throttled.add(nanoseconds: throttled - throttledBefore)
            throttledBefore = throttled
        }
    }

    /// Publishes since when the oldest request waits. `isBlind` if more may wait than is seen.
    func noteOldest(_ moment: Timestamp, isBlind: Bool, at now: Timestamp) {
        oldestWaiting.show(since: moment, isBlind: isBlind, at: now)
    }

    /// Publishes what limits the hub's calls at present.
    func noteLimits(_ limits: borrowing HubLimits) {
        sendLimit.set(limits.concurrency.limit)
        circuitState.set(limits.circuit.state.code)
        guard let present = limits.rate, let rate else { return }
        rate.limit.set(Double(present.rate) / 1000)
        rate.wait.add(nanoseconds: present.waitedNanoseconds - waitedBefore)
        waitedBefore = present.waitedNanoseconds
    }

    /// Publishes whether the hub refuses every key.
    func noteKey(isRefused: Bool) { keyRefused.set(isRefused ? 1 : 0) }

    /// Publishes the kind of limit for which calls wait, or that none do.
    func noteLimit(_ cause: CallLimit.Cause?) {
        guard limit != .some(cause) else { return }
        limit = .some(cause)
        for (share, each) in zip(limitedBy, CallLimit.Cause.allCases) { share.set(each == cause ? 1 : 0) }
    }

    /// Publishes what the hub's connections count by themselves.
    func noteConnections(of pool: ConnectionPool) {
        opened.reach(pool.connectionsOpened)
        retired.reach(pool.connectionsRetired)
        moved.reach(pool.requestsSentAgain)
    }

    /// Takes this loop's part out of what shows the present, when the hub is not used any more.
    func retire() {
        oldestWaiting.retire()
        sendLimit.set(0)
        circuitState.set(0)
        keyRefused.set(0)
        inFlight.set(0)
        retryQueue.set(0)
        noteLimit(nil)
        rate?.limit.set(0)
    }
}

/// The part of a counter that comes from a total that is kept elsewhere.
private struct CounterShare {
    private let counter: Counter
    private var counted = 0

    init(_ counter: Counter) { self.counter = counter }

    mutating func reach(_ total: Int) {
        guard total > counted else { return }
        counter.increment(by: UInt64(total - counted))
        counted = total
    }
}

extension CircuitBreaker.State {
    /// The state as its metric has it.
    fileprivate var code: Int {
        switch self {
        case .closed: 0
        case .halfOpen: 1
        case .open: 2
        }
    }
}
