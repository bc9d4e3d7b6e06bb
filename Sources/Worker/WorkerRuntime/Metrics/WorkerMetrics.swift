import Basics
import Delivery
import Kafka
import Observability
import PushModel

/// The worker's metrics, with this loop's share of those that all loops set.
final class WorkerMetrics {
    private let metrics: PushfanMetrics
    private let gauges: LoopGauges
    private let loop: Int
    /// The counts of this loop alone, for its status.
    let tally = LoopTally()
    var unknownFields: Counter { metrics.unknownFields }
    var requestsElsewhere: Counter { metrics.requestsElsewhere }
    var resultsPublished: Counter { metrics.resultsPublished }
    var resultsFailed: Counter { metrics.resultsFailed }
    var commitFailures: Counter { metrics.commitFailures }
    var rebalances: Counter { metrics.rebalances }
    var cancellations: Gauge { metrics.cancellations }
    var cancellationsForgotten: Counter { metrics.cancellationsForgotten }
    var requestsExpanded: Counter { metrics.requestsExpanded }
    let parentsOpen: GaugeShare
    let assignedPartitions: GaugeShare
    /// The age of what was not read yet, by lane, and by delay lane.
    private var lagSeconds: [WaitGauge]
    private var delayedLagSeconds: [WaitGauge]
    private var nextSecond = MonotonicTime.past

    init(_ metrics: PushfanMetrics, gauges: LoopGauges, loop: Int) {
        self.metrics = metrics
        self.gauges = gauges
        self.loop = loop
        parentsOpen = gauges.parentsOpen.share(of: loop)
        assignedPartitions = gauges.assignedPartitions.share(of: loop)
        lagSeconds = gauges.lagSeconds.map { WaitGauge($0.share(of: loop)) }
        delayedLagSeconds = gauges.delayedLagSeconds.map { WaitGauge($0.share(of: loop)) }
    }

    /// The metrics of a hub, of which the rate has a limit or not.
    func ofHub(_ name: String, isRateLimited: Bool) -> HubMeter {
        HubMeter(metrics, gauges: gauges.ofHub(name, isRateLimited: isRateLimited), loop: loop, tally: tally, hub: name)
    }

    func rejected(_ code: ErrorCode, topic: String) {
        let reason =
            switch code {
            case .recordTooLarge: "too_large"
            case .expiredInQueue, .expiredOnHold: "expired"
            case .duplicate: "duplicate"
            case .unknownHub: "unknown_hub"
            case .notConfigured: "not_configured"
            case .orderingKeyFull: "ordering_key_full"
            default: "schema"
            }
        metrics.recordsRejected.series([topic, reason]).increment()
    }

    func deadLettered(_ reason: String, topic: String) {
        metrics.recordsRejected.series([topic, "poison"]).increment()
        metrics.deadLetters.series([reason]).increment()
    }

    /// Shows how many orders stand.
    func show(_ orders: Orders) {
        let counts = Dictionary(orders.all.map { ($0.word, 1) }, uniquingKeysWith: +)
        for word in ["hold", "limit", "cancel"] { metrics.orders.series([word]).set(counts[word] ?? 0) }
    }

    /// Counts orders that are not obeyed, by their faults.
    func count(refused: [String: Int]) {
        for (fault, count) in refused { metrics.ordersRefused.series([fault]).increment(by: UInt64(count)) }
    }

    /// Shows how many requests wait for hubs that settings do not have.
    func wait(forUnknown hubs: [UnroutedWaits.Count]) { gauges.unknownHubs.set(hubs, loop: loop) }

    /// Shows the orders that stand, and what this loop has put to wait by them. To be called once a second.
    func wait(by orders: [HeldCounts.Count], at now: Timestamp) { gauges.orders.set(orders, loop: loop, at: now) }

    /// Counts the records that are read from a topic.
    func consumed(from topic: String) -> Counter { metrics.recordsConsumed.series([topic]) }

    /// Shows since when the oldest unread records of each topic wait. `isBlind` if more may be unread than is seen.
    func show(_ backlog: Backlog, isBlind: Bool, at now: Timestamp) {
        for lane in lagSeconds.indices { lagSeconds[lane].show(since: backlog.requests[lane], isBlind: isBlind, at: now) }
        for delay in delayedLagSeconds.indices {
            delayedLagSeconds[delay].show(since: backlog.delays[delay], isBlind: isBlind, at: now)
        }
    }

    /// Counts a request that goes to a delay lane.
    func delayed(in lane: Int) { metrics.delayed.series([DelayLanes.names[lane]]).increment() }

    /// Counts a record that goes to the topic of held requests.
    func held() { metrics.delayed.series(["held"]).increment() }

    /// The gauge of a partition that begins, without a value before the partition's end is known.
    func lag(of partition: TopicPartition) -> Gauge {
        let gauge = metrics.consumerLagRecords.series([partition.topic, "\(partition.partition)"])
        gauge.clear()
        return gauge
    }

    func forgetLag(of partition: TopicPartition) {
        metrics.consumerLagRecords.remove([partition.topic, "\(partition.partition)"])
    }

    /// Runs `update` when a second has passed since it ran last.
    func everySecond(_ now: MonotonicTime, update: () -> Void) {
        guard now >= nextSecond else { return }
        nextSecond = now + 1_000_000_000
        update()
    }
}
