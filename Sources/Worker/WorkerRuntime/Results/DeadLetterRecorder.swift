import Basics
import Kafka
import PushModel

/// Puts records that cannot be understood into a batch: key and value byte for byte, their own headers kept, and what is known of them
/// added (page Requests).
struct DeadLetterRecorder {
    let group: String
    let spellings: WorkerConfiguration.DeadLetterHeaders

    func record(
        _ source: borrowing ConsumedRecord, slot: Int, origin: RecordOrigin, failure: UnreadableRecord,
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
                record.copyHeader(name, value: value)
            }
            addOwnHeaders(origin, failure: failure, to: &record)
            if cut > 0 { add(DeadLetterHeader.cutBytes.name, value: "\(cut)", to: &record) }
        }
    }

    /// The most that a dead letter has of its record, so that brokers take it unless they are set to less than 1,048,588 bytes.
    /// Its parts: a value that may be a request, the bytes of the key and those of the headers.
    private static let longestKey = 256 << 10
    private static let roomForHeaders = 64 << 10

    /// Adds a dead letter that has no more than the place of its record, why it is one, and the name of its request: another one may stand at
    /// the place once its topic was made again.
    func record(
        _ origin: RecordOrigin, slot: Int, failure: UnreadableRecord, request: OutcomeBatch.RequestName,
        into batch: inout OutcomeBatch
    ) {
        batch.add(.deadLetters, of: .init(slot: slot, offset: origin.offset)) { record in
            addOwnHeaders(origin, failure: failure, to: &record)
            if let id = request.id { add(DeadLetterHeader.request.name, value: id, to: &record) }
            if let time = request.publishedAt { add(DeadLetterHeader.published.name, value: "\(time.milliseconds)", to: &record) }
        }
    }

    private func addOwnHeaders(_ origin: RecordOrigin, failure: UnreadableRecord, to record: inout OutcomeBatch.Builder) {
        record.beginOwnHeaders()
        addNative(origin, failure: failure, to: &record)
        if spellings.contains(.connect) { addConnect(origin, failure: failure, to: &record) }
        if spellings.contains(.spring) { addSpring(origin, failure: failure, to: &record) }
    }

    /// True if a header has a name that only dead letters have. A record that has it was one before, or says so.
    private func isOurs(_ name: Span<UInt8>) -> Bool {
        name.holds("pushfan-dlq-") || spellings.contains(.connect) && name.holds("__connect.errors.")
            || spellings.contains(.spring) && name.holds("kafka_dlt-")
    }

    private func addNative(_ origin: RecordOrigin, failure: UnreadableRecord, to record: inout OutcomeBatch.Builder) {
        add(DeadLetterHeader.topic.name, value: origin.topic, to: &record)
        add(DeadLetterHeader.partition.name, value: "\(origin.partition)", to: &record)
        add(DeadLetterHeader.offset.name, value: "\(origin.offset)", to: &record)
        add(DeadLetterHeader.timestamp.name, value: "\(origin.timestamp.milliseconds)", to: &record)
        add(DeadLetterHeader.group.name, value: group, to: &record)
        add(DeadLetterHeader.reason.name, value: failure.reason, to: &record)
        add(DeadLetterHeader.message.name, value: failure.message, to: &record)
    }

    private func addConnect(_ origin: RecordOrigin, failure: UnreadableRecord, to record: inout OutcomeBatch.Builder) {
        add("__connect.errors.topic", value: origin.topic, to: &record)
        add("__connect.errors.partition", value: "\(origin.partition)", to: &record)
        add("__connect.errors.offset", value: "\(origin.offset)", to: &record)
        add("__connect.errors.connector.name", value: group, to: &record)
        add("__connect.errors.stage", value: "VALUE_CONVERTER", to: &record)
        add("__connect.errors.exception.class.name", value: failure.reason, to: &record)
        add("__connect.errors.exception.message", value: failure.message, to: &record)
    }

    private func addSpring(_ origin: RecordOrigin, failure: UnreadableRecord, to record: inout OutcomeBatch.Builder) {
        add("kafka_dlt-original-topic", value: origin.topic, to: &record)
        add("kafka_dlt-original-partition", bigEndian: origin.partition, to: &record)
        add("kafka_dlt-original-offset", bigEndian: origin.offset, to: &record)
        add("kafka_dlt-original-timestamp", bigEndian: origin.timestamp.milliseconds, to: &record)
        add("kafka_dlt-original-timestamp-type", value: "CreateTime", to: &record)
        add("kafka_dlt-original-consumer-group", value: group, to: &record)
        add("kafka_dlt-exception-fqcn", value: failure.reason, to: &record)
        add("kafka_dlt-exception-message", value: failure.message, to: &record)
    }

    private func add(_ name: StaticString, value: String, to record: inout OutcomeBatch.Builder) {
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

extension OutcomeBatch {
    /// The id and the publication of a request, as far as its records have them.
    struct RequestName: Equatable {
        var id: String?
        var publishedAt: Timestamp?
    }

    /// The request of one unit, by its result or by the first record that waits in its place.
    func requestName(of origin: Origin) -> RequestName {
        var name = RequestName()
        for record in records where record.origin == origin {
            switch record.destination {
            case .results:
                var document = JSONDocument()
                guard let value = record.value, (try? document.read(span(value, of: record))) != nil else { continue }
                let published = document.member("timings", of: document.root).flatMap {
                    document.member("published_at", of: $0)
                }
                name.publishedAt = published.flatMap { Timestamp(document.span(document.text(of: $0))) }
                name.id = document.member("request_id", of: document.root).map { document.string(document.text(of: $0)) }
                return name
            case .delay, .held:
                let sought = Array("pushfan-origin-timestamp-ms".utf8)
                let header = headers[record.headers].last { span($0.name, of: record).equals(sought.span) }
                let digits = header?.value.map { range in
                    let bytes = span(range, of: record)
                    return String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
                }
                name.publishedAt = digits.flatMap { Int64($0) }.map { Timestamp(milliseconds: $0) }
            default: continue
            }
        }
        return name
    }
}
