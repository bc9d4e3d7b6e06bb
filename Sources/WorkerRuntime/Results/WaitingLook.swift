import Delivery
import Kafka
import PushModel

/// Looks whether a worker of this group may have gone on with what waits in partitions of delay lanes and of held requests.
///
/// The first record of the group tells: all behind it were written later, and wait behind it. Lives on the committer's thread.
struct WaitingLook {
    /// A partition and what it retains.
    struct Place {
        let partition: TopicPartition
        /// The first offset that is retained.
        let low: Int64
        /// The next offset.
        let end: Int64
    }

    private let configuration: WorkerConfiguration
    /// How long the brokers may take in all.
    private let limit: Duration

    init(_ configuration: WorkerConfiguration, limit: Duration) {
        self.configuration = configuration
        self.limit = limit
    }

    /// Reads each partition up to its first record of the group.
    ///
    /// - Parameters:
    ///   - places: The partitions.
    ///   - now: The present moment.
    /// - Returns: Those where that record may have been gone on with, and those where it did not come in time.
    /// - Throws: The library refused.
    func doubtful(among places: [Place], now: Timestamp) throws(KafkaError) -> Set<TopicPartition> {
        let filled = places.filter { $0.low < $0.end }
        let look = PartitionLook(configuration: configuration.kafka, limit: limit)
        let answers = try look.answers(from: filled.map { ($0.partition, $0.low) }) { mayHaveGoneOn($0, $1, filled[$1], now) }
        return Set(filled.indices.filter { answers[$0] ?? true }.map { filled[$0].partition })
    }

    /// Whether the first record of this group may have been gone on with; not so where there is none.
    private func mayHaveGoneOn(
        _ reader: PartitionReader, _ slot: Int, _ place: Place, _ now: Timestamp
    ) -> PartitionLook.Step<Bool> {
        var step = PartitionLook.Step<Bool>.nothing
        let result = reader.read(slot: slot) { record in
            step = .foreign
            let headers = PollHeaders(record, group: configuration.groupID)
            // What came since the end was asked for is not what a position was lost for.
            guard record.offset < place.end else {
                step = .answer(false)
                return
            }
            guard headers.isOurs ?? false else { return }
            var lane: Int?
            if case .delay(let delay) = PartitionRole(of: place.partition, in: configuration.topics) { lane = delay }
            step = .answer(
                DelayLanes.mayHaveGoneOn(
                    in: lane, written: record.timestamp.map { Timestamp(milliseconds: $0) },
                    due: headers.due.map { Timestamp(milliseconds: $0) }, now: now))
        }
        if case .endOfPartition = result { return .answer(false) }
        return step
    }
}
