/// Bytes under construction: a reused array with the few ways of appending that requests, payloads and results need.
///
/// Nothing here allocates once the array has grown to the size of what is usually written.
public struct ByteWriter: Sendable, Equatable {
    /// What was written so far.
    public var bytes: [UInt8]

    /// An empty writer with room for `capacity` bytes.
    public init(capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// The number of bytes written.
    public var count: Int { bytes.count }

    /// Forgets what was written and keeps the room.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Appends one byte.
    @inlinable public mutating func append(_ byte: UInt8) {
        bytes.append(byte)
    }

    /// Appends `text` as UTF-8. A literal goes to the overload for literals, which makes no `String` of it.
    @_disfavoredOverload public mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// Appends a literal as UTF-8.
    @inlinable public mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }

    /// Appends bytes as they are.
    @inlinable public mutating func append(_ span: Span<UInt8>) {
        unsafe span.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    }

    /// Appends all that another writer holds.
    @inlinable public mutating func append(_ other: borrowing ByteWriter) {
        append(other.bytes.span)
    }

    /// Appends `value` in decimal digits, with a minus sign if it is negative.
    public mutating func append(decimal value: Int64) {
        // From the last digit to the first, then in one piece: every append of its own checks that the array is ours and has room.
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var start = digits.count
        var rest = value.magnitude
        repeat {
            start -= 1
            digits[start] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        if value < 0 {
            start -= 1
            digits[start] = UInt8(ascii: "-")
        }
        append(digits.span.extracting(start..<digits.count))
    }

    /// Appends `value` in decimal digits.
    public mutating func append(decimal value: Int) {
        append(decimal: Int64(value))
    }

    /// The bytes as text; what is not UTF-8 is replaced.
    public var text: String {
        String(decoding: bytes, as: UTF8.self)
    }

    /// Appends `value` as 16 small hexadecimal digits.
    public mutating func append(hexadecimal value: UInt64) {
        var digits = InlineArray<16, UInt8>(repeating: 0)
        for index in digits.indices { digits[index] = hexDigit(UInt8(truncatingIfNeeded: value >> UInt64(60 - 4 * index) & 15)) }
        append(digits.span)
    }
}
