import Basics
import Delivery
import EventLoop
import Kafka
import Observability

/// The port's share of the hub's rate, which it agrees on with the other workers.
extension HubPort {
    /// Begins to agree with the other workers, if the hub's rate has a limit. News of them is put into `mail`.
    func joinFleet(_ configuration: WorkerConfiguration, mail: HubMail, wakeUp: WakeUp) {
        guard limits.rate != nil else { return }
        fleet = FleetChannel(
            FleetChannel.Configuration(
                kafka: configuration.kafka, topic: configuration.topics.shares,
                requestTopics: Lane.allCases.map { configuration.topics.requests(of: $0) }, hub: name,
                worker: configuration.workerID)
        ) { [number] in
            mail.post(number)
            wakeUp.signal()
        }
    }

    /// Takes what the other workers have announced in the topic of shares, and announces what they are to know.
    func handleFleet(_ topic: String, now: MonotonicTime, log: Log) {
        guard let fleet else { return }
        for event in fleet.takeEvents() {
            switch event {
            case .opened:
                isFleetOpen = true
                limits.rate?.sharesByPartitions(nil, now: now)
            case .heard(let announcement, let offset): limits.rate?.heard(announcement, offset: offset, now: now)
            case .counted(let count): limits.rate?.counted(count, now: now)
            case .missing(let count): shareByPartitions(count, topic: topic, now: now, log: log)
            case .failed(let error):
                log.warning(
                    .kafkaError, "the shares topic cannot be used at present",
                    [.topic: .string(topic), .reason: .string(error.description)])
            }
        }
        watchFleet(topic, now: now, log: log)
        guard isFleetOpen, let rate = limits.rate, now >= rate.nextDue else { return }
        if let announcement = limits.rate?.announcement(now: now) { fleet.send(announcement) }
    }

    private func shareByPartitions(_ count: Int, topic: String, now: MonotonicTime, log: Log) {
        if !knowsNoFleet {
            log.warning(
                .configurationDoubtful,
                "shares topic missing; the rate limit is divided by partitions, unused quota is lost",
                [.topic: .string(topic), .hub: .string(name), .count: LogValue(count)])
        }
        knowsNoFleet = true
        limits.rate?.sharesByPartitions(count, now: now)
    }

    /// Leaves this worker's share to the others.
    ///
    /// - Returns: The channel to close, which may take a moment, or nil when there is none.
    func leaveFleet(now: MonotonicTime) -> FleetChannel? {
        guard let fleet else { return nil }
        if isFleetOpen, let announcement = limits.rate?.leave(now: now) { fleet.send(announcement) }
        self.fleet = nil
        isFleetOpen = false
        return fleet
    }
}
