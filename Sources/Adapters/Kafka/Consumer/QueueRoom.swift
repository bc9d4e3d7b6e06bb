/// The bytes that a client may hold of each partition that it reads.
///
/// librdkafka has no limit for a client as a whole where each partition has a queue of its own: `queued.max.messages.kbytes` then counts
/// for each by itself, and cannot be changed once the client is made (CONFIGURATION.md of 2.0.2; `rd_kafka_toppar_fetch_decide` compares
/// it with the size of the partition's queue). So one budget has to be divided by the partitions that there may be. Three things go
/// beyond it:
///
/// - A queue that is just below its limit gets one answer more, of `fetchByteCount`; or of one batch of the topic, which a broker never
///   divides (`max.message.bytes`, 1 MiB by default).
/// - Only values are counted, not keys and headers.
/// - A record keeps the whole answer that it came in, with the records of other partitions; where its batch was compressed, what that
///   batch was unpacked to. The library limits answers (`fetch.max.bytes`) to the limit of a queue, or to `message.max.bytes` if that is
///   more.
public struct QueueRoom: Sendable, Equatable {
    /// The bytes of values in a partition's queue from which on nothing is fetched for it (`queued.max.messages.kbytes`, which the library
    /// takes times 1,000), 64 KiB to 4 MB.
    public let queueByteCount: Int
    /// The bytes of a partition in one answer (`fetch.message.max.bytes`), 64 to 256 KiB.
    public let fetchByteCount: Int
    /// The time that a broker may wait before it answers that there is nothing (`fetch.wait.max.ms`), milliseconds, unless the user's
    /// properties say otherwise. Each question names all partitions, so with many it is asked more seldom, a sixth as often at least. A record that
    /// comes is answered at once. A partition that was left out of a question, because its queue was full, waits for the next one.
    public let fetchWait: Int

    /// The most that is of use: for partitions that are read at full speed.
    public static let large = QueueRoom(queueByteCount: 4_096_000, fetchByteCount: 256 << 10, fetchWait: 80)
    /// The most for partitions that may lie unread for long: half a megabyte a second of each, where the library looks at a full queue once
    /// a second.
    public static let small = QueueRoom(queueByteCount: 512_000, fetchByteCount: 256 << 10, fetchWait: 500)

    private static let least = 64 << 10

    /// The partitions that may be named in vain in the time of one question, where there are few.
    private static let named = 256

    private init(queueByteCount: Int, fetchByteCount: Int, fetchWait: Int) {
        self.queueByteCount = queueByteCount
        self.fetchByteCount = fetchByteCount
        self.fetchWait = fetchWait
    }

    /// An equal share of a budget for each partition, of which a quarter is for the answer that comes on top.
    ///
    /// - Parameters:
    ///   - budget: Bytes for all partitions together. It is exceeded where a share would be below 128 KiB.
    ///   - partitionCount: The partitions that there may be.
    ///   - most: What a partition gets where there are few.
    public init(sharing budget: Int, among partitionCount: Int, atMost most: QueueRoom) {
        let share = max(budget, 0) / max(partitionCount, 1)
        fetchByteCount = min(most.fetchByteCount, max(share / 4, Self.least))
        queueByteCount = min(most.queueByteCount, max(share - fetchByteCount, Self.least))
        fetchWait = most.fetchWait * min(max(partitionCount, Self.named), 6 * Self.named) / Self.named
    }

    /// The properties that say so.
    var settings: [ClientSettings.Setting] {
        [
            ("queued.max.messages.kbytes", "\(queueByteCount / 1000)"), ("max.partition.fetch.bytes", "\(fetchByteCount)"),
            ("fetch.wait.max.ms", "\(fetchWait)"),
        ]
    }
}
