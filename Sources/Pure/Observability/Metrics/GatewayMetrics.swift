/// Every metric of a gateway, under its published name.
///
/// The names are a contract with dashboards and alerts. The labels are `route`, `status`, `outcome`, `operation`, `code`,
/// `use` and `key`, which is an id and no secret. All have few values, never a user, a tag or a device.
public struct GatewayMetrics: Sendable {
    /// Writes all of this as text.
    public let registry: MetricsRegistry

    /// Requests answered, by route and status. Those that a stop answers, and heads that are refused, do not count.
    public let requests: Family<Counter, 2>
    /// From a request to its answer, by route.
    public let requestDuration: Family<Histogram, 1>
    /// From giving a record to Kafka's client to its delivery report, by its outcome (`persisted`, `not_persisted`,
    /// `possibly_persisted`).
    public let ack: Family<Histogram, 1>
    /// Checked credentials, by outcome: `remembered`, `verified`, `demonstration`, `refused`, `held`, `overloaded`, and of tokens `token`,
    /// `token_refused`, `token_unavailable`.
    public let signIns: Family<Counter, 1>
    /// Checked keys of publishers, by outcome: `accepted`, `refused`, `ended`, `held`, `limited`.
    public let keyChecks: Family<Counter, 1>
    /// The time of a key's last use, in seconds since 1970, by its id.
    public let keyLastUsed: Family<Gauge, 1>
    /// Hub calls, by operation and code: `ok`, the status of a refusal, or why there is no answer.
    public let hubCalls: Family<Counter, 2>
    /// The duration of hub calls, by operation.
    public let hubCallDuration: Family<Histogram, 1>
    /// 1 while the hub refuses every key of this gateway, or the right to manage devices, else 0.
    public let hubKeyRefused: Gauge
    /// Calls with an `Idempotency-Key`, by answer: `first`, `replayed`, `mismatch`, `in_flight`.
    public let idempotencyKeys: Family<Counter, 1>
    /// Answers that could not be kept in the file of answers.
    public let idempotencyLost: Counter
    /// 1 while the file of answers can be used, else 0. Without a file there is no series.
    public let idempotencyFile: Family<Gauge, 0>
    /// The end of a certificate, in seconds since 1970, by use (`kafka`, `kafka_ca`, `hub_ca`).
    public let certificateEnd: Family<Gauge, 1>

    /// Declares every metric, once, and reads the process's own figures for each exposition.
    public init(
        registry: MetricsRegistry = MetricsRegistry(), build: BuildFacts, process: @escaping @Sendable () -> ProcessReadings
    ) {
        self.registry = registry
        PushfanMetrics.declare(build, in: registry)
        requests = registry.counters("gateway_requests_total", help: "Requests answered.", labels: ["route", "status"])
        requestDuration = registry.durations(
            "gateway_request_duration_seconds", help: "From a request to its answer.", labels: ["route"],
            bounds: Histogram.journeyBounds)
        ack = registry.durations(
            "gateway_ack_seconds", help: "From a record to its delivery report.", labels: ["outcome"],
            bounds: Histogram.requestBounds)
        signIns = registry.counters("gateway_sign_ins_total", help: "Credentials looked at.", labels: ["outcome"])
        keyChecks = registry.counters("gateway_key_checks_total", help: "Keys of publishers looked at.", labels: ["outcome"])
        keyLastUsed = registry.gauges(
            "gateway_key_last_used_seconds", help: "When a key was last used, in seconds since 1970.", labels: ["key"])
        hubCalls = registry.counters("gateway_hub_calls_total", help: "Hub calls, by code.", labels: ["operation", "code"])
        hubCallDuration = registry.durations(
            "gateway_hub_call_duration_seconds", help: "How long a hub call takes.", labels: ["operation"],
            bounds: Histogram.requestBounds)
        hubKeyRefused = registry.gauge(
            "pushfan_gateway_hub_key_refused", help: "Whether the hub refuses every key that is set (1) or not (0).")
        idempotencyKeys = registry.counters(
            "gateway_idempotency_keys_total", help: "Calls with an Idempotency-Key, by what they got.", labels: ["outcome"])
        idempotencyLost = registry.counter(
            "pushfan_gateway_idempotency_lost_total", help: "Answers that could not be kept in the file.")
        idempotencyFile = registry.gauges(
            "gateway_idempotency_file_usable", help: "Whether answers can be kept in the file (1) or not (0).", labels: [])
        certificateEnd = registry.certificateEnds()
        PushfanMetrics.declare(process, in: registry)
    }

    /// Declares, once, the number of requests that wait for their answers, read for each exposition.
    public func readWaiting(_ read: @escaping @Sendable () -> Int?) {
        registry.reading("pushfan_gateway_waiting_requests", help: "Requests that wait for their answers.", type: .gauge) {
            read().map { Double($0) }
        }
    }

    /// Declares, once, the number of sends that wait for their results, read for each exposition.
    public func readWaitingSends(_ read: @escaping @Sendable () -> Int?) {
        registry.reading("pushfan_gateway_waiting_sends", help: "Sends that wait for their results.", type: .gauge) {
            read().map { Double($0) }
        }
    }

    /// Declares, once, for how many nanoseconds the keys of tokens could not be read, read for each exposition.
    public func readTokenKeys(_ read: @escaping @Sendable () -> Int64?) {
        registry.reading(
            "pushfan_gateway_token_keys_age_seconds", help: "Since when the keys of tokens could not be read.", type: .gauge
        ) { read().map { Double($0) / 1e9 } }
    }

    /// Declares, once, for how many nanoseconds no record to Kafka was confirmed in time although one waited, and how many
    /// records were refused for that, read for each exposition.
    public func readQueue(_ read: @escaping @Sendable () -> (age: Int64, refusedCount: Int)) {
        registry.reading(
            "pushfan_gateway_queue_age_seconds", help: "Since when Kafka has confirmed no record in time.", type: .gauge
        ) { Double(read().age) / 1e9 }
        registry.reading(
            "pushfan_gateway_queue_refusals_total", help: "Records refused because Kafka confirms none in time.", type: .counter
        ) { Double(read().refusedCount) }
    }
}
