import Delivery
package import JobSupport
import Kafka
package import PushModel

/// The orders of the control topic.
package struct OrderBook: Sendable {
    /// The orders.
    package var orders = Orders()
    /// The offsets of records that look like orders and cannot be obeyed, with their faults: the first 100.
    package var faulty: [(offset: Int64, fault: OrderRecord.Fault)] = []
    /// True if there is a control topic.
    package var hasTopic = true

    /// A book without orders.
    package init() {}
}

extension JobContext {
    /// Reads the orders that were given until now from the control topic, or none if there is no such topic.
    package func orderBook() throws(JobFailure) -> OrderBook {
        let scan = TopicScan(self, topic: topics.control)
        let now = Timestamp(milliseconds: self.now())
        var book = OrderBook()
        guard let reader = try scan.openIfThere(.beginning, .end) else {
            book.hasTopic = false
            return book
        }
        defer { reader.close() }
        try scan.read(reader) { record in
            guard record.partition == OrderRecord.partition, let key = record.key else { return }
            if case .faulty(let fault) = book.orders.take(key: key, value: record.value, now: now), book.faulty.count < 100 {
                book.faulty.append((record.offset, fault))
            }
        }
        return book
    }
}
