import Delivery
import GroupPositions
import Kafka
import Observability

extension WorkerConfiguration {
    /// The terms by which it is decided where partitions begin.
    var groupTerms: GroupTerms {
        GroupTerms(
            kafka: kafka, group: groupID, requests: Lane.allCases.map { topics.requests(of: $0) }, delays: topics.delays,
            held: topics.held, parents: topics.parents, start: start)
    }
}

extension WorkerConfiguration {
    /// Leaves out the partitions of topics that a worker does not read. A member that comes back with other topics within its session is given
    /// those that it had (static membership).
    func ownPartitions(of list: [TopicPartition], log: Log) -> [TopicPartition] {
        let own = list.filter { topics.shared.contains($0.topic) }
        if let foreign = list.first(where: { !own.contains($0) }) {
            log.warning(
                .rebalanced, "the group gave partitions of topics that this worker does not read; they are left",
                [.topic: .string(foreign.topic), .count: LogValue(list.count - own.count)])
        }
        return own
    }
}
