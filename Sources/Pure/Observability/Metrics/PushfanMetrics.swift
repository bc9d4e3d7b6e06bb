/// Every metric of a worker, under its published name.
///
/// The names are a contract with dashboards and alerts. The labels are `hub`, `platform`, `outcome`, `code`, `topic`, `partition`,
/// `kind`, `use` and `reason`. All have few values, never a user, a request or a device.
public struct PushfanMetrics: Sendable {
    /// Writes all of this as text.
    public let registry: MetricsRegistry

    /// Records read, by topic.
    public let recordsConsumed: Family<Counter, 1>
    /// Records refused, by topic and reason (`schema`, `too_large`, `expired`, `duplicate`, `unknown_hub`, `poison`).
    public let recordsRejected: Family<Counter, 2>
    /// Requests with a final result, by hub and the result's outcome.
    public let requestsFinished: Family<Counter, 2>
    /// Hub calls, by hub, platform and code (`2xx`, `429`, `timeout` …).
    public let sends: Family<Counter, 3>
    /// The duration of hub calls, by hub and platform.
    public let sendDuration: Family<Histogram, 2>
    /// From the record's timestamp to its final result, by hub.
    public let publishToFinal: Family<Histogram, 1>
    /// The wait of the oldest request without a result, by hub: since it was published, had to go out (`not_before`), or was due
    /// in its delay lane, whichever came last. Unread requests count, and polls for outcomes from their due time. 0 when all that
    /// there is waits for its time.
    public let oldestWaiting: Family<Gauge, 1>
    /// Records not yet read, by topic and partition.
    public let consumerLagRecords: Family<Gauge, 2>
    /// The wait of the oldest record that no worker has taken yet, by topic, at most: since the record before it was published,
    /// or nothing was unread. In a delay lane exactly, since the first record was due. 0 when it is not due.
    public let consumerLagSeconds: Family<Gauge, 1>
    /// The time for which a topic that workers read keeps its records, by topic. One that deletes nothing by age has no series.
    public let topicRetention: Family<Gauge, 1>
    /// The time until brokers may delete the oldest record without a result, by topic, at least: all of it where nothing waits. Of the whole
    /// group.
    public let topicRetentionLeft: Family<Gauge, 1>
    /// Hub calls in flight, by hub.
    public let inflightSends: Family<Gauge, 1>
    /// Hub calls that may be in flight at once, by hub.
    public let sendLimit: Family<Gauge, 1>
    /// Hub calls that this worker may start in a second at present, by hub. A hub whose rate has no limit has no series.
    public let rateLimit: Family<Gauge, 1>
    /// The limit for which calls wait at present, by hub and reason (`rate_limit`, `in_flight`, `throttle` …): 1 for that one, else 0.
    public let limitedBy: Family<Gauge, 2>
    /// Time in which calls waited for the rate and nothing else, by hub.
    public let rateWait: Family<SecondsCounter, 1>
    /// The hub's circuit, by hub: 0 closed, 1 half-open, 2 open.
    public let circuitState: Family<Gauge, 1>
    /// 1 while the last answer of the hub to each key of this worker was a refusal, else 0, by hub.
    public let hubKeyRefused: Family<Gauge, 1>
    /// Connections that were opened, by hub.
    public let connectionsOpened: Family<Counter, 1>
    /// Connections closed before the hub closes them without a word, by hub.
    public let connectionsRetired: Family<Counter, 1>
    /// Calls that took another connection, because theirs had ended before a byte was written, by hub.
    public let sendsMoved: Family<Counter, 1>
    /// Time spent waiting on the hub's demand, by hub.
    public let throttledTime: Family<SecondsCounter, 1>
    /// Retries scheduled, by hub and reason.
    public let retriesScheduled: Family<Counter, 2>
    /// Requests that wait for a retry, by hub.
    public let retryQueue: Family<Gauge, 1>
    /// Requests that wait for a hub that settings do not have, by the name that they give. A few names are kept, the rest are `other`.
    /// One without a request has no series.
    public let unknownHubWaiting: Family<Gauge, 1>
    /// The age of the oldest order that stands, by kind (`hold`, `limit`). A kind of which none stands has no series.
    public let holdAge: Family<Gauge, 1>
    /// Requests that this worker has put to wait by an order that stands, by its id and kind. An order that has ended has no series.
    public let heldWaiting: Family<Gauge, 2>
    /// The time until the first request expires of those that this worker has put to wait by an order that stands, by kind: to a minute, and
    /// never too long. It has no series where none expires before the order's end.
    public let holdExpiring: Family<Gauge, 1>
    /// Requests that expired while a hold concerned them, by hub.
    public let expiredOnHold: Family<Counter, 1>
    /// Requests put into a delay lane, by lane (`10s`, `1m`, `10m`, `1h`), or held for an ordering key (`held`). One that waits for long
    /// counts in several.
    public let delayed: Family<Counter, 1>
    /// Polls for the outcome of a call, by hub and code (`200`, `404`, `timeout` …).
    public let outcomePolls: Family<Counter, 2>
    /// Calls whose outcome is known, by hub and reason (`delivered`, `some_refused`, `abandoned` …).
    public let outcomes: Family<Counter, 2>
    /// Lists of devices that push services refused, by hub and result of reading (`read`, `failed`, `skipped`).
    public let errorDetails: Family<Counter, 2>
    /// Cancellations that a loop of this worker remembers.
    public let cancellations: Gauge
    /// Requests that were divided into parts.
    public let requestsExpanded: Counter
    /// Requests whose parts have not all ended, of the partitions that are owned.
    public let parentsOpen: Gauge
    /// Cancellations forgotten before their time, because there were too many.
    public let cancellationsForgotten: Counter
    /// Orders that stand, as a loop of this worker knows them, by kind (`hold`, `limit`, `cancel`).
    public let orders: Family<Gauge, 1>
    /// Records of orders that are not obeyed, by reason (`unreadable`, `scope`, `too_many` …). Each loop counts what it reads.
    public let ordersRefused: Family<Counter, 1>
    /// Records put on the dead-letter topic, by reason.
    public let deadLetters: Family<Counter, 1>
    /// Results written to Kafka.
    public let resultsPublished: Counter
    /// Results that Kafka did not take at the first try.
    public let resultsFailed: Counter
    /// Rebalances of the consumer group seen by this worker.
    public let rebalances: Counter
    /// Partitions this worker reads.
    public let assignedPartitions: Gauge
    /// Commits, of offsets or of transactions, that failed.
    public let commitFailures: Counter
    /// Fields of requests that this version does not know.
    public let unknownFields: Counter
    /// Requests of publishers in another partition than the one that their key names.
    public let requestsElsewhere: Counter
    /// The end of a certificate, in seconds since 1970, by use (`kafka`, `kafka_ca`, `hub_ca`).
    public let certificateEnd: Family<Gauge, 1>

    /// Declares every metric, once, and reads the process's own figures for each exposition, never on the hot path.
    public init(
        registry: MetricsRegistry = MetricsRegistry(), build: BuildFacts, process: @escaping @Sendable () -> ProcessReadings
    ) {
        self.registry = registry
        Self.declare(build, in: registry)
        recordsConsumed = registry.counters("records_consumed_total", help: "Records read.", labels: ["topic"])
        recordsRejected = registry.counters(
            "records_rejected_total", help: "Records refused, by reason.", labels: ["topic", "reason"])
        requestsFinished = registry.counters(
            "requests_finished_total", help: "Requests with a final result.", labels: ["hub", "outcome"])
        sends = registry.counters("sends_total", help: "Hub calls, by code.", labels: ["hub", "platform", "code"])
        sendDuration = registry.durations(
            "send_duration_seconds", help: "How long a hub call takes.", labels: ["hub", "platform"],
            bounds: Histogram.requestBounds)
        publishToFinal = registry.durations(
            "publish_to_final_seconds", help: "From a request's timestamp to its final result.", labels: ["hub"],
            bounds: Histogram.journeyBounds)
        oldestWaiting = registry.gauges(
            "oldest_waiting_seconds",
            help: "How long the oldest request without a result has been waiting, or could have gone on.",
            labels: ["hub"])
        consumerLagRecords = registry.gauges(
            "consumer_lag_records", help: "Records not yet read.", labels: ["topic", "partition"], limit: 4096)
        consumerLagSeconds = registry.gauges(
            "consumer_lag_seconds", help: "Age of the oldest unread record; in a delay topic, time past its due time.",
            labels: ["topic"])
        topicRetention = registry.gauges(
            "topic_retention_seconds", help: "How long a topic keeps its records.", labels: ["topic"])
        topicRetentionLeft = registry.gauges(
            "topic_retention_left_seconds", help: "Time until the oldest record without a result may be deleted, at least.",
            labels: ["topic"])
        inflightSends = registry.gauges("inflight_sends", help: "Hub calls in flight.", labels: ["hub"])
        sendLimit = registry.gauges("send_limit", help: "Hub calls that may be in flight at once.", labels: ["hub"])
        rateLimit = registry.gauges("rate_limit", help: "Hub calls that may start in a second here, at present.", labels: ["hub"])
        limitedBy = registry.gauges(
            "limited_by", help: "1 for the limit that calls wait for at present, by reason; else 0.", labels: ["hub", "reason"],
            limit: 4096)
        rateWait = registry.family(
            "pushfan_rate_wait_seconds_total", help: "Time in which calls waited for the rate limit.", labels: ["hub"]
        ) { SecondsCounter() }
        circuitState = registry.gauges(
            "circuit_state", help: "The hub's circuit: 0 closed, 1 half-open, 2 open.", labels: ["hub"])
        hubKeyRefused = registry.gauges(
            "hub_key_refused", help: "Whether the hub refuses every key that is set (1) or not (0).", labels: ["hub"])
        connectionsOpened = registry.counters(
            "connections_opened_total", help: "Connections to the hub that were opened.", labels: ["hub"])
        connectionsRetired = registry.counters(
            "connections_retired_total", help: "Connections closed before the hub closes them without a word.", labels: ["hub"])
        sendsMoved = registry.counters(
            "sends_moved_total",
            help: "Calls that took another connection, because theirs had ended before a byte was written.", labels: ["hub"])
        throttledTime = registry.family(
            "pushfan_throttled_seconds_total", help: "Time spent waiting because the hub asked for it.", labels: ["hub"]
        ) { SecondsCounter() }
        retriesScheduled = registry.counters(
            "retries_scheduled_total", help: "Retries scheduled, by reason.", labels: ["hub", "reason"])
        retryQueue = registry.gauges("retry_queue_records", help: "Requests that wait for a retry.", labels: ["hub"])
        unknownHubWaiting = registry.gauges(
            "unknown_hub_waiting", help: "Requests that wait for a hub that the settings do not have.", labels: ["hub"])
        holdAge = registry.gauges(
            "hold_age_seconds", help: "Age of the oldest hold, or ordered limit, that stands.", labels: ["kind"])
        heldWaiting = registry.gauges(
            "held_waiting", help: "Requests put to wait by an order that stands.", labels: ["order", "kind"])
        holdExpiring = registry.gauges(
            "hold_expiring_seconds", help: "Time until the first request expires that waits by an order.", labels: ["kind"])
        expiredOnHold = registry.counters(
            "expired_on_hold_total", help: "Requests that expired while a hold concerned them.", labels: ["hub"])
        delayed = registry.counters("delayed_total", help: "Requests put into a delay lane, or held.", labels: ["lane"])
        outcomePolls = registry.counters(
            "outcome_polls_total", help: "Polls for the outcome of a call.", labels: ["hub", "code"])
        outcomes = registry.counters(
            "outcomes_total", help: "Calls whose outcome is known, by reason.", labels: ["hub", "reason"])
        errorDetails = registry.counters(
            "error_details_total", help: "Lists of refused devices, by what came of reading them.", labels: ["hub", "reason"])
        cancellations = registry.gauge("pushfan_cancellations", help: "Cancellations of requests that are remembered.")
        requestsExpanded = registry.counter(
            "pushfan_requests_expanded_total", help: "Large requests that were divided into parts.")
        parentsOpen = registry.gauge(
            "pushfan_parents_open", help: "Large requests whose parts have not all ended, in the owned partitions.")
        cancellationsForgotten = registry.counter(
            "pushfan_cancellations_forgotten_total", help: "Cancellations forgotten early, because there were too many.")
        orders = registry.gauges("orders", help: "Orders that stand, by kind.", labels: ["kind"])
        ordersRefused = registry.counters(
            "orders_refused_total", help: "Records of orders that are not obeyed, by reason.", labels: ["reason"])
        deadLetters = registry.counters("dead_letters_total", help: "Records put on the dead-letter topic.", labels: ["reason"])
        resultsPublished = registry.counter("pushfan_results_published_total", help: "Results written to Kafka.")
        resultsFailed = registry.counter(
            "pushfan_results_failed_total", help: "Results that Kafka did not take at the first try.")
        rebalances = registry.counter("pushfan_rebalances_total", help: "Rebalances of the consumer group seen here.")
        assignedPartitions = registry.gauge("pushfan_assigned_partitions", help: "Partitions this worker reads.")
        commitFailures = registry.counter("pushfan_commit_failures_total", help: "Commits that failed.")
        unknownFields = registry.counter("pushfan_unknown_fields_total", help: "Fields of requests that are not known.")
        requestsElsewhere = registry.counter(
            "pushfan_requests_elsewhere_total", help: "Requests in another partition than their key names.")
        certificateEnd = registry.certificateEnds()
        Self.declare(process, in: registry)
    }
}
