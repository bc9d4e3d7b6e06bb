/// The headers of a record to be written: a reused buffer of names and values.
public struct RecordHeaders: Sendable {
    private struct Entry {
        var nameEnd: Int
        /// Nil for a header without a value.
        var valueEnd: Int?
    }

    private var bytes: [UInt8] = []
    private var entries: [Entry] = []

    /// No headers.
    public init() {}

    /// The number of headers.
    public var count: Int { entries.count }

    /// Forgets all headers and keeps the room.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
    }

    /// Adds a header; a name that is there already is added once more.
    public mutating func append(_ name: StaticString, _ value: Span<UInt8>?) {
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        finish(nameEnd: bytes.count, value)
    }

    /// Adds a header with a text in UTF-8.
    public mutating func append(_ name: StaticString, _ value: String) {
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        let nameEnd = bytes.count
        bytes.append(contentsOf: value.utf8)
        entries.append(Entry(nameEnd: nameEnd, valueEnd: bytes.count))
    }

    /// Adds a header whose name comes from elsewhere, such as another record.
    public mutating func append(name: Span<UInt8>, value: Span<UInt8>?) {
        name.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        finish(nameEnd: bytes.count, value)
    }

    private mutating func finish(nameEnd: Int, _ value: Span<UInt8>?) {
        guard let value else {
            entries.append(Entry(nameEnd: nameEnd, valueEnd: nil))
            return
        }
        value.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        entries.append(Entry(nameEnd: nameEnd, valueEnd: bytes.count))
    }

    /// Calls `body` with the name and value of each header in order; a value without bytes has a pointer all the same.
    func forEach(_ body: (_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>?) -> Bool) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            var start = 0
            for entry in entries {
                let name = UnsafeBufferPointer(rebasing: bytes[start..<entry.nameEnd])
                let value = entry.valueEnd.map { UnsafeBufferPointer(rebasing: bytes[entry.nameEnd..<$0]) }
                guard body(name, value) else { return false }
                start = entry.valueEnd ?? entry.nameEnd
            }
            return true
        }
    }
}
