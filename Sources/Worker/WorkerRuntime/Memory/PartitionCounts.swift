import Delivery
import Kafka

/// The partitions that a loop has to read when it is alone, by the reader that they go to. The memory of the library's queues is divided
/// by them.
struct PartitionCounts: Sendable, Equatable {
    /// Those of requests.
    var requests = 0
    /// All others: delay lanes, parents, held requests and the control topic.
    var others = 0

    /// The partitions of a topic where the brokers did not say: what `topics create` makes by default.
    static let usual = 12

    /// Counts the partitions of topics. `count` has those of one that the group's members divide, or nil where that is unknown.
    init(_ topics: Topics, count: (String) -> Int?) {
        var most = 0
        for lane in Lane.allCases {
            let partitions = count(topics.requests(of: lane)) ?? Self.usual
            requests += partitions
            most = max(most, partitions)
        }
        for topic in topics.delays + [topics.parents] { others += count(topic) ?? Self.usual }
        // The control topic has one partition.
        others += topics.partitionCount(of: topics.held, requests: most) + 1
    }

    /// Asks the brokers, for two seconds at most: a worker also starts where they do not answer.
    static func ask(_ kafka: KafkaConfiguration, topics: Topics) -> PartitionCounts {
        // No others: the library's embedded cluster creates what is asked for.
        let known = try? TopicAdmin(kafka).descriptions(of: topics.shared, timeout: .seconds(2))
        return PartitionCounts(topics) { name in if case .existing(let count)? = known?[name] { count } else { nil } }
    }
}
