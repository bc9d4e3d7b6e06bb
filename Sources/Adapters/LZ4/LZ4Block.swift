import CLZ4

/// Bytes packed as one block of LZ4, behind their number: four bytes, of which the lowest is first.
public enum LZ4Block {
    /// So many bytes can be packed.
    public static let sizeLimit = Int(LZ4_MAX_INPUT_SIZE)
    private static let headByteCount = 4
    /// A byte of a block becomes so many at most (LZ4 block format: a byte more of a copy's length).
    private static let growth = 255

    /// Packs bytes, fast rather than small.
    ///
    /// - Parameter bytes: 0 to ``sizeLimit`` bytes.
    /// - Returns: Their number and the block.
    /// - Throws: ``LZ4Error/tooLong``.
    public static func pack(_ bytes: Span<UInt8>) throws(LZ4Error) -> [UInt8] {
        guard bytes.count <= sizeLimit else { throw .tooLong }
        // Room in which every text fits.
        let room = Int(LZ4_compressBound(Int32(bytes.count)))
        return [UInt8](unsafeUninitializedCapacity: headByteCount + room) { packed, count in
            let raw = UnsafeMutableRawBufferPointer(packed)
            raw.storeBytes(of: UInt32(bytes.count).littleEndian, as: UInt32.self)
            let block = UnsafeMutableRawBufferPointer(rebasing: raw[headByteCount...])
            let blockByteCount = bytes.withUnsafeBytes {
                push_lz4_pack($0.baseAddress, Int32($0.count), block.baseAddress, Int32(block.count))
            }
            count = headByteCount + Int(blockByteCount)
        }
    }

    /// Unpacks what ``pack(_:)`` has made. No more room is taken than the block could fill, whatever number stands before it.
    ///
    /// - Parameter packed: Any bytes.
    /// - Returns: The bytes that were packed.
    /// - Throws: ``LZ4Error/broken``.
    public static func unpack(_ packed: Span<UInt8>) throws(LZ4Error) -> [UInt8] {
        guard packed.count > headByteCount, let blockByteCount = Int32(exactly: packed.count - headByteCount)
        else { throw .broken }
        let number = packed.withUnsafeBytes { Int(UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self))) }
        guard number <= sizeLimit, number <= Int(blockByteCount) * growth else { throw .broken }
        var isWhole = false
        let bytes = [UInt8](unsafeUninitializedCapacity: number) { bytes, count in
            let written = packed.extracting(headByteCount...).withUnsafeBytes {
                push_lz4_unpack($0.baseAddress, blockByteCount, bytes.baseAddress, Int32(number))
            }
            isWhole = Int(written) == number
            count = isWhole ? number : 0
        }
        guard isWhole else { throw .broken }
        return bytes
    }
}
