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
    private let log: Log
    /// Calls in a row that say that the hub does not work.
    private var hubFailureCount = 0
    /// Whether the hub's check passes: it is asked with each answer, and the check itself is behind a lock.
    private var isHubPassing = true
    /// Whether the broker failed and has not answered since; only asking it again can tell.
    private(set) var isBrokerDoubtful = false

    /// Health of one loop; `suffix` is put behind the checks' names, to tell loops of one process apart.
    init(_ health: Health, _ log: Log, now: Int64, suffix: String = "") {
        self.health = health
        self.log = log
        loop = health.heartbeat("loop" + suffix, limit: .seconds(10), now: now)
        group = health.check("group" + suffix, for: .ready, until: "not a member of the consumer group yet")
        producer = health.check("producer" + suffix, for: .ready, until: "not ready to write results yet")
        hub = health.check("hub" + suffix, for: .ready, until: "not called yet")
        // Without traffic nothing is known of the hub, and nothing speaks against it.
        _ = hub.pass()
    }

    /// The loop has turned at `now`, monotonic nanoseconds.
    func turned(at now: Int64) { loop.turned(at: now) }

    /// The group has answered: its positions are known, or were committed.
    func joined() {
        isBrokerDoubtful = false
        pass(group, "group")
    }

    func brokerFailed(_ reason: String) {
        isBrokerDoubtful = true
        fail(group, "group", reason)
    }

    func producerReady() { pass(producer, "producer") }

    func producerFailed(_ reason: String) { fail(producer, "producer", reason) }

    func hubAnswered() {
        hubFailureCount = 0
        guard !isHubPassing else { return }
        isHubPassing = true
        pass(hub, "hub")
    }

    /// A call failed as it does when the hub, the way to it or the key is at fault; a single one says nothing yet.
    func hubFailed(_ reason: String) {
        hubFailureCount += 1
        guard hubFailureCount >= Self.hubFailureLimit else { return }
        isHubPassing = false
        fail(hub, "hub", reason)
    }

    private static let hubFailureLimit = 3

    private func pass(_ check: HealthCheck, _ name: String) {
        if check.pass() { log.info(.healthChanged, "a health check passes", [.check: .string(name)]) }
    }

    private func fail(_ check: HealthCheck, _ name: String, _ reason: String) {
        guard check.fail(reason) else { return }
        log.warning(.healthChanged, "a health check fails", [.check: .string(name), .reason: .string(reason)])
    }

    func beginDraining() { health.beginDraining() }
}
