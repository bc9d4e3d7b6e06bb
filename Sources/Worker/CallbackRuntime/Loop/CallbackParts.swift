import Basics
import CallbackRecords
import Kafka
import ResultFeed

/// A feed of results that receivers are served from.
protocol FeedSource: Sendable {
    /// The place at the end of what is known now, or nil before the topic was read.
    var end: FeedPlaces? { get }
    /// The last problem, or nil while none is known.
    var problem: KafkaError? { get }

    /// Reads from a place on, as `ResultFeed` does.
    func read(
        from places: FeedPlaces, onlyNamed: Bool, room: FeedRoom, where isWanted: @escaping @Sendable (FeedRecord) -> Bool,
        then: @escaping @Sendable (Result<FeedReading, FeedFailure>) -> Void)

    /// Ends all reading.
    func close()
}

extension ResultFeed: FeedSource {}

/// The place of this process among those of the service, which divide the partitions.
protocol PartitionSharing: Sendable {
    /// The last problem, or nil while none is known.
    var problem: KafkaError? { get }

    /// Gives all partitions up. It waits until that is heard.
    func close()
}

extension CallbackMembership: PartitionSharing {}

/// The decisions about receivers, apart from their file.
protocol StateSource: Sendable {
    /// The states, by receiver.
    var states: [String: ReceiverState] { get }
    /// True after all that was decided before is known.
    var isKnown: Bool { get }

    /// Ends it.
    func close()
}

extension ReceiverStates: StateSource {}

/// A place for what receivers did not take.
protocol DeadLetterSink: Sendable {
    /// Writes a dead letter. `then` hears in any thread, perhaps at once, why it may not be written, or nil where it is for certain.
    func write(_ letter: CallbackDeadLetter, then: @escaping @Sendable (String?) -> Void)
}

/// All that a service has to do with outside of its receivers, so that tests can have another world.
struct CallbackParts: Sendable {
    /// The file's content at a moment.
    var receivers: @Sendable (MonotonicTime) -> ReceiverSet
    /// The positions of receivers. Its calls block.
    var positions: any CallbackPositions
    /// Opens the feed of a topic, which tells of news.
    var feed: @Sendable (_ topic: String, _ onNews: @escaping @Sendable () -> Void) -> any FeedSource
    /// Takes a place among the processes, which tells what is ours and may wait.
    var sharing: @Sendable (_ onChange: @escaping @Sendable (Set<TopicPartition>) -> Void) -> any PartitionSharing
    /// Follows what is decided.
    var states: @Sendable (_ onChange: @escaping @Sendable () -> Void) -> any StateSource
    /// Writes what was decided about a receiver of that name. It blocks.
    var decide: @Sendable (ReceiverState, String) throws(KafkaError) -> Void
    /// The place for what receivers did not take.
    var deadLetters: any DeadLetterSink
    /// Frees positions, decisions and dead letters at the end.
    var close: @Sendable () -> Void
    /// The present moment.
    var now: @Sendable () -> MonotonicTime
    /// The wall clock, in milliseconds since 1970.
    var wallClock: @Sendable () -> Int64
}
