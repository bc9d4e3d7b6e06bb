import Delivery
import Observability
import PushModel
import Synchronization

/// The gauges that show all loops of a process together.
final class LoopGauges: Sendable {
    let assignedPartitions: SharedGauge
    let parentsOpen: SharedGauge
    let unknownHubs: UnknownHubGauges
    let orders: OrderGauges
    /// By lane.
    let lagSeconds: [SharedGauge]
    /// By delay lane.
    let delayedLagSeconds: [SharedGauge]
    private let metrics: PushfanMetrics
    private let loops: Int
    /// Those of the hubs that were used so far, by name. Nothing else is locked while they are held.
    private let hubs = Mutex<[String: HubGauges]>([:])

    init(_ metrics: PushfanMetrics, topics: Topics, loops: Int) {
        self.metrics = metrics
        self.loops = loops
        assignedPartitions = SharedGauge(metrics.assignedPartitions, loops: loops, combination: .sum)
        parentsOpen = SharedGauge(metrics.parentsOpen, loops: loops, combination: .sum)
        unknownHubs = UnknownHubGauges(metrics.unknownHubWaiting, loops: loops)
        orders = OrderGauges(metrics, loops: loops)
        func lag(of topic: String) -> SharedGauge {
            SharedGauge(metrics.consumerLagSeconds.series([topic]), loops: loops, combination: .largest, isKnown: false)
        }
        lagSeconds = Lane.allCases.map { lag(of: topics.requests(of: $0)) }
        delayedLagSeconds = topics.delays.map(lag)
    }

    /// Those of a hub, the same for every loop.
    func ofHub(_ name: String, isRateLimited: Bool) -> HubGauges {
        hubs.withLock { hubs in
            if let known = hubs[name], known.rateLimit != nil || !isRateLimited { return known }
            var gauges = hubs[name] ?? HubGauges(metrics, hub: name, loops: loops)
            if isRateLimited { gauges.rateLimit = SharedGauge(metrics.rateLimit.series([name]), loops: loops, combination: .sum) }
            hubs[name] = gauges
            return gauges
        }
    }
}

/// The gauges of one hub that show all loops of a process together.
struct HubGauges: Sendable {
    let oldestWaiting: SharedGauge
    let sendLimit: SharedGauge
    let circuitState: SharedGauge
    let keyRefused: SharedGauge
    let inFlight: SharedGauge
    let retryQueue: SharedGauge
    /// By the kind of limit.
    let limitedBy: [SharedGauge]
    /// None for a hub whose rate has no limit.
    fileprivate(set) var rateLimit: SharedGauge?

    fileprivate init(_ metrics: PushfanMetrics, hub: String, loops: Int) {
        oldestWaiting = SharedGauge(
            metrics.oldestWaiting.series([hub]), loops: loops, combination: .largest, isKnown: false)
        sendLimit = SharedGauge(metrics.sendLimit.series([hub]), loops: loops, combination: .sum)
        circuitState = SharedGauge(metrics.circuitState.series([hub]), loops: loops, combination: .largest)
        keyRefused = SharedGauge(metrics.hubKeyRefused.series([hub]), loops: loops, combination: .largest)
        inFlight = SharedGauge(metrics.inflightSends.series([hub]), loops: loops, combination: .sum)
        retryQueue = SharedGauge(metrics.retryQueue.series([hub]), loops: loops, combination: .sum)
        limitedBy = CallLimit.Cause.allCases.map {
            SharedGauge(metrics.limitedBy.series([hub, $0.rawValue]), loops: loops, combination: .largest)
        }
    }
}

/// The requests of all loops that wait for hubs without settings: a series for each name, as long as something waits for it.
final class UnknownHubGauges: Sendable {
    private let family: Family<Gauge, 1>
    /// The counts of each loop. The family is locked while they are held.
    private let counts: Mutex<[[UnroutedWaits.Count]]>

    init(_ family: Family<Gauge, 1>, loops: Int) {
        self.family = family
        counts = Mutex(Array(repeating: [], count: loops))
    }

    /// Replaces what loop `loop`, from 0, contributes.
    func set(_ new: [UnroutedWaits.Count], loop: Int) {
        counts.withLock { counts in
            guard new != counts[loop] else { return }
            let former = counts[loop]
            counts[loop] = new
            for hub in Set((former + new).map(\.hub)) {
                let sum = counts.joined().reduce(0) { $0 + ($1.hub == hub ? $1.count : 0) }
                if sum > 0 { family.series([hub]).set(Double(sum)) } else { family.remove([hub]) }
            }
        }
    }
}

/// A gauge to which every loop contributes a value of its own.
final class SharedGauge: Sendable {
    /// The way in which the loops' values become one.
    enum Combination: Sendable {
        case sum, largest
    }

    private let gauge: Gauge
    private let combination: Combination
    /// Each loop's value, nil where it is not known. None with a single loop, whose value is the gauge's.
    private let values: Mutex<[Double?]>

    /// A gauge that is 0, or without a value before a loop knows its own.
    init(_ gauge: Gauge, loops: Int, combination: Combination, isKnown: Bool = true) {
        self.gauge = gauge
        self.combination = combination
        values = Mutex(loops > 1 ? Array(repeating: isKnown ? 0 : nil, count: loops) : [])
        if !isKnown { gauge.clear() }
    }

    /// Replaces what loop `loop`, from 0, contributes. Nil if it does not know. Without any that knows, the gauge has no value.
    func set(_ value: Double?, loop: Int) {
        values.withLock { values in
            guard !values.isEmpty else { return show(value) }
            values[loop] = value
            var whole: Double?
            for case let value? in values {
                whole = whole.map { combination == .sum ? $0 + value : max($0, value) } ?? value
            }
            show(whole)
        }
    }

    private func show(_ value: Double?) {
        if let value { gauge.set(value) } else { gauge.clear() }
    }

    /// One loop's share of the gauge.
    func share(of loop: Int) -> GaugeShare { GaugeShare(gauge: self, loop: loop) }
}

/// The contribution of one loop to a gauge.
struct GaugeShare {
    fileprivate let gauge: SharedGauge
    fileprivate let loop: Int

    func set(_ value: Double?) { gauge.set(value, loop: loop) }

    func set(_ value: Int) { set(Double(value)) }
}

/// The contribution of one loop to a gauge of what waits.
struct WaitGauge {
    private let share: GaugeShare
    private var wait = KnownWait()

    init(_ share: GaugeShare) { self.share = share }

    /// Shows since when the oldest waits as far as is seen now. `isBlind` if more may wait.
    mutating func show(since moment: Timestamp, isBlind: Bool, at now: Timestamp) {
        share.set(wait.seconds(since: moment, isBlind: isBlind, now: now))
    }

    /// Takes the contribution out: there is nothing more that could wait.
    func retire() { share.set(0.0) }
}
