public import Kafka
public import Observability

extension Log {
    /// A watch that logs here when no broker answers, when a broker answers again, and whatever else it hears of clients.
    public func brokerWatch(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) -> BrokerWatch {
        BrokerWatch(now: now) { [self] notice in
            switch notice.event {
            case .answered: info(.brokerConnection, "a broker answers now", [.address: .string(notice.brokers)])
            case .otherCluster(let change):
                error(
                    .brokerConnection, "another Kafka cluster answers; nothing more is written or called, and the process ends",
                    [.address: .string(notice.brokers), .reason: .string(change)])
            case .unfreed: warning(.kafkaError, "a Kafka client cannot be freed; the process does not wait for it")
            case .silent(let cause):
                warning(
                    .brokerConnection,
                    cause?.isRefusal == true ? "no broker lets us in; trying on" : "no broker answers; trying on",
                    [.address: .string(notice.brokers), .reason: .string("\(notice.reason); \(notice.question)")])
            }
        }
    }
}
