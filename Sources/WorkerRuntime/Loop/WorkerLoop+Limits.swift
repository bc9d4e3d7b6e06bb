import Basics
import Delivery
import EventLoop
import Kafka
import Observability

/// The limits on the calls to each hub: how fast the fleet may be, and what of that is this worker's.
extension WorkerLoop {
    /// The interval at which the worker hears of rebalances. Whoever heard of one does nothing until all have, and in that time a
    /// fleet with a rate would not use it. Without one, it is not worth four requests a second of an idle worker.
    static func heartbeatInterval(_ configuration: WorkerConfiguration) -> Duration {
        configuration.hubs.contains { $0.rateLimit > 0 } ? .milliseconds(250) : .seconds(3)
    }

    /// Begins to agree with the other workers on shares of a hub's rate, if it has a limit.
    func joinFleet(of port: HubPort) {
        guard port.limits.rate != nil else { return }
        let wakeUp = control.wakeUp
        port.fleet = FleetChannel(
            FleetChannel.Configuration(
                kafka: configuration.kafka, topic: configuration.topics.shares,
                requestTopics: Lane.allCases.map { configuration.topics.requests(of: $0) },
                hub: port.name, worker: configuration.workerID)
        ) { wakeUp.signal() }
    }

    /// Takes what the other workers have announced, and announces what they are to know.
    func handleFleet() {
        for port in ports { if let fleet = port.fleet { handle(fleet, of: port) } }
    }

    private func handle(_ fleet: FleetChannel, of port: HubPort) {
        for event in fleet.takeEvents() {
            switch event {
            case .opened:
                port.isFleetOpen = true
                port.limits.rate?.sharesByPartitions(nil, now: now)
            case .heard(let announcement, let offset): port.limits.rate?.heard(announcement, offset: offset, now: now)
            case .counted(let count): port.limits.rate?.counted(count, now: now)
            case .missing(let count): shareByPartitions(count, of: port)
            case .failed(let error):
                log.warning(
                    .kafkaError, "the shares topic cannot be used at present",
                    [.topic: .string(configuration.topics.shares), .reason: .string(error.description)])
            }
        }
        port.watchFleet(configuration.topics.shares, now: now, log: log)
        guard port.isFleetOpen, let rate = port.limits.rate, now >= rate.nextDue else { return }
        if let announcement = port.limits.rate?.announcement(now: now) { fleet.send(announcement) }
    }

    private func shareByPartitions(_ count: Int, of port: HubPort) {
        if !port.knowsNoFleet {
            log.warning(
                .configurationDoubtful,
                "shares topic missing; the rate limit is divided by partitions, unused quota is lost",
                [.topic: .string(configuration.topics.shares), .hub: .string(port.name), .count: LogValue(count)])
        }
        port.knowsNoFleet = true
        port.limits.rate?.sharesByPartitions(count, now: now)
    }

    /// Takes in how many partitions of requests this worker has now.
    func noteOwnership(_ requestCount: Int) {
        for port in ports { port.limits.rate?.owns(requestCount, now: now) }
    }

    /// Lends this worker's share until it has partitions again. Others may be at work still, or again before it is, because a transaction
    /// that a killed worker left open holds its positions back.
    func lendShares() { for port in ports { port.limits.rate?.rests(now: now) } }

    /// Leaves this worker's share of a hub's rate to the others.
    ///
    /// - Returns: What to close, which may wait for a moment; nil when there is nothing.
    func leaveFleet(of port: HubPort) -> FleetChannel? {
        guard let fleet = port.fleet else { return nil }
        if port.isFleetOpen, let announcement = port.limits.rate?.leave(now: now) { fleet.send(announcement) }
        port.fleet = nil
        port.isFleetOpen = false
        return fleet
    }

    /// Leaves this worker's shares to the others, and closes everything.
    func closePorts() {
        let fleets = ports.compactMap { leaveFleet(of: $0) }
        for fleet in fleets { fleet.close(within: .seconds(1)) }
        for port in ports { port.close(keepsMetrics: false) }
    }
}
