import Delivery
import Groups
import Kafka
import PushModel

/// The offsets at which a group continues large requests in some partitions, by their records and results.
///
/// Every record of the topic of parents has to be taken before the first outcome, so that outcomes of other requests need no memory.
struct WholeStarts {
    /// A record by which outcomes name an open request: the one that it was published with, its own record in the topic of parents if it
    /// came as a file, or that of its last part for a dead letter.
    private struct Place: Hashable {
        let topic: String
        let partition: Int32
        let offset: Int64
    }

    private struct Whole {
        let partition: TopicPartition
        let key: ParentKey
        /// The time of the record's publication, milliseconds since 1970, or nil when that is not known.
        let time: Int64?
    }

    private var starts: [TopicPartition: ParentsStart] = [:]
    /// A topic that was made again has several at one place, which differ in their times.
    private var wholes: [Place: [Whole]] = [:]

    /// Nothing was taken yet of the partitions of the topic of parents among some.
    init(of positions: [GroupPosition], topic: String) {
        for position in positions where position.partition.topic == topic {
            starts[position.partition] = ParentsStart(low: position.low, high: position.high)
        }
    }

    mutating func take(_ record: borrowing ConsumedRecord, of topic: String) {
        let partition = TopicPartition(topic: topic, partition: record.partition)
        guard starts[partition] != nil, let bytes = record.key, let (key, role) = ParentKey.read(bytes) else { return }
        let own = Place(topic: topic, partition: record.partition, offset: record.offset)
        switch role {
        case .parent:
            guard let value = record.value else { return starts[partition]?.deleted(key, at: record.offset) ?? () }
            guard let parent = ParentRecord(value),
                starts[partition]?.opened(key, chunks: parent.chunks, at: record.offset) == true
            else { return }
            let origin = parent.origin
            let place = origin.map { Place(topic: $0.topic, partition: $0.partition, offset: $0.offset) } ?? own
            let time = origin.map { $0.timestamp.milliseconds } ?? record.timestamp
            wholes[place, default: []].append(Whole(partition: partition, key: key, time: time))
        case .part(let chunk):
            guard let value = record.value, PartTally(value, chunk: chunk) != nil,
                starts[partition]?.notePart(key, chunk: chunk, at: record.offset) == true
            else { return }
            wholes[own, default: []].append(Whole(partition: partition, key: key, time: nil))
        case .progress, .claim: return
        }
    }

    /// Notes that the record published at a place has its outcome. Its publication is in milliseconds since 1970, or nil when
    /// that is not known.
    mutating func finish(topic: String, partition: Int32, offset: Int64, time: Int64?) {
        let found = wholes[Place(topic: topic, partition: partition, offset: offset)] ?? []
        guard let whole = found.last(where: { time == nil || $0.time == nil || time == $0.time }) else { return }
        starts[whole.partition]?.finish(whole.key)
    }

    /// The offset at which the group continues in a partition, once all was taken, or nil for any other partition.
    func outcome(of partition: TopicPartition) -> ParentsStart.Outcome? { starts[partition]?.outcome() }
}
