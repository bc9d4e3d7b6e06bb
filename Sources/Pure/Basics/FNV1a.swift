/// A 64-bit FNV-1a hash of bytes that are added one after another (draft-eastlake-fnv, section 2).
///
/// The same bytes give the same hash in every process and version, so a record or a file may hold it. Two texts with one hash are easily
/// found, so it proves nothing about who wrote them.
public struct FNV1a: Sendable, Hashable {
    /// The hash of the bytes that were added.
    public var value: UInt64

    /// The hash of no bytes.
    @inlinable public init() { value = 0xcbf2_9ce4_8422_2325 }

    /// Continues from a hash.
    ///
    /// - Parameter value: The hash of the bytes before.
    @inlinable public init(after value: UInt64) { self.value = value }

    /// Adds a byte.
    @inlinable public mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }

    /// Adds bytes in order.
    @inlinable public mutating func add(_ bytes: Span<UInt8>) {
        for index in bytes.indices { add(bytes[index]) }
    }

    /// Adds bytes in order.
    @inlinable public mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { add(byte) }
    }

    /// The hash of some bytes.
    @inlinable public static func hash(of bytes: Span<UInt8>) -> UInt64 {
        var hash = FNV1a()
        hash.add(bytes)
        return hash.value
    }

    /// The hash of some bytes.
    @inlinable public static func hash(of bytes: some Sequence<UInt8>) -> UInt64 {
        var hash = FNV1a()
        hash.add(bytes)
        return hash.value
    }
}
