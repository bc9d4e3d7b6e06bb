import Kafka
import TestSupport
import Testing

extension Record {
    /// Everything that stands in a topic, as soon as there is so much of it: what a transaction has committed shows a moment after its
    /// commit has returned.
    static func all(of topic: String, _ kafka: KafkaConfiguration, atLeast count: Int) throws -> [Record] {
        var records: [Record] = []
        _ = try eventually {
            records = try allNow(of: topic, kafka)
            return records.count >= count
        }
        return records
    }

    private static func allNow(of topic: String, _ kafka: KafkaConfiguration) throws -> [Record] {
        let reader = try TopicReader(kafka, topic: topic, start: .beginning, stop: .end, timeout: farDeadline)
        defer { reader.close() }
        var records: [Record] = []
        let deadline = ContinuousClock.now + farDeadline
        while !reader.hasReachedEnd {
            try #require(ContinuousClock.now < deadline)
            _ = reader.read(timeout: .milliseconds(100)) { records.append(Record($0)) }
        }
        return records
    }
}
