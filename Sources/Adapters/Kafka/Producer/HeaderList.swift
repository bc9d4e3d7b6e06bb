import CRDKafka

/// The headers of one record to be written, in the library's own list, so that nothing is copied twice.
public struct HeaderList: ~Copyable {
    /// One header, as places in the bytes that its record is made of: the first 4 GiB of them, so that thousands of records' headers are small.
    public struct Place: Sendable {
        private let nameStart, nameEnd, valueStart, valueEnd: UInt32

        /// A header that stands at these places. One that does not fit makes a list that is refused.
        public init(name: Range<Int>, value: Range<Int>?) {
            nameStart = UInt32(truncatingIfNeeded: name.lowerBound)
            nameEnd = Self.end(name)
            valueStart = value.map { UInt32(truncatingIfNeeded: $0.lowerBound) } ?? .max
            valueEnd = value.map(Self.end) ?? 0
        }

        /// The place of the name.
        public var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }

        /// The place of the value, or nil for a header without one, which is not the same as an empty one.
        public var value: Range<Int>? { valueStart > valueEnd ? nil : Int(valueStart)..<Int(valueEnd) }

        /// Beyond every record where the place does not fit.
        private static func end(_ place: Range<Int>) -> UInt32 {
            UInt32(exactly: place.lowerBound) == nil ? .max : UInt32(clamping: place.upperBound)
        }
    }

    /// Ours to destroy until a record is taken with it. Nil while there are no headers.
    private var list: OpaquePointer?
    private let capacity: Int
    /// True if the library took each header.
    private var isComplete = true

    /// No headers, with room for `capacity`.
    public init(capacity: Int = 8) { self.capacity = capacity }

    /// Headers that stand in `bytes`. A place outside of them makes the list one that is refused.
    public init(_ places: Span<Place>, of bytes: Span<UInt8>) {
        capacity = places.count
        guard !places.isEmpty, let list = rd_kafka_headers_new(places.count) else { return }
        self.list = list
        isComplete = bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            for index in places.indices {
                let (name, value) = (places[index].name, places[index].value)
                guard bytes.indices.holds(name), bytes.indices.holds(value ?? 0..<0) else { return false }
                // A missing value must be a null pointer and an empty one must not.
                let result = rd_kafka_header_add(
                    list, start + name.lowerBound, name.count, value.map { start + $0.lowerBound }, value?.count ?? 0)
                guard result == RD_KAFKA_RESP_ERR_NO_ERROR else { return false }
            }
            return true
        }
    }

    deinit {
        if let list { rd_kafka_headers_destroy(list) }
    }

    /// Adds a header. A name that is there already is added once more.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value; nil for a header without one, which is not the same as an empty one.
    public mutating func append(name: Span<UInt8>, value: Span<UInt8>?) {
        if list == nil { list = rd_kafka_headers_new(capacity) }
        let isTaken = withBytes(name) { name in
            withBytes(value) { value in
                // A name size of -1 would mean a C string; a missing value must be a null pointer and an empty one must not.
                rd_kafka_header_add(list, name?.baseAddress, name?.count ?? 0, value?.baseAddress, value?.count ?? 0)
                    == RD_KAFKA_RESP_ERR_NO_ERROR
            }
        }
        isComplete = isComplete && isTaken
    }

    /// Adds a header with texts in UTF-8.
    public mutating func append(_ name: String, value: String) {
        append(name: name.utf8Span.span, value: value.utf8Span.span)
    }

    /// Hands the list to `produce`, which says whether the library took the record, and with it the list.
    consuming func give<Result>(
        _ produce: (OpaquePointer?) -> (result: Result, isTaken: Bool)
    ) throws(KafkaError) -> Result {
        guard isComplete else {
            throw KafkaError(RD_KAFKA_RESP_ERR__FAIL, message: "the library refused the headers of a record")
        }
        let (result, isTaken) = produce(list)
        if isTaken { list = nil }
        return result
    }
}

extension Range<Int> {
    /// True if all of `part` lies within.
    fileprivate func holds(_ part: Range<Int>) -> Bool { part.lowerBound >= lowerBound && part.upperBound <= upperBound }
}
