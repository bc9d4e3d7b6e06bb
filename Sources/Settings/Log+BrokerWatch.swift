public import Kafka
public import Observability

extension Log {
    /// A watch that logs here when no broker answers, and when a broker answers again.
    public func brokerWatch(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) -> BrokerWatch {
        BrokerWatch(now: now) { [self] notice in
            guard case .silent(let cause) = notice.event else {
                return info(.brokerConnection, "a broker answers now", [.address: .string(notice.brokers)])
            }
            warning(
                .brokerConnection,
                cause?.isRefusal == true ? "no broker lets us in; trying on" : "no broker answers; trying on",
                [.address: .string(notice.brokers), .reason: .string("\(notice.reason); \(notice.question)")])
        }
    }
}
