import Kafka
import PushModel

/// Puts records that cannot be understood into a batch: key and value byte for byte, their own headers kept, and what is
/// known of them beside (message contract, sections 3.1 and 3.3).
struct DeadLetterRecorder {
    let group: String
    let spellings: WorkerConfiguration.DeadLetterHeaders

    func record(
        _ source: borrowing ConsumedRecord, slot: Int, origin: RecordOrigin, _ failure: UnreadableRecord,
        into batch: inout OutcomeBatch
    ) {
        batch.add(.deadLetters, of: .init(slot: slot, offset: origin.offset)) { record in
            if let key = source.key { record.copyKey(key) }
            if let value = source.value { record.copyValue(value) }
            source.forEachHeader { name, value in record.copyHeader(name, value) }
            record.beginOwnHeaders()
            addNative(origin, failure, to: &record)
            if spellings.contains(.connect) { addConnect(origin, failure, to: &record) }
            if spellings.contains(.spring) { addSpring(origin, failure, to: &record) }
        }
    }

    private func addNative(_ origin: RecordOrigin, _ failure: UnreadableRecord, to record: inout OutcomeBatch.Builder) {
        add("pushfan-dlq-topic", origin.topic, to: &record)
        add("pushfan-dlq-partition", "\(origin.partition)", to: &record)
        add("pushfan-dlq-offset", "\(origin.offset)", to: &record)
        add("pushfan-dlq-timestamp-ms", "\(origin.timestamp.milliseconds)", to: &record)
        add("pushfan-dlq-group", group, to: &record)
        add("pushfan-dlq-reason", failure.reason, to: &record)
        add("pushfan-dlq-message", failure.message, to: &record)
    }

    private func addConnect(_ origin: RecordOrigin, _ failure: UnreadableRecord, to record: inout OutcomeBatch.Builder) {
        add("__connect.errors.topic", origin.topic, to: &record)
        add("__connect.errors.partition", "\(origin.partition)", to: &record)
        add("__connect.errors.offset", "\(origin.offset)", to: &record)
        add("__connect.errors.connector.name", group, to: &record)
        add("__connect.errors.stage", "VALUE_CONVERTER", to: &record)
        add("__connect.errors.exception.class.name", failure.reason, to: &record)
        add("__connect.errors.exception.message", failure.message, to: &record)
    }

    private func addSpring(_ origin: RecordOrigin, _ failure: UnreadableRecord, to record: inout OutcomeBatch.Builder) {
        add("kafka_dlt-original-topic", origin.topic, to: &record)
        add("kafka_dlt-original-partition", bigEndian: origin.partition, to: &record)
        add("kafka_dlt-original-offset", bigEndian: origin.offset, to: &record)
        add("kafka_dlt-original-timestamp", bigEndian: origin.timestamp.milliseconds, to: &record)
        add("kafka_dlt-original-timestamp-type", "CreateTime", to: &record)
        add("kafka_dlt-original-consumer-group", group, to: &record)
        add("kafka_dlt-exception-fqcn", failure.reason, to: &record)
        add("kafka_dlt-exception-message", failure.message, to: &record)
    }

    /// Adds a header unless the record has one of its name: what an earlier dead letter said of its origin stays.
    private func add(_ name: StaticString, _ value: String, to record: inout OutcomeBatch.Builder) {
        if !record.hasHeader(name) { record.addHeader(name) { $0.append(value) } }
    }

    private func add(_ name: StaticString, bigEndian value: some FixedWidthInteger, to record: inout OutcomeBatch.Builder) {
        guard !record.hasHeader(name) else { return }
        record.addHeader(name) { writer in
            for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
                writer.append(UInt8(truncatingIfNeeded: value >> shift))
            }
        }
    }
}
