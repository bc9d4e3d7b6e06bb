import JobSupport
import Kafka

/// A look at whether records of a topic lie in the partitions that their keys name.
struct KeySample: Equatable {
    /// A record in another partition.
    struct Example: Equatable {
        /// The partition in which it lies.
        let partition: Int32
        /// The partition that its key names.
        let named: Int32
    }

    /// The most partitions that are looked at, and records of each: the newest.
    static let most = (partitions: 32, records: Int64(8))

    /// The topic's number of partitions.
    let partitionCount: Int32
    /// The records with a key.
    private(set) var count = 0
    /// The number of those that lie elsewhere.
    private(set) var elsewhereCount = 0
    /// The first of these.
    private(set) var example: Example?

    /// A sample of a topic without any records yet.
    init(partitionCount: Int32) { self.partitionCount = partitionCount }

    /// Takes a record in. One without a key, or with an empty one, says nothing.
    mutating func take(key: Span<UInt8>?, in partition: Int32) {
        guard let key, !key.isEmpty, partitionCount > 1 else { return }
        count += 1
        let named = Producer.partition(ofKey: key, of: partitionCount)
        guard named != partition else { return }
        elsewhereCount += 1
        example = example ?? Example(partition: partition, named: named)
    }

    /// The warning's text, or nil where each lies as its key says.
    var text: String? {
        example.map {
            "\(elsewhereCount) of the newest \(Counted.text(count, "request", "requests")) with a key are not where murmur2 puts it, as "
                + "one in partition \($0.partition) instead of \($0.named): a repetition from elsewhere is sent again, unless they are "
                + "older than the partitions"
        }
    }

    /// The cure of it.
    static let remedy = "set partitioner=murmur2_random in publishers made with librdkafka; page Requests has other clients"
}
