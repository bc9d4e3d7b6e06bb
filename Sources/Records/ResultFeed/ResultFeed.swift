public import Kafka

/// Gives results to many readers, each from its own place: one reader of the topic keeps the last of them in memory, and whoever lies back is
/// served from Kafka in turns. No thread waits with a reader.
public final class ResultFeed: Sendable {
    /// The limits of a feed.
    public struct Configuration: Sendable {
        /// The brokers and the user's properties.
        public var kafka: KafkaConfiguration
        /// The topic.
        public var topic: String
        /// The most bytes of records that are kept.
        public var byteLimit = 64 << 20

        /// A configuration for the records of `topic`.
        public init(_ kafka: KafkaConfiguration, topic: String) { (self.kafka, self.topic) = (kafka, topic) }
    }

    /// A feed that reads the topic in a thread of its own, from the end on. What cannot be opened is tried again until `close()`.
    ///
    /// - Parameters:
    ///   - configuration: The topic and the limits.
    ///   - onNews: Called in its thread when there are new records, or the topic is read again after it was not. It must not block.
    public init(_ configuration: Configuration, onNews: @escaping @Sendable () -> Void) {}

    /// The place at the end of what is known now, or nil before the topic was read for the first time.
    public var end: FeedPlaces? { nil }

    /// The last problem, or nil while none is known.
    public var problem: KafkaError? { nil }

    /// Reads from a place on.
    ///
    /// - Parameters:
    ///   - places: The place.
    ///   - onlyNamed: True to read the partitions that `places` names and no others.
    ///   - room: What the reader has room for.
    ///   - isWanted: Whether a record is wanted. Called under a lock: it must be quick, and call nothing of the feed.
    ///   - then: Called once, before this returns or later, in any thread. It must not block.
    public func read(
        from places: FeedPlaces, onlyNamed: Bool = false, room: FeedRoom, where isWanted: @escaping @Sendable (FeedRecord) -> Bool,
        then: @escaping @Sendable (Result<FeedReading, FeedFailure>) -> Void
    ) { then(.failure(.closed)) }

    /// Finds the place of the first records that were written at a time or later, in milliseconds since 1970; 0 for the first place that is left.
    public func findPlaces(since time: Int64, then: @escaping @Sendable (Result<FeedPlaces, FeedFailure>) -> Void) {
        then(.failure(.closed))
    }

    /// Ends all reading, and the threads.
    public func close() {}
}
