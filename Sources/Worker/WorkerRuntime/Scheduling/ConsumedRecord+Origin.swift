import Kafka
import PushModel

extension ConsumedRecord {
    /// The place of the record, with its own time or else the present one.
    func origin(in partition: TopicPartition, now: Timestamp) -> RecordOrigin {
        RecordOrigin(
            topic: partition.topic, partition: partition.partition, offset: offset,
            timestamp: timestamp.map { Timestamp(milliseconds: $0) } ?? now, isDated: timestamp != nil)
    }

    /// The bytes of key, value and headers.
    var byteCount: Int {
        var size = (key?.count ?? 0) + (value?.count ?? 0)
        forEachHeader { name, value in size += name.count + (value?.count ?? 0) }
        return size
    }
}
