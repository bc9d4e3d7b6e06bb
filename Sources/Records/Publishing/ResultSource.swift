import Kafka

/// The source from which a follower reads results: a `TopicReader`, or in tests a stand-in for faults that no embedded broker can
/// play. Used by one thread.
protocol ResultSource: AnyObject {
    /// The position of the reader in each partition.
    var positions: [Int32: Int64] { get }

    /// Waits for the next record, and passes its key and value to `body`, unless it lacks one of them.
    func read(
        timeout: Duration, body: (_ key: Span<UInt8>, _ value: Span<UInt8>, _ place: ResultPlace) -> Void
    ) -> ReadResult

    /// Removes the next event of the client, or returns nil if there is none.
    func nextEvent() -> ClientEvent?

    /// Queries the topic's partitions, and reads new ones from their beginning. Returns the number of those.
    func refreshPartitions(timeout: Duration) throws(KafkaError) -> Int

    /// Stops reading.
    func close()
}

/// The place and time of a result's record.
struct ResultPlace: Sendable {
    let partition: Int32
    let offset: Int64
    /// Milliseconds since 1970.
    let timestamp: Int64
}

extension TopicReader: ResultSource {
    func read(
        timeout: Duration, body: (_ key: Span<UInt8>, _ value: Span<UInt8>, _ place: ResultPlace) -> Void
    ) -> ReadResult {
        read(timeout: timeout) { record in
            guard let key = record.key, let value = record.value else { return }
            body(key, value, ResultPlace(partition: record.partition, offset: record.offset, timestamp: record.timestamp ?? 0))
        }
    }
}
