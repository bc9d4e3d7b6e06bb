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

    /// Sets the rate that counts: the lowest of the settings' and the orders'.
    ///
    /// One of the settings is shared with the fleet as before, for shares are parts of it. Where the settings have none, the workers have not
    /// agreed on shares, and a part of them that does so would count on what the others take. So each takes its part of all partitions then,
    /// as without the topic of shares. It holds from the first moment, needs no agreement, and is never more than the rate in all. Unused
    /// quota is lost.
    ///
    /// - Parameters:
    ///   - ordered: The lowest limit of the orders, or nil without any.
    ///   - part: The partitions of requests.
    ///   - now: The present moment.
    func setRate(ordered: LoopLimits.HubRate?, part: LoopLimits.Part, now: MonotonicTime) {
        let configured = settings.rateLimit > 0 ? settings.rateLimit : nil
        guard let rate = [configured, ordered?.callsPerSecond].compactMap(\.self).min() else {
            limits.rate = nil
            return
        }
        let order = rate == configured ? nil : ordered?.order
        guard configured == nil else {
            limits.rate?.setLimit(callsPerSecond: rate, order: order, now: now)
            return
        }
        if limits.rate == nil { limits.rate = RateLimit(callsPerSecond: rate, member: 0, now: now) }
        limits.rate?.sharesByPartitions(part.all, now: now)
        limits.rate?.owns(part.owned, now: now)
        limits.rate?.setLimit(callsPerSecond: rate, order: order, now: now)
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
