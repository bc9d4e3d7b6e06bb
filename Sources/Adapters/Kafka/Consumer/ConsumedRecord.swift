import CRDKafka

/// A record while it is being looked at: views into the library's memory, valid in the closure that was given it and nowhere else.
public struct ConsumedRecord: ~Copyable {
    private let message: UnsafeMutablePointer<rd_kafka_message_t>

    /// Looks at `message`, which the caller keeps and destroys afterwards.
    init(_ message: UnsafeMutablePointer<rd_kafka_message_t>) { self.message = message }

    /// The number of the partition.
    public var partition: Int32 { message.pointee.partition }

    /// The record's offset in its partition. There is always a number behind it.
    public var offset: Int64 { Self.offset(message.pointee.offset) }

    /// The time when the record was made or appended, in milliseconds since 1970, at most the end of the year 9999. Nil if the
    /// topic keeps no times.
    public var timestamp: Int64? {
        var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let time = rd_kafka_message_timestamp(message, &type)
        return type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? nil : Self.timestamp(time)
    }

    /// True if a broker gave the record its time, so that its publisher does not know it.
    public var isTimedByBroker: Bool {
        var type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        _ = rd_kafka_message_timestamp(message, &type)
        return type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME
    }

    /// The offset that is shown for what a broker says.
    static func offset(_ number: Int64) -> Int64 { min(number, .max - 1) }

    /// The time that is shown for what a publisher wrote, who can write any number. Nil for none.
    static func timestamp(_ number: Int64) -> Int64? { number < 0 ? nil : min(number, 253_402_300_799_999) }

    /// The key, or nil if there is none, which is not the same as an empty one.
    public var key: Span<UInt8>? {
        @_lifetime(borrow self)
        get {
            guard let key = message.pointee.key else { return nil }
            return _overrideLifetime(bytes(key, count: message.pointee.key_len), borrowing: self)
        }
    }

    /// The value, or nil for a tombstone, which is not the same as an empty one.
    public var value: Span<UInt8>? {
        @_lifetime(borrow self)
        get {
            guard let payload = message.pointee.payload else { return nil }
            return _overrideLifetime(bytes(payload, count: message.pointee.len), borrowing: self)
        }
    }

    /// Calls `body` with the name and value of each header, in the order of the record. Names may repeat.
    public func forEachHeader<Failure>(
        _ body: (_ name: Span<UInt8>, _ value: Span<UInt8>?) throws(Failure) -> Void
    ) throws(Failure) {
        var headers: OpaquePointer?
        // The library reads the headers here; what it cannot read counts as none, and the record stays readable.
        guard rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR, let headers else { return }
        var index = 0
        var name: UnsafePointer<CChar>?
        var value: UnsafeRawPointer?
        var size = 0
        while rd_kafka_header_get_all(headers, index, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR {
            index += 1
            guard let name else { continue }
            let nameBytes = UnsafeRawBufferPointer(start: name, count: length(name)).assumingMemoryBound(to: UInt8.self)
            if let value {
                let valueBytes = UnsafeRawBufferPointer(start: value, count: size).assumingMemoryBound(to: UInt8.self)
                try body(nameBytes.span, valueBytes.span)
            } else {
                try body(nameBytes.span, nil)
            }
        }
    }
}

/// The bytes at `start`, for as long as the caller knows them to be there.
@_lifetime(immortal)
private func bytes(_ start: UnsafeMutableRawPointer, count: Int) -> Span<UInt8> {
    let buffer = UnsafeRawBufferPointer(start: start, count: count).assumingMemoryBound(to: UInt8.self)
    return _overrideLifetime(buffer.span, copying: ())
}

/// The number of bytes before the zero byte of a C string.
private func length(_ text: UnsafePointer<CChar>) -> Int {
    var end = text
    while end.pointee != 0 { end += 1 }
    return end - text
}
