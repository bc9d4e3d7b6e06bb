import Delivery
import Kafka
import Observability
import PushModel

/// The worker's metrics, with the series that every request touches looked up once.
final class WorkerMetrics {
    private let metrics: PushfanMetrics
    private let hub: String
    private let topic: String
    let recordsConsumed: Counter
    let unknownFields: Counter
    let resultsPublished: Counter
    let resultsFailed: Counter
    let commitFailures: Counter
    let rebalances: Counter
    let assignedPartitions: Gauge
    let oldestWaiting: Gauge
    let lagSeconds: Gauge
    private let inFlight: Gauge
    private let retryQueue: Gauge
    private let throttled: SecondsCounter
    private let sendLimit: Gauge
    private let circuitState: Gauge
    private var rate: (limit: Gauge, wait: SecondsCounter)?
    private let publishToFinal: Histogram
    private var finishedByOutcome: [Outcome: Counter] = [:]
    private var sendsByKey: [Int: Counter] = [:]
    private var durations: [Histogram] = []
    private var throttledBefore: Int64 = 0
    private var waitedBefore: Int64 = 0
    private var nextSecond: Int64 = 0

    init(_ metrics: PushfanMetrics, hub: String, topic: String) {
        self.metrics = metrics
        self.hub = hub
        self.topic = topic
        recordsConsumed = metrics.recordsConsumed.series([topic])
        unknownFields = metrics.unknownFields
        resultsPublished = metrics.resultsPublished
        resultsFailed = metrics.resultsFailed
        commitFailures = metrics.commitFailures
        rebalances = metrics.rebalances
        assignedPartitions = metrics.assignedPartitions
        oldestWaiting = metrics.oldestWaiting.series([hub])
        lagSeconds = metrics.consumerLagSeconds.series([topic])
        sendLimit = metrics.sendLimit.series([hub])
        circuitState = metrics.circuitState.series([hub])
        inFlight = metrics.inflightSends.series([hub])
        retryQueue = metrics.retryQueue.series([hub])
        throttled = metrics.throttledTime.series([hub])
        publishToFinal = metrics.publishToFinal.series([hub])
        for outcome in Outcome.allCases { finishedByOutcome[outcome] = metrics.requestsFinished.series([hub, outcome.rawValue]) }
        for index in 0...Platform.allCases.count {
            durations.append(metrics.sendDuration.series([hub, Self.name(of: Platform(rawValue: UInt8(index)))]))
        }
    }

    private static func name(of platform: Platform?) -> String { "\(platform?.name ?? "template")" }

    private static func index(of platform: Platform?) -> Int { platform.map { Int($0.rawValue) } ?? Platform.allCases.count }

    /// Counts an answer: successes by class, everything else by status.
    func sent(_ platform: Platform?, status: Int, nanoseconds: Int64) {
        let index = Self.index(of: platform)
        durations[index].observe(nanoseconds: nanoseconds)
        let code = (200..<300).contains(status) ? 2 : status
        let key = index << 16 | code
        if let counter = sendsByKey[key] {
            counter.increment()
            return
        }
        let label = code == 2 ? "2xx" : (400..<600).contains(status) ? "\(status)" : "other"
        let counter = metrics.sends.series([hub, Self.name(of: platform), label])
        sendsByKey[key] = counter
        counter.increment()
    }

    /// Counts a call without an answer.
    func failed(_ platform: Platform?, reason: String, nanoseconds: Int64) {
        durations[Self.index(of: platform)].observe(nanoseconds: nanoseconds)
        metrics.sends.series([hub, Self.name(of: platform), reason]).increment()
    }

    func finished(_ outcome: Outcome, milliseconds: Int64) {
        finishedByOutcome[outcome]?.increment()
        publishToFinal.observe(nanoseconds: max(0, milliseconds) * 1_000_000)
    }

    func rejected(_ code: ErrorCode) {
        let reason =
            switch code {
            case .recordTooLarge: "too_large"
            case .expiredInQueue: "expired"
            case .duplicate: "duplicate"
            case .unknownHub: "unknown_hub"
            default: "schema"
            }
        metrics.recordsRejected.series([topic, reason]).increment()
    }

    func deadLettered(_ reason: String) {
        metrics.recordsRejected.series([topic, "poison"]).increment()
        metrics.deadLetters.series([reason]).increment()
    }

    func retryScheduled(_ code: ErrorCode?) {
        metrics.retriesScheduled.series([hub, code?.rawValue ?? "none"]).increment()
    }

    func lag(of partition: TopicPartition) -> Gauge {
        metrics.consumerLagRecords.series([partition.topic, "\(partition.partition)"])
    }

    func forgetLag(of partition: TopicPartition) {
        metrics.consumerLagRecords.remove([partition.topic, "\(partition.partition)"])
    }

    /// Publishes what the loop counts by itself.
    func turnEnded(_ limits: borrowing HubLimits, waiting: Int) {
        inFlight.set(limits.inFlight)
        retryQueue.set(waiting)
        let throttledNow = limits.pause.totalNanoseconds
        guard throttledNow > throttledBefore else { return }
        throttled.add(nanoseconds: throttledNow - throttledBefore)
        throttledBefore = throttledNow
    }

    /// Publishes what limits the hub's calls at present.
    func noteLimits(_ limits: borrowing HubLimits) {
        sendLimit.set(limits.concurrency.limit)
        circuitState.set(limits.circuit.state.code)
        guard let present = limits.rate else { return }
        // A hub without a limit has no series.
        let series = rate ?? (metrics.rateLimit.series([hub]), metrics.rateWait.series([hub]))
        rate = series
        series.limit.set(Double(present.rate) / 1000)
        series.wait.add(nanoseconds: present.waitedNanoseconds - waitedBefore)
        waitedBefore = present.waitedNanoseconds
    }

    /// Runs `update` when a second has passed since it ran last.
    func everySecond(_ now: Int64, _ update: () -> Void) {
        guard now >= nextSecond else { return }
        nextSecond = now + 1_000_000_000
        update()
    }
}
