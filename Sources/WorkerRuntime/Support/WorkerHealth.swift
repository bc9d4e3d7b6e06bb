import Observability

/// What the worker tells its probes (users-and-ops section 2.5).
///
/// Live: the loop turns, whatever Kafka and the hub do. Ready: in the group, able to write results, and the hub answers.
final class WorkerHealth {
    private let health: Health
    private let loop: Heartbeat
    private let group: HealthCheck
    private let producer: HealthCheck
    private let hub: HealthCheck
    /// Whether the broker failed and has not answered since; only asking it again can tell.
    private(set) var isBrokerDoubtful = false

    init(_ health: Health, now: Int64) {
        self.health = health
        loop = health.heartbeat("loop", limit: .seconds(10), now: now)
        group = health.check("group", for: .ready, until: "not a member of the consumer group yet")
        producer = health.check("producer", for: .ready, until: "not ready to write results yet")
        hub = health.check("hub", for: .ready, until: "not called yet")
        // Without traffic nothing is known of the hub, and nothing speaks against it.
        _ = hub.pass()
    }

    /// The loop has turned at `now`, monotonic nanoseconds.
    func turned(at now: Int64) { loop.turned(at: now) }

    /// The group has answered: its positions are known, or were committed.
    func joined() {
        isBrokerDoubtful = false
        _ = group.pass()
    }

    func brokerFailed(_ reason: String) {
        isBrokerDoubtful = true
        _ = group.fail(reason)
    }

    func producerReady() { _ = producer.pass() }

    func producerFailed(_ reason: String) { _ = producer.fail(reason) }

    func hubAnswered() { _ = hub.pass() }

    func hubFailed(_ reason: String) { _ = hub.fail(reason) }

    func beginDraining() { health.beginDraining() }
}
