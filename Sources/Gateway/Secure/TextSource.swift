import Kafka

/// Asks brokers for texts of secure push, as ``TextReader`` needs it. Belongs to one thread.
protocol TextSource: AnyObject {
    /// The value of a bound as the brokers know it now.
    ///
    /// - Parameters:
    ///   - bound: Which one; that of a partition only if it is there.
    ///   - timeout: How long to wait.
    /// - Returns: The value, from 0.
    /// - Throws: The topic is missing or not allowed, or no broker answered in time.
    func value(of bound: TextPlaces.Bound, timeout: Duration) throws(KafkaError) -> Int64

    /// The record at an id's place.
    ///
    /// - Parameters:
    ///   - id: The id, whose place is there.
    ///   - timeout: How long to wait.
    /// - Returns: The record; nil when it is gone.
    /// - Throws: As ``value(of:timeout:)`` does.
    func record(of id: SecureID, timeout: Duration) throws(KafkaError) -> TextRecord?
}

/// What of a record a text is read from.
struct TextRecord: Sendable {
    /// When it was written, in milliseconds since 1970; nil if the topic keeps no times.
    let timestamp: Int64?
    /// The text and its user, encrypted; nil for a tombstone.
    let value: [UInt8]?
}

/// Reads the texts' topic in Kafka.
final class TopicTexts: TextSource {
    /// Never reached while records are fetched in small portions, and it must not be: the client would pause for 1 s.
    private static let readAhead = 64 << 20
    /// One record is wanted, not those behind it. The wait for those at the partition's end would hold up the next question.
    private static let defaults = [
        KafkaConfiguration.Property(key: "fetch.message.max.bytes", value: "131072"),
        KafkaConfiguration.Property(key: "fetch.wait.max.ms", value: "10"),
    ]

    private let topic: String
    private let fetcher: RecordFetcher

    /// Makes a client; nothing is sent yet.
    ///
    /// - Parameters:
    ///   - topic: The topic's name.
    ///   - kafka: The brokers and the user's properties.
    /// - Throws: A configuration that was refused.
    init(_ topic: String, _ kafka: KafkaConfiguration) throws(KafkaError) {
        var configuration = kafka
        configuration.properties = Self.defaults + kafka.properties
        self.topic = topic
        fetcher = try RecordFetcher(configuration, readAhead: Self.readAhead)
    }

    func value(of bound: TextPlaces.Bound, timeout: Duration) throws(KafkaError) -> Int64 {
        switch bound {
        case .partitionCount: Int64(try fetcher.partitionCount(of: topic, timeout: timeout))
        case .start(let partition): try fetcher.startOffset(of: place(partition), timeout: timeout)
        case .end(let partition): try fetcher.endOffset(of: place(partition), timeout: timeout)
        }
    }

    func record(of id: SecureID, timeout: Duration) throws(KafkaError) -> TextRecord? {
        // So that nothing is fetched in the background before the next question.
        defer { fetcher.stop() }
        switch try fetcher.record(at: id.offset, of: place(id.partition), timeout: timeout) {
        case .record(let record): return TextRecord(timestamp: record.timestamp, value: record.value)
        case .gone: return nil
        }
    }

    private func place(_ partition: Int32) -> TopicPartition { TopicPartition(topic: topic, partition: partition) }
}
