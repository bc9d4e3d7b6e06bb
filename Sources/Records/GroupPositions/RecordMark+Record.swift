public import Delivery
public import Kafka

extension RecordMark {
    /// The mark of a record that a reader delivered.
    public init(_ record: borrowing ConsumedRecord) {
        self.init(offset: record.offset, time: record.timestamp, key: record.key, value: record.value)
    }
}
