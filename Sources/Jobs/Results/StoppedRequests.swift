package import Delivery
import Kafka
import PushModel

extension JobContext {
    /// Reads the requests that were cancelled until now from the control topic, or none if there is no such topic.
    package func cancellations() throws(JobFailure) -> Cancellations {
        let scan = TopicScan(self, topic: topics.control)
        let now = Timestamp(milliseconds: self.now())
        // More than one worker remembers, because a plan is made once.
        var cancellations = Cancellations(capacity: 10 * Cancellations.capacity)
        guard let reader = try scan.openIfThere(.beginning, .end) else { return cancellations }
        defer { reader.close() }
        try scan.read(reader) { record in
            guard record.partition == CancelRecord.partition, let key = record.key, let value = record.value,
                let cancel = CancelRecord(key: key, value: value)
            else { return }
            let moment = record.timestamp.map { Timestamp(milliseconds: $0) } ?? now
            cancellations.add(cancel, at: moment, now: now)
        }
        return cancellations
    }
}
