import Basics

/// Bytes under construction: reused room with the few ways of appending that requests, payloads and results need.
///
/// Nothing here allocates once the room has grown to the size of what is usually written. All of the room is initialised, so that
/// an append is one look at what is left of it and one copy; to append to an array costs three times as much.
public struct ByteWriter: Sendable {
    @usableFromInline var storage: [UInt8]
    @usableFromInline var end = 0

    /// An empty writer with room for `capacity` bytes.
    public init(capacity: Int = 0) { storage = [UInt8](repeating: 0, count: capacity) }

    /// An empty writer that uses `room`, whatever that holds.
    public init(reusing room: consuming [UInt8]) { storage = room }

    /// The room, with what was written at its front: to be lent to whoever sends it, and taken back by `init(reusing:)`.
    @inlinable public var room: [UInt8] { storage }

    /// The number of bytes written.
    @inlinable public var count: Int { end }

    /// The bytes that were written so far, without copying them.
    public var span: Span<UInt8> {
        @_lifetime(borrow self) @inline(__always) get { storage.span.extracting(first: end) }
    }

    /// A copy of what was written so far.
    public var bytes: [UInt8] { Array(storage[..<end]) }

    /// The bytes that were written so far as text. What is not UTF-8 is replaced.
    public var text: String { String(decoding: storage[..<end], as: UTF8.self) }

    /// The byte written last, or nil when there is none.
    @inlinable public var last: UInt8? { end > 0 ? storage[end - 1] : nil }

    /// Forgets what was written and keeps the room.
    public mutating func removeAll() { end = 0 }

    /// Forgets what was written behind the first bytes, `count` of them at most, and keeps the room.
    public mutating func cut(to count: Int) { end = min(end, count) }

    /// Appends one byte.
    @inlinable public mutating func append(_ byte: UInt8) {
        if end == storage.count { grow(for: 1) }
        storage[end] = byte
        end += 1
    }

    /// Appends `text` as UTF-8. A literal goes to the overload for literals, which makes no `String` of it.
    @_disfavoredOverload public mutating func append(_ text: String) { append(text.utf8Span.span) }

    /// Appends a literal as UTF-8.
    @inlinable @inline(__always) public mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { unsafe append(copying: UnsafeRawBufferPointer($0)) }
    }

    /// Appends bytes as they are.
    public mutating func append(_ span: Span<UInt8>) {
        unsafe span.withUnsafeBytes { unsafe append(copying: $0) }
    }

    /// Appends all that another writer holds.
    public mutating func append(_ other: borrowing ByteWriter) { append(other.span) }

    /// Appends `text` as it is between quotation marks, as most strings are written. It is in one piece, because there are many.
    ///
    /// The room for it and two bytes more is there or is made, so that all three places lie in it.
    @usableFromInline mutating func append(quoting text: Span<UInt8>) {
        let byteCount = text.count + 2
        if byteCount > storage.count - end { grow(for: byteCount) }
        let place = end
        unsafe text.withUnsafeBytes { text in
            unsafe storage.withUnsafeMutableBytes { room in
                let piece = unsafe UnsafeMutableRawBufferPointer(rebasing: room[place..<place + byteCount])
                unsafe piece[0] = UInt8(ascii: "\"")
                unsafe UnsafeMutableRawBufferPointer(rebasing: piece[1...]).copyMemory(from: text)
                unsafe piece[byteCount - 1] = UInt8(ascii: "\"")
            }
        }
        end += byteCount
    }

    /// The one way in which other bytes get into the room, always in line: of a literal nothing is left but a few moves.
    ///
    /// Nothing is written outside the room: where there are not `source.count` bytes behind `end`, `grow` makes them.
    @inlinable @inline(__always) mutating func append(copying source: UnsafeRawBufferPointer) {
        guard source.count > 0, let bytes = source.baseAddress else { return }
        if source.count > storage.count - end { grow(for: source.count) }
        let place = end
        unsafe storage.withUnsafeMutableBytes { room in
            unsafe room.baseAddress.unsafelyUnwrapped.advanced(by: place).copyMemory(from: bytes, byteCount: source.count)
        }
        end += source.count
    }

    /// Makes room for at least `byteCount` bytes behind those written: twice as much as there was, or 1 MiB more where that is less.
    @usableFromInline mutating func grow(for byteCount: Int) {
        let missing = max(byteCount, min(storage.count, 1 << 20), storage.count / 2, 64)
        // No more than that: an array that grows by itself takes twice its room, and all of it is initialised here.
        var larger: [UInt8] = []
        larger.reserveCapacity(storage.count + missing)
        larger.append(contentsOf: storage)
        larger.append(contentsOf: repeatElement(0, count: missing))
        storage = larger
    }
}

extension ByteWriter: Equatable {
    /// True if the same was written to both.
    public static func == (left: Self, right: Self) -> Bool {
        left.storage[..<left.end] == right.storage[..<right.end]
    }
}

extension ByteWriter {
    /// Appends `value` in decimal digits, with a minus sign if it is negative.
    public mutating func append(decimal value: Int64) {
        if value < 0 { append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        if rest < 10 { return append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest)) }
        var digitCount = 2
        var limit: UInt64 = 100
        while digitCount < 19, rest >= limit {
            digitCount += 1
            limit &*= 10
        }
        if digitCount > storage.count - end { grow(for: digitCount) }
        end += digitCount
        var place = end
        // From the last digit to the first, all of which lie in the room: 2^63 has 19.
        unsafe storage.withUnsafeMutableBytes { room in
            repeat {
                place &-= 1
                unsafe room[place] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
        }
    }

    /// Appends `value` in decimal digits.
    public mutating func append(decimal value: Int) { append(decimal: Int64(value)) }

    /// Appends `value` as 16 small hexadecimal digits.
    public mutating func append(hexadecimal value: UInt64) {
        var digits = InlineArray<16, UInt8>(repeating: 0)
        for index in digits.indices {
            digits[index] = Hexadecimal.digit(UInt8(truncatingIfNeeded: value >> UInt64(60 - 4 * index) & 15))
        }
        append(digits.span)
    }
}
