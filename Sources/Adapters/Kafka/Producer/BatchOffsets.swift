/// Tells the offsets that a broker gave from those that the library made up.
///
/// A broker that has a batch from an attempt before may answer with DUPLICATE_SEQUENCE_NUMBER and without an offset. The library then takes
/// the batch's records for written and counts from -1 on. The second seems to be at offset 0 (`rd_kafka_msgq_set_metadata` in
/// rdkafka_msg.c, librdkafka 2.0.2 and later). Of n such records the last has the number n - 2. They are in the partition, so a record
/// after them is at n or beyond, and does not go on with the count.
struct BatchOffsets {
    /// The count of each partition whose last batch had no offset.
    private var counts: [TopicPartition: Int64] = [:]

    /// The offset of a record that is written, or nil if the broker did not say it. The records of a partition are asked for in
    /// order.
    mutating func known(_ offset: Int64, in partition: TopicPartition) -> Int64? {
        guard offset < 0 || !counts.isEmpty else { return offset }
        if offset < 0 || counts[partition] == offset - 1 {
            counts[partition] = offset
            return nil
        }
        counts[partition] = nil
        return offset
    }
}
