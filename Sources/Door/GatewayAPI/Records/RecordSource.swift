package import Kafka

/// Asks brokers for single records, as ``RecordReader`` needs it. Belongs to one thread.
package protocol RecordSource: AnyObject {
    /// The value of a bound as the brokers know it now, from 0. The partition is there. It fails where the topic is missing or
    /// not allowed, or no broker answered in time.
    func value(of bound: RecordPlaces.Bound, timeout: Duration) throws(KafkaError) -> Int64

    /// The record at a place that is there, or nil when it is gone. It fails as ``value(of:timeout:)`` does.
    func record(at place: StoredPlace, timeout: Duration) throws(KafkaError) -> StoredRecord?
}

/// What was read of a record.
package struct StoredRecord: Sendable {
    /// When it was written, in milliseconds since 1970; nil if the topic keeps no times.
    package let timestamp: Int64?
    /// True if a broker gave it that time.
    var isTimedByBroker = false
    /// The value; nil for a tombstone.
    package let value: [UInt8]?
    package var headers: [(name: [UInt8], value: [UInt8]?)] = []

    package init(
        timestamp: Int64?, isTimedByBroker: Bool = false, value: [UInt8]?, headers: [(name: [UInt8], value: [UInt8]?)] = []
    ) {
        self.timestamp = timestamp
        self.isTimedByBroker = isTimedByBroker
        self.value = value
        self.headers = headers
    }
}

package final class KafkaRecords: RecordSource {
    /// Never reached while records are fetched in small portions, and it must not be: the client would pause for 1 s.
    private static let readAhead = 64 << 20
    /// One record is wanted, not those behind it. The wait for those at the partition's end would hold up the next question.
    private static let defaults = [
        KafkaConfiguration.Property(key: "fetch.message.max.bytes", value: "131072"),
        KafkaConfiguration.Property(key: "fetch.wait.max.ms", value: "10"),
    ]

    private let fetcher: RecordFetcher

    /// Makes a client. Nothing is sent yet.
    init(_ kafka: KafkaConfiguration) throws(KafkaError) {
        var configuration = kafka
        configuration.properties = Self.defaults + kafka.properties
        fetcher = try RecordFetcher(configuration, readAhead: Self.readAhead)
    }

    package func value(of bound: RecordPlaces.Bound, timeout: Duration) throws(KafkaError) -> Int64 {
        switch bound {
        case .partitionCount(let topic): Int64(try fetcher.partitionCount(of: topic, timeout: timeout))
        case .start(let partition): try fetcher.startOffset(of: partition, timeout: timeout)
        case .end(let partition): try fetcher.endOffset(of: partition, timeout: timeout)
        }
    }

    package func record(at place: StoredPlace, timeout: Duration) throws(KafkaError) -> StoredRecord? {
        // So that nothing is fetched in the background before the next question.
        defer { fetcher.stop() }
        switch try fetcher.record(at: place.offset, of: place.partition, timeout: timeout) {
        case .record(let record):
            return StoredRecord(
                timestamp: record.timestamp, isTimedByBroker: record.isTimedByBroker, value: record.value,
                headers: record.headers)
        case .gone: return nil
        }
    }
}
