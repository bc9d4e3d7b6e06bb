import Kafka
import PushModel

/// Puts records that cannot be understood into a batch: key and value byte for byte, their own headers kept, and what is known of them
/// added (page Requests).
struct DeadLetterRecorder {
    let group: String
    let spellings: WorkerConfiguration.DeadLetterHeaders

    func record(
        _ source: borrowing ConsumedRecord, slot: Int, origin: RecordOrigin, _ failure: UnreadableRecord,
        into batch: inout OutcomeBatch
    ) {
        batch.add(.deadLetters, of: .init(slot: slot, offset: origin.offset)) { record in
            var cut = 0
            if let key = source.key {
                if key.count <= Self.longestKey { record.copyKey(key) } else { cut += key.count }
            }
            if let value = source.value {
                if value.count <= RequestReader.maximumRecordByteCount { record.copyValue(value) } else { cut += value.count }
            }
            var room = Self.roomForHeaders
            source.forEachHeader { name, value in
                guard !isOurs(name) else { return }
                let size = name.count + (value?.count ?? 0)
                guard size <= room else {
                    cut += size
                    return
                }
                room -= size
                record.copyHeader(name, value)
            }
            addOwnHeaders(origin, failure, to: &record)
            if cut > 0 { add("pushfan-dlq-cut-bytes", "\(cut)", to: &record) }
        }
    }

    /// The most that a dead letter has of its record, so that brokers take it unless they are set to less than 1,048,588 bytes.
    /// Its parts: a value that may be a request, the bytes of the key and those of the headers.
    private static let longestKey = 256 << 10
    private static let roomForHeaders = 64 << 10

    /// Adds a dead letter that has no more than the place of its record, and why it is one.
    func record(_ origin: RecordOrigin, slot: Int, _ failure: UnreadableRecord, into batch: inout OutcomeBatch) {
        batch.add(.deadLetters, of: .init(slot: slot, offset: origin.offset)) { addOwnHeaders(origin, failure, to: &$0) }
    }

    private func addOwnHeaders(_ origin: RecordOrigin, _ failure: UnreadableRecord, to record: inout OutcomeBatch.Builder) {
        record.beginOwnHeaders()
        addNative(origin, failure, to: &record)
        if spellings.contains(.connect) { addConnect(origin, failure, to: &record) }
        if spellings.contains(.spring) { addSpring(origin, failure, to: &record) }
    }

    /// True if a header has a name that only dead letters have. A record that has it was one before, or says so.
    private func isOurs(_ name: Span<UInt8>) -> Bool {
        name.begins(with: "pushfan-dlq-") || spellings.contains(.connect) && name.begins(with: "__connect.errors.")
            || spellings.contains(.spring) && name.begins(with: "kafka_dlt-")
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

    private func add(_ name: StaticString, _ value: String, to record: inout OutcomeBatch.Builder) {
        record.addHeader(name) { $0.append(value) }
    }

    private func add(_ name: StaticString, bigEndian value: some FixedWidthInteger, to record: inout OutcomeBatch.Builder) {
        record.addHeader(name) { writer in
            for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
                writer.append(UInt8(truncatingIfNeeded: value >> shift))
            }
        }
    }
}

extension Span<UInt8> {
    fileprivate func begins(with text: StaticString) -> Bool {
        count >= text.utf8CodeUnitCount && (0..<text.utf8CodeUnitCount).allSatisfy { self[$0] == text.utf8Start[$0] }
    }
}
