import Delivery
import Kafka
import Observability
import PushModel

/// The worker's metrics, with the series that every request touches looked up once.
final class WorkerMetrics {
    private let metrics: PushfanMetrics
    private let hub: String
    let unknownFields: Counter
    let resultsPublished: Counter
    let resultsFailed: Counter
    let commitFailures: Counter
    let rebalances: Counter
    let assignedPartitions: Gauge
    let oldestWaiting: Gauge
    let sendLimit: Gauge
    let circuitState: Gauge
    private let inFlight: Gauge
    private let retryQueue: Gauge
    private let throttled: SecondsCounter
    private let publishToFinal: Histogram
    private var finishedByOutcome: [Outcome: Counter] = [:]
    private var sendsByKey: [Int: Counter] = [:]
    private var durations: [Histogram] = []
    private var throttledBefore: Int64 = 0
    private var nextSecond: Int64 = 0

    init(_ metrics: PushfanMetrics, hub: String) {
        self.metrics = metrics
        self.hub = hub
        unknownFields = metrics.unknownFields
        resultsPublished = metrics.resultsPublished
        resultsFailed = metrics.resultsFailed
        commitFailures = metrics.commitFailures
        rebalances = metrics.rebalances
        assignedPartitions = metrics.assignedPartitions
        oldestWaiting = metrics.oldestWaiting.series([hub])
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

    func rejected(_ code: ErrorCode, topic: String) {
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

    func deadLettered(_ reason: String, topic: String) {
        metrics.recordsRejected.series([topic, "poison"]).increment()
        metrics.deadLetters.series([reason]).increment()
    }

    func retryScheduled(_ code: ErrorCode?) {
        metrics.retriesScheduled.series([hub, code?.rawValue ?? "none"]).increment()
    }

    /// Counts the records that are read from a topic.
    func consumed(from topic: String) -> Counter { metrics.recordsConsumed.series([topic]) }

    func lagSeconds(of topic: String) -> Gauge { metrics.consumerLagSeconds.series([topic]) }

    /// Counts a request that goes to a delay lane.
    func delayed(in lane: Int) { metrics.delayed.series([DelayLanes.names[lane]]).increment() }

    func lag(of partition: TopicPartition) -> Gauge {
        metrics.consumerLagRecords.series([partition.topic, "\(partition.partition)"])
    }

    func forgetLag(of partition: TopicPartition) {
        metrics.consumerLagRecords.remove([partition.topic, "\(partition.partition)"])
    }

    /// Publishes what the loop counts by itself.
    func turnEnded(inFlight: Int, waiting: Int, throttled: Int64) {
        self.inFlight.set(inFlight)
        retryQueue.set(waiting)
        if throttled > throttledBefore {
            self.throttled.add(nanoseconds: throttled - throttledBefore)
            throttledBefore = throttled
        }
    }

    /// Runs `update` when a second has passed since it ran last.
    func everySecond(_ now: Int64, _ update: () -> Void) {
        guard now >= nextSecond else { return }
        nextSecond = now + 1_000_000_000
        update()
    }
}
