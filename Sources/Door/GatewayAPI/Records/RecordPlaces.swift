package import Basics
package import Kafka

package struct StoredPlace: Sendable, Hashable {
    package var partition: TopicPartition
    /// The offset there, from 0.
    package var offset: Int64

    /// A place by its parts.
    package init(topic: String, partition: Int32, offset: Int64) {
        self.partition = TopicPartition(topic: topic, partition: partition)
        self.offset = offset
    }
}

/// Where in their topics records can be, as far as the brokers have said it; without clock and broker.
///
/// An answer of a broker holds for good where it says that a place is there: records stay where they are. That a place is not there holds
/// only for places that were shown before the broker was asked, because whoever shows one learnt it after its record was written.
package struct RecordPlaces: Sendable {
    /// A number that says which places there are.
    package enum Bound: Sendable, Hashable {
        case partitionCount(topic: String)
        /// The offset behind a partition's last record.
        case end(TopicPartition)
        /// The offset of a partition's oldest record.
        case start(TopicPartition)

        fileprivate func admits(_ place: StoredPlace, value: Int64) -> Bool {
            switch self {
            case .partitionCount: place.partition.partition < value
            case .end: place.offset < value
            case .start: place.offset >= value
            }
        }
    }

    /// What is known of a place.
    enum Verdict: Sendable, Equatable {
        /// It is there; what lies in it decides.
        case present
        /// No record can be there.
        case impossible
        /// A broker must be asked for this first.
        case unknown(Bound)
    }

    private var answers: [Bound: (value: Int64, time: MonotonicTime)] = [:]

    /// Nothing is known.
    init() {}

    /// The verdict on a place that a caller showed then. Asks for bounds of partitions alone that are there. Its topic is one
    /// that the gateway works with: what is known of a topic is never forgotten for good.
    func verdict(on place: StoredPlace, shown: MonotonicTime) -> Verdict {
        for bound in Self.bounds(of: place.partition) {
            guard let answer = answers[bound] else { return .unknown(bound) }
            if !bound.admits(place, value: answer.value) { return answer.time >= shown ? .impossible : .unknown(bound) }
        }
        return .present
    }

    /// Notes what a broker has answered to a question sent at `time` or later, unless a later answer is known.
    package mutating func note(_ value: Int64, for bound: Bound, askedAt time: MonotonicTime) {
        if let known = answers[bound], known.time > time { return }
        answers[bound] = (value, time)
    }

    /// Forgets what is known of a partition and of their number, as after an error: the topic may be another one.
    mutating func forget(_ partition: TopicPartition) {
        for bound in Self.bounds(of: partition) { answers[bound] = nil }
    }

    private static func bounds(of partition: TopicPartition) -> [Bound] {
        [.partitionCount(topic: partition.topic), .end(partition), .start(partition)]
    }
}
