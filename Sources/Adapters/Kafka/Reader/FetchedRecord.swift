/// A copy of a record, for those who need it for longer than a look.
public struct FetchedRecord: Sendable {
    /// The record's offset in its partition. There is always a number behind it.
    public let offset: Int64
    /// The time when the record was made or appended, in milliseconds since 1970, at most the end of the year 9999. Nil if the
    /// topic keeps no times.
    public let timestamp: Int64?
    /// True if a broker gave the record its time, so that its publisher does not know it.
    public let isTimedByBroker: Bool
    /// The key, or nil if there is none.
    public let key: [UInt8]?
    /// The value, or nil for a tombstone.
    public let value: [UInt8]?
    /// The headers in the order of the record. Names may repeat.
    public let headers: [(name: [UInt8], value: [UInt8]?)]

    /// Copies a record.
    public init(_ record: borrowing ConsumedRecord) {
        offset = record.offset
        timestamp = record.timestamp
        isTimedByBroker = record.isTimedByBroker
        if let bytes = record.key { key = copy(bytes) } else { key = nil }
        if let bytes = record.value { value = copy(bytes) } else { value = nil }
        var headers: [(name: [UInt8], value: [UInt8]?)] = []
        record.forEachHeader { name, value in
            if let value { headers.append((copy(name), copy(value))) } else { headers.append((copy(name), nil)) }
        }
        self.headers = headers
    }
}

private func copy(_ bytes: Span<UInt8>) -> [UInt8] { bytes.withUnsafeBufferPointer { Array($0) } }
