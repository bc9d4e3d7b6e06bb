import Dispatch
import EventLoop
public import Kafka

/// Gives results to many readers, each from its own place: one reader of the topic keeps the last of them in memory, and whoever lies back is
/// served from Kafka in turns. No thread waits with a reader.
///
/// The topic is read from the first use on. `close()` ends that, or the end of the last use of the object.
public final class ResultFeed: Sendable {
    /// The limits of a feed.
    public struct Configuration: Sendable {
        /// The brokers and the user's properties.
        public var kafka: KafkaConfiguration
        /// The topic.
        public var topic: String
        /// The most bytes of records that are kept.
        public var byteLimit = 64 << 20

        /// The most bytes of a slice that is read for those who lie back.
        var sliceByteCount = 4 << 20
        /// The most readers that lie back at a time. It is more than all whom a gateway holds, so that their shares say who is refused.
        var maximumReaderCount = 8192
        /// The records, of all partitions together, that are read before the end at first.
        var earlierCount: Int64 = 2000
        /// The least time between two calls of `onNews`.
        var newsInterval: Duration = .milliseconds(30)
        /// The interval of the search for new partitions.
        var refreshInterval: Duration = .seconds(30)
        /// The time after which Kafka is unreachable.
        var patience: Duration = .seconds(5)

        /// A configuration for the records of `topic`.
        public init(_ kafka: KafkaConfiguration, topic: String) { (self.kafka, self.topic) = (kafka, topic) }
    }

    /// The longest wait for the end of each thread, which may be within a question.
    private static let longestEnd: DispatchTimeInterval = .seconds(2)

    private let configuration: Configuration
    private let onNews: @Sendable () -> Void
    private let memory: FeedMemory
    private let live = ServiceThread()
    private let back = ServiceThread()

    /// A feed that reads the topic in threads of its own. What cannot be opened is tried again until `close()`.
    ///
    /// - Parameters:
    ///   - configuration: The topic and the limits.
    ///   - onNews: Called in a thread of the feed when there are new records, or the topic is read again after it was not. It must not
    ///     block.
    public init(_ configuration: Configuration, onNews: @escaping @Sendable () -> Void) {
        (self.configuration, self.onNews) = (configuration, onNews)
        memory = FeedMemory(configuration)
    }

    deinit {
        _ = memory.close()
    }

    /// The place at the end of what is known now, or nil before the topic was read for the first time.
    public var end: FeedPlaces? {
        start()
        return memory.end
    }

    /// The last problem, or nil while none is known.
    public var problem: KafkaError? { memory.problem }

    /// Reads from a place on.
    ///
    /// A reading that is not at the end may be without records: read on from its places at once. One that is at the end waits for `onNews`.
    /// After `.unreachable`, wait before the next try.
    ///
    /// - Parameters:
    ///   - places: The place.
    ///   - onlyNamed: True to read the partitions that `places` names and no others.
    ///   - room: What the reader has room for.
    ///   - isWanted: Whether a record is wanted. Called under a lock: it must be quick, and call nothing of the feed.
    ///   - then: Called once, before this returns or later, in any thread. It must not block, and must not close the feed.
    public func read(
        from places: FeedPlaces, onlyNamed: Bool = false, room: FeedRoom,
        where isWanted: @escaping @Sendable (FeedRecord) -> Bool,
        then: @escaping @Sendable (Result<FeedReading, FeedFailure>) -> Void
    ) {
        read(FeedRequest(places: places, onlyNamed: onlyNamed, room: room, isWanted: isWanted, then: then))
    }

    /// Reads all partitions from a place on, for a caller who may stop to wait. Its turn is dropped then, and it hears `.full`.
    ///
    /// - Parameters:
    ///   - places: The place.
    ///   - room: What the reader has room for.
    ///   - isWaiting: Whether the caller still waits. Called in a thread of the feed, and must not block.
    ///   - isWanted: Whether a record is wanted, as for the other reading.
    ///   - then: Called once, as that of the other reading.
    public func read(
        from places: FeedPlaces, room: FeedRoom, while isWaiting: @escaping @Sendable () -> Bool,
        where isWanted: @escaping @Sendable (FeedRecord) -> Bool,
        then: @escaping @Sendable (Result<FeedReading, FeedFailure>) -> Void
    ) {
        read(FeedRequest(places: places, onlyNamed: false, room: room, isWanted: isWanted, isWaiting: isWaiting, then: then))
    }

    private func read(_ request: FeedRequest) {
        start()
        if let answer = memory.answer(request) { request.then(answer) }
    }

    /// Finds the place of the first records that were written at a time or later.
    ///
    /// - Parameters:
    ///   - time: Milliseconds since 1970, rounded down to seconds. 0 is the first place that is left, and `.max` the end.
    ///   - isWaiting: Whether the caller still waits. It hears `.full` otherwise.
    ///   - then: Called once, as that of `read`.
    public func findPlaces(
        since time: Int64, while isWaiting: @escaping @Sendable () -> Bool = { true },
        then: @escaping @Sendable (Result<FeedPlaces, FeedFailure>) -> Void
    ) {
        start()
        if let failure = memory.add(FeedSearch(time: time, while: isWaiting, then: then)) { then(.failure(failure)) }
    }

    /// Ends all reading, and the threads. Who waits hears `.closed`, at the latest when a question to Kafka has ended.
    ///
    /// A second call does nothing.
    public func close() {
        guard memory.close() else { return }
        let deadline = DispatchTime.now() + Self.longestEnd
        live.waitForEnd(until: deadline)
        back.waitForEnd(until: deadline)
    }

    private func start() {
        guard memory.start() else { return }
        live.start(named: "pushfan-feed") { [configuration, memory, onNews] in
            LiveReader(configuration: configuration, memory: memory, onNews: onNews).run()
        }
        back.start(named: "pushfan-slices") { [configuration, memory, onNews] in
            BackReader(configuration, memory: memory, onNews: onNews).run()
        }
    }
}
