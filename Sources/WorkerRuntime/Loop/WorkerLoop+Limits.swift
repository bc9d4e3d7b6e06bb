import Delivery
import EventLoop
import Kafka
import Observability

/// What limits the calls to the hub: how fast the fleet may be, and what of that is this worker's.
extension WorkerLoop {
    /// The limits of a hub that was not called yet.
    static func limits(_ configuration: WorkerConfiguration, _ generator: inout QuickRandom) -> HubLimits {
        let concurrency = ConcurrencyLimit(most: configuration.maxInFlight, isAdaptive: configuration.adaptsConcurrency)
        guard configuration.rateLimit > 0 else { return HubLimits(concurrency: concurrency) }
        let now = MonotonicTime.now().nanoseconds
        let rate = RateLimit(callsPerSecond: configuration.rateLimit, member: generator.next(), now: now)
        return HubLimits(concurrency: concurrency, rate: rate)
    }

    /// How often the worker hears of rebalances. Whoever heard of one does nothing until all have, and in that time a fleet with a rate
    /// would not use it; without one, it is not worth four requests a second of an idle worker.
    static func heartbeatInterval(_ configuration: WorkerConfiguration) -> Duration {
        configuration.rateLimit > 0 ? .milliseconds(250) : .seconds(3)
    }

    /// Begins to agree with the other workers on shares of the hub's rate, if it has a limit.
    func joinFleet() {
        guard limits.rate != nil else { return }
        let wakeUp = wakeUp
        fleet = FleetChannel(
            FleetChannel.Configuration(
                kafka: configuration.kafka, topic: configuration.topics.shares,
                requestTopics: Lane.allCases.map { configuration.topics.requests(of: $0) },
                hub: configuration.hubName, worker: configuration.workerID)
        ) { wakeUp.signal() }
    }

    /// Takes what the other workers have announced, and announces what they are to know.
    func handleFleet() {
        guard let fleet else { return }
        for event in fleet.takeEvents() {
            switch event {
            case .opened:
                isFleetOpen = true
                limits.rate?.sharesByPartitions(nil, now: now)
            case .heard(let announcement, let offset): limits.rate?.heard(announcement, offset: offset, now: now)
            case .missing(let count): shareByPartitions(count)
            case .failed(let error):
                log.warning(
                    .kafkaError, "the topic for shares cannot be used at present",
                    [.topic: .string(configuration.topics.shares), .reason: .string(error.description)])
            }
        }
        guard isFleetOpen, let rate = limits.rate, now >= rate.nextDue else { return }
        if let announcement = limits.rate?.announcement(now: now) { fleet.send(announcement) }
    }

    private func shareByPartitions(_ count: Int) {
        if !knowsNoFleet {
            log.warning(
                .configurationDoubtful,
                "there is no topic for shares: each worker makes its partitions' share of the calls, and idle shares are not lent",
                [.topic: .string(configuration.topics.shares), .count: LogValue(count)])
        }
        knowsNoFleet = true
        limits.rate?.sharesByPartitions(count, now: now)
    }

    /// Takes in how many partitions of requests this worker has now; between two assignments it keeps the share of the former one.
    func noteOwnership(_ requestCount: Int) {
        limits.rate?.owns(requestCount, now: now)
    }

    /// Leaves this worker's share to the others.
    func leaveFleet() {
        guard let fleet else { return }
        if isFleetOpen, let announcement = limits.rate?.leave(now: now) { fleet.send(announcement) }
        fleet.close(within: .seconds(1))
        self.fleet = nil
    }
}
