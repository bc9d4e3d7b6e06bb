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
