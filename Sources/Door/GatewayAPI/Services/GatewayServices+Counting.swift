package import Basics
package import Kafka
import Observability

extension GatewayServices {
    /// Counts what became of a record that was given to the client then.
    package func countAck(_ delivery: Producer.Delivery, since started: MonotonicTime) {
        metrics.ack.series([delivery.label]).observe(nanoseconds: now().nanoseconds(since: started))
    }
}

extension Producer.Delivery {
    /// A short word, safe as a metric's label.
    fileprivate var label: String {
        switch self {
        case .persisted: "persisted"
        case .notPersisted: "not_persisted"
        case .possiblyPersisted: "possibly_persisted"
        }
    }
}
