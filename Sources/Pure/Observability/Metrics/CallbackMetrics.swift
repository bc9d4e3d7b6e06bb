/// Every metric of the service that calls receivers, under its published name.
///
/// The names are a contract with dashboards and alerts. The labels are `receiver`, which is a name of the file of receivers, `answer`,
/// `state` and `use`. All have few values, never a URL, a request or a secret.
public struct CallbackMetrics: Sendable {
    /// The most receivers with series of their own.
    private static let mostReceivers = 1024

    /// Writes all of this as text.
    public let registry: MetricsRegistry

    /// Calls, by receiver and answer (`2xx`, `3xx`, `4xx`, `5xx`, `410`, `429`, `timeout`, `failed`).
    public let calls: Family<Counter, 2>
    /// The duration of calls, by receiver.
    public let callDuration: Family<Histogram, 1>
    /// Results that a receiver took, by receiver.
    public let taken: Family<Counter, 1>
    /// Results that a receiver did not take in time, by receiver.
    public let deadLetters: Family<Counter, 1>
    /// Results that retention removed before a receiver got them, by receiver.
    public let lost: Family<Counter, 1>
    /// Results that wait for another call, by receiver.
    public let waiting: Family<Gauge, 1>
    /// The wait of the oldest result that a receiver has not taken, since it was written, by receiver. 0 where none waits.
    public let oldestWaiting: Family<Gauge, 1>
    /// Results written behind the position of a receiver, as last looked, by receiver.
    public let behind: Family<Gauge, 1>
    /// The time until brokers may delete the oldest result that a receiver has not taken, by receiver: all of it where none waits. A topic
    /// that deletes nothing by age has no series.
    public let retentionLeft: Family<Gauge, 1>
    /// Calls in flight, by receiver.
    public let inFlight: Family<Gauge, 1>
    /// The state of a receiver (`running`, `paused`, `disabled`, `away`, `waiting`): 1 for that one, else 0.
    public let state: Family<Gauge, 2>
    /// The end of a certificate, in seconds since 1970, by use (`kafka`, `kafka_ca`).
    public let certificateEnd: Family<Gauge, 1>

    /// Declares every metric, once, and reads the process's own figures for each exposition.
    public init(
        registry: MetricsRegistry = MetricsRegistry(), build: BuildFacts, process: @escaping @Sendable () -> ProcessReadings
    ) {
        self.registry = registry
        let most = Self.mostReceivers
        PushfanMetrics.declare(build, in: registry)
        calls = registry.counters(
            "callbacks_calls_total", help: "Calls of receivers, by answer.", labels: ["receiver", "answer"], limit: 8 * most)
        callDuration = registry.durations(
            "callbacks_call_seconds", help: "How long a call of a receiver takes.", labels: ["receiver"],
            bounds: Histogram.requestBounds, limit: most)
        taken = registry.counters(
            "callbacks_taken_total", help: "Results that a receiver took.", labels: ["receiver"], limit: most)
        deadLetters = registry.counters(
            "callbacks_dead_letters_total", help: "Results that a receiver did not take in time.", labels: ["receiver"],
            limit: most)
        lost = registry.counters(
            "callbacks_lost_total", help: "Results that retention removed before a receiver got them.", labels: ["receiver"],
            limit: most)
        waiting = registry.gauges(
            "callbacks_waiting", help: "Results that wait for another call.", labels: ["receiver"], limit: most)
        oldestWaiting = registry.gauges(
            "callbacks_oldest_waiting_seconds", help: "How long the oldest result has waited that a receiver has not taken.",
            labels: ["receiver"], limit: most)
        behind = registry.gauges(
            "callbacks_behind", help: "Results behind the position of a receiver, as last looked.", labels: ["receiver"],
            limit: most)
        retentionLeft = registry.gauges(
            "callbacks_retention_left_seconds",
            help: "Time until Kafka may delete the oldest result that a receiver has not taken.",
            labels: ["receiver"], limit: most)
        inFlight = registry.gauges(
            "callbacks_in_flight", help: "Calls of a receiver in flight.", labels: ["receiver"], limit: most)
        state = registry.gauges(
            "callbacks_state", help: "The state of a receiver: 1 for the one that it is in, else 0.",
            labels: ["receiver", "state"], limit: 5 * most)
        certificateEnd = registry.certificateEnds()
        PushfanMetrics.declare(process, in: registry)
    }
}
