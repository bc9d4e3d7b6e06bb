import Basics
import Delivery
import GroupPositions
import Observability

/// The worker's report to its probes (page Monitoring, "Health endpoints").
///
/// Live: the loop turns, whatever Kafka and the hub do. Ready: in the group, able to write results, and a hub works.
final class WorkerHealth {
    private let health: Health
    private let loop: Heartbeat
    private let group: HealthCheck
    private let producer: HealthCheck
    private let hub: HealthCheck
    private let log: Log
    /// The hubs in use.
    private var hubs: [HubHealth] = []
    private var refusal: String?
    private var leaving: String?
    /// The progress of reading the records that say where partitions begin, or nil where none are.
    private var progress: String?
    /// The problem with the control topic, or nil while there is none.
    private(set) var controlProblem: ControlProblem?
    /// True if requests are behind open transactions.
    private var hasOpen = false
    /// True if the broker failed and has not answered since. Only asking it again can show.
    private(set) var isBrokerDoubtful = false

    /// Health of one loop. `suffix` is put behind the checks' names, to keep loops of one process apart.
    init(_ health: Health, log: Log, now: MonotonicTime, suffix: String = "") {
        self.health = health
        self.log = log
        loop = health.heartbeat("loop" + suffix, limit: .seconds(10), now: now.nanoseconds)
        group = health.check("group" + suffix, for: .ready, until: "not a member of the consumer group yet")
        producer = health.check("producer" + suffix, for: .ready, until: "not ready to write results yet")
        hub = health.check("hub" + suffix, for: .ready, until: "not called yet")
    }

    /// The loop has turned at `now`, monotonic nanoseconds.
    func noteTurn(at now: MonotonicTime) { loop.noteTurn(at: now.nanoseconds) }

    /// The group has answered: its positions are known, or were committed.
    func joined() {
        isBrokerDoubtful = false
        let left = leaving.map { [$0, progress].compactMap { $0 }.joined(separator: ": ") }
        let reasons = [refusal, left, controlProblem.flatMap { $0.holdsRequests ? $0.text : nil }].compactMap { $0 }
        if reasons.isEmpty {
            pass(group, named: "group")
        } else {
            fail(group, named: "group", reason: reasons.joined(separator: "; "))
        }
    }

    /// Notes that these partitions are left as they are, and how far the records are read that say where some of them begin.
    /// Logged when it has changed.
    func left(_ partitions: LeftPartitions?, progress: String? = nil) {
        let isNew = partitions?.reason != leaving
        guard isNew || progress != self.progress else { return }
        leaving = partitions?.reason
        self.progress = progress
        guard let partitions else { return }
        if !isBrokerDoubtful { joined() }
        guard isNew else { return }
        let what: StaticString =
            switch partitions.cause {
            case .unknownPosition, .newerRecord: "partitions are left as they are; the others go on"
            case .leaderAway: "partitions wait for their leader or other workers; the others go on"
            case .doubted: "partitions may not be those that were read; the others go on"
            case .unanswered: "partitions wait for records that say where they begin; the others go on"
            }
        log.error(
            .kafkaError, what,
            [.count: LogValue(partitions.count), .reason: .string(partitions.reason)])
    }

    /// Notes the problem with the control topic, or nil while there is none. Where requests are sent all the same, the worker is ready.
    /// Logs each change.
    func control(_ problem: ControlProblem?) {
        guard problem != controlProblem else { return }
        let isReady = problem?.holdsRequests != true
        let wasReady = controlProblem?.holdsRequests != true
        controlProblem = problem
        group.degrade(isReady ? problem?.text : nil)
        if !(isReady && wasReady) && !isBrokerDoubtful { joined() }
        guard let problem else { return }
        if problem.holdsRequests {
            log.error(.requestCancelled, "no request begins before the control topic is read", [.reason: .string(problem.text)])
        } else {
            log.warning(.requestCancelled, "orders and cancellations are not seen", [.reason: .string(problem.text)])
        }
    }

    /// Notes the open transactions behind which requests are. Only their producers can end them, so the worker is ready all the
    /// same. Logged when there are some.
    func noteOpen(_ transactions: [OpenTransaction]) {
        guard hasOpen || !transactions.isEmpty else { return }
        let text = transactions.isEmpty ? nil : transactions.map(\.text).joined(separator: "; ")
        group.note(text)
        if let text, !hasOpen { log.warning(.kafkaError, "requests are behind an open transaction", [.reason: .string(text)]) }
        hasOpen = text != nil
    }

    /// Notes that partitions are not read for this reason, as long as the assignment lasts. Nil when all are.
    func refused(_ reason: String?) { refusal = reason }

    func brokerFailed(_ reason: String) {
        isBrokerDoubtful = true
        fail(group, named: "group", reason: reason)
    }

    /// Notes that the loop was fenced and has ended. Another one may follow, which has new hubs and partitions.
    func lostName(_ reason: String) {
        hubs.removeAll()
        refusal = nil
        leaving = nil
        controlProblem = nil
        group.degrade(nil)
        brokerFailed(reason)
        producerFailed("not ready to write results yet")
    }

    func producerReady() { pass(producer, named: "producer") }

    func producerFailed(_ reason: String) { fail(producer, named: "producer", reason: reason) }

    /// The health of a hub that is used from now on.
    func newHub() -> HubHealth { HubHealth(self) }

    func joined(_ hub: HubHealth) {
        hubs.append(hub)
        reportHubs()
    }

    func left(_ hub: HubHealth) {
        hubs.removeAll { $0 === hub }
        reportHubs()
    }

    /// Says whether a hub works. That one of several does not is no reason to take the worker for one that is not ready: its log, its
    /// status and its metrics tell of it. Without any, during a reload, nothing changes.
    func reportHubs() {
        guard !hubs.isEmpty else { return }
        let troubles = hubs.compactMap(\.problem)
        if troubles.count < hubs.count {
            pass(hub, named: "hub")
        } else {
            fail(hub, named: "hub", reason: (troubles.count > 1 ? "no hub works: " : "") + troubles.joined(separator: "; "))
        }
    }

    private func pass(_ check: HealthCheck, named name: String) {
        if check.pass() { log.info(.healthChanged, "a health check passes", [.check: .string(name)]) }
    }

    private func fail(_ check: HealthCheck, named name: String, reason: String) {
        guard check.fail(reason) else { return }
        log.warning(.healthChanged, "a health check fails", [.check: .string(name), .reason: .string(reason)])
    }

    func beginDraining() { health.beginDraining() }
}
