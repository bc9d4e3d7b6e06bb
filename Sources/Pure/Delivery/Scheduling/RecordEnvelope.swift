import PushModel

/// A record's key and headers, kept for as long as the record may have to be written again. Its value is in the request's
/// document.
public struct RecordEnvelope: Sendable {
    /// An envelope without anything.
    public init() {}

    private var bytes = ByteWriter()
    private var keyRange: Range<Int>?
    private var headers: [(name: Range<Int>, value: Range<Int>?)] = []

    /// Forgets the record before and keeps the room.
    public mutating func removeAll() {
        bytes.removeAll()
        keyRange = nil
        headers.removeAll(keepingCapacity: true)
    }

    /// Calls `body` with the key, but not if there is none, which is not the same as an empty one.
    public func withKey(_ body: (Span<UInt8>) -> Void) {
        if let keyRange { body(bytes.span.extracting(keyRange)) }
    }

    /// The bytes of key and headers.
    public var byteCount: Int { bytes.count }

    /// The bytes that it takes in memory, with the room that it keeps: 40 for each header beside its text.
    public var roomByteCount: Int { bytes.room.count + headers.capacity * MemoryLayout<(Range<Int>, Range<Int>?)>.stride }

    /// Takes in the record's key.
    public mutating func setKey(_ key: Span<UInt8>) { keyRange = append(key) }

    /// Takes in a header. A nil value is not the same as an empty one.
    public mutating func addHeader(_ name: Span<UInt8>, value: Span<UInt8>?) {
        let name = append(name)
        if let value { headers.append((name, append(value))) } else { headers.append((name, nil)) }
    }

    /// Calls `body` with each header, in their order.
    public func forEachHeader(_ body: (_ name: Span<UInt8>, _ value: Span<UInt8>?) -> Void) {
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
