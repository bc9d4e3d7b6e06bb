import Delivery
import GroupPositions

extension WorkerConfiguration {
    /// The terms by which it is decided where partitions begin.
    var groupTerms: GroupTerms {
        GroupTerms(
            kafka: kafka, group: groupID, requests: Lane.allCases.map { topics.requests(of: $0) }, delays: topics.delays,
            held: topics.held, parents: topics.parents, start: start)
    }
}
