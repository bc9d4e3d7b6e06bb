import Kafka
import PushModel

/// A record's key and headers, kept for as long as the record may have to be written again. Its value is in the request's
/// document.
struct RecordEnvelope {
    /// The bytes of a header that is read of a record that is too large: its attributes are shorter.
    static let longestKnownHeader = 1024

    private var bytes = ByteWriter()
    private var keyRange: Range<Int>?
    private var headers: [(name: Range<Int>, value: Range<Int>?)] = []

    /// Forgets the record before and keeps the room.
    mutating func removeAll() {
        bytes.removeAll()
        keyRange = nil
        headers.removeAll(keepingCapacity: true)
    }

    /// Calls `body` with the key, but not if there is none, which is not the same as an empty one.
    func withKey(_ body: (Span<UInt8>) -> Void) {
        if let keyRange { body(bytes.span.extracting(keyRange)) }
    }

    /// The bytes of key and headers.
    var byteCount: Int { bytes.count }

    mutating func setKey(_ key: Span<UInt8>) { keyRange = append(key) }

    mutating func addHeader(_ name: Span<UInt8>, value: Span<UInt8>?) {
        let name = append(name)
        if let value { headers.append((name, append(value))) } else { headers.append((name, nil)) }
    }

    func forEachHeader(_ body: (_ name: Span<UInt8>, _ value: Span<UInt8>?) -> Void) {
        for header in headers {
            let name = bytes.span.extracting(header.name)
            if let value = header.value { body(name, bytes.span.extracting(value)) } else { body(name, nil) }
        }
    }

    private mutating func append(_ span: Span<UInt8>) -> Range<Int> {
        let start = bytes.count
        bytes.append(span)
        return start..<bytes.count
    }
}

extension ConsumedRecord {
    /// The place of the record, with its own time or else the present one.
    func origin(in partition: TopicPartition, now: Timestamp) -> RecordOrigin {
        RecordOrigin(
            topic: partition.topic, partition: partition.partition, offset: offset,
            timestamp: timestamp.map { Timestamp(milliseconds: $0) } ?? now)
    }

    /// The bytes of key, value and headers.
    var byteCount: Int {
        var size = (key?.count ?? 0) + (value?.count ?? 0)
        forEachHeader { name, value in size += name.count + (value?.count ?? 0) }
        return size
    }
}
