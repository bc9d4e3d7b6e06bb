public import Kafka

/// The room of a reader.
public struct FeedRoom: Sendable {
    /// The most records, at least 1.
    public var records: Int
    /// The bytes after which no further record is taken.
    public var bytes: Int

    /// Room for so much.
    public init(records: Int, bytes: Int) { (self.records, self.bytes) = (records, bytes) }
}

/// A reading from a place on.
public struct FeedReading: Sendable {
    /// The records that were wanted, those of one partition in their order.
    public let records: [FeedRecord]
    /// The place behind them, and behind all that was passed over.
    public let places: FeedPlaces
    /// True if that is the end of what is known now. Otherwise read on at once, also where there are no records.
    public let isAtEnd: Bool

    /// A reading of these records.
    public init(records: [FeedRecord], places: FeedPlaces, isAtEnd: Bool) {
        (self.records, self.places, self.isAtEnd) = (records, places, isAtEnd)
    }
}

/// The reason for which nothing was read.
public enum FeedFailure: Error, Sendable {
    /// Retention has passed the place, or the topic was made again. `first` is the first place that is left.
    case gone(first: FeedPlaces)
    /// Kafka does not answer, or not yet.
    case unreachable(KafkaError)
    /// Too many read what lies back.
    case full
    /// The feed is closed.
    case closed
}
