import Delivery
import Kafka
import Observability

/// The words of what the scheduler has to say.
extension Scheduler.Notice {
    var message: StaticString {
        switch self {
        case .heldMissing:
            "the topic of held requests lacks a partition; keyed requests wait in memory and may cause head-of-line blocking"
        case .heldFull:
            "no more requests can be held, of all tenants or of one; others with ordering keys wait in memory or are rejected"
        case .heldLate: "requests with ordering keys wait until the held requests before them are restored"
        case .foreign: "the topic holds records of another consumer group; skipping them"
        }
    }

    /// The fields of the log's line. `partition` finds the partition of a slot.
    func fields(heldTopic: String, partition: (Int) -> TopicPartition) -> KeyValuePairs<LogKey, LogValue> {
        switch self {
        case .heldMissing(let number), .heldLate(let number): return [.topic: .string(heldTopic), .partition: LogValue(number)]
        case .heldFull(let slot, let count):
            let id = partition(slot)
            return [.topic: .string(id.topic), .partition: LogValue(id.partition), .count: LogValue(count)]
        case .foreign(let slot, let group):
            let reason =
                "they belong to the group '\(group)', and are left to it; if it is no more, `pushfan group adopt` takes them over"
            return [.topic: .string(partition(slot).topic), .reason: .string(reason)]
        }
    }
}
