import Delivery
import Kafka
import Observability

extension AssignmentPlan.Message {
    /// Its meaning.
    var meaning: StaticString {
        switch self {
        case .endsBeforePosition(_, _, _, let cause): cause.meaning
        }
    }

    /// The fields of its line in the log. It speaks of one of the partitions that were assigned.
    func fields(of assigned: [TopicPartition]) -> KeyValuePairs<LogKey, LogValue> {
        switch self {
        case .endsBeforePosition(let index, let committed, let end, _):
            [
                .topic: .string(assigned[index].topic), .partition: LogValue(assigned[index].partition),
                .offset: LogValue(committed),
                .count: LogValue(max(0, committed - end)), .reason: .string("the partition ended at \(end)"),
            ]
        }
    }
}

extension StartRule.Cause {
    /// Its meaning for a partition that ends before the group's position.
    var meaning: StaticString {
        switch self {
        case .lostEnd: "a partition has lost all its records; what is published from now on is sent"
        case .lostRecord: "a partition has lost its end; it is not read until an operator decides"
        case .recreated: "a topic was recreated; its partition is read from the start"
        case .unknownEnd, .noPosition: "a partition ends before the group's position; it was recreated or has lost records"
        }
    }
}
