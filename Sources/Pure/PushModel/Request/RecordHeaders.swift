import Basics

/// The record headers that requests may have (page Requests, "CloudEvents"), copied out of one Kafka record and reused from
/// record to record.
public struct RecordHeaders: Sendable {
    /// A header that is read.
    public enum Name: Int, Sendable, CaseIterable {
        case contentType, ceID, ceSource, ceTime, ceExpiryTime, cePartitionKey, ceTraceParent, ceTraceState, traceParent
        case traceState

        /// As it is written; read in any case.
        public var spelling: String { String(decoding: Self.spellings[rawValue], as: UTF8.self) }

        static let spellings: [[UInt8]] = [
            "content-type", "ce_id", "ce_source", "ce_time", "ce_expirytime", "ce_partitionkey", "ce_traceparent",
            "ce_tracestate", "traceparent", "tracestate",
        ].map { Array($0.utf8) }
    }

    /// Longer values are ignored, as if the header were not there.
    public static let maximumValueByteCount = 1024

    private var bytes = ByteWriter()
    /// True if the record has none of them.
    public private(set) var isEmpty = true
    /// The place in `bytes` of the value of each name. Nowhere is a length of -1.
    private var starts = SIMD16<Int32>(repeating: 0)
    private var counts = SIMD16<Int32>(repeating: -1)

    /// No headers.
    public init() {}

    /// Forgets the record before.
    public mutating func removeAll() {
        if isEmpty { return }
        isEmpty = true
        bytes.removeAll()
        counts = SIMD16(repeating: -1)
    }

    /// Takes in one header if it is known. The last of several with one name counts, and one that is not UTF-8 is ignored.
    public mutating func add(name: Span<UInt8>, value: Span<UInt8>) {
        guard value.count <= Self.maximumValueByteCount, UTF8Scalars.isWellFormed(value) else { return }
        for (index, spelling) in Name.spellings.enumerated() where spelling.count == name.count {
            guard name.equalsIgnoringCase(spelling.span) else { continue }
            isEmpty = false
            starts[index] = Int32(bytes.count)
            counts[index] = Int32(value.count)
            bytes.append(value)
            return
        }
    }

    /// The value of `name`, or nil when the record has none.
    @_lifetime(borrow self)
    public borrowing func value(_ name: Name) -> Span<UInt8>? {
        let index = name.rawValue
        guard counts[index] >= 0 else { return nil }
        let start = Int(starts[index])
        return bytes.span.extracting(start..<start + Int(counts[index]))
    }

    /// The value of `name`, else that of `fallback`, or nil when the record has neither.
    @_lifetime(borrow self)
    public borrowing func value(_ name: Name, or fallback: Name) -> Span<UInt8>? {
        counts[name.rawValue] >= 0 ? value(name) : value(fallback)
    }
}

/// The place of a record in Kafka, and its time: a topic that is made again has other records at the same places.
public struct RecordOrigin: Sendable, Hashable {
    /// The topic's name.
    public var topic: String
    /// The partition.
    public var partition: Int32
    /// The record's offset in the partition.
    public var offset: Int64
    /// The record's timestamp.
    public var timestamp: Timestamp
    /// False if the record has no time of its own, so that `timestamp` is another one each time that it is read.
    public var isDated: Bool

    /// The place of a record.
    public init(topic: String, partition: Int32, offset: Int64, timestamp: Timestamp, isDated: Bool = true) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.isDated = isDated
    }

    /// The 64-bit FNV-1a hash by which ids of results name a topic, whose own name may be longer than an id.
    public static func hash(of topic: String) -> UInt64 { FNV1a.hash(of: topic.utf8) }

    /// Appends what ids of results say of the record behind its topic: `PARTITION.OFFSET.TIME`, without a time where it has none.
    @inline(__always) public func appendNumbers(to text: inout ByteWriter) {
        text.append(decimal: Int64(partition))
        text.append(UInt8(ascii: "."))
        text.append(decimal: offset)
        guard isDated else { return }
        text.append(UInt8(ascii: "."))
        text.append(decimal: timestamp.milliseconds)
    }
}
