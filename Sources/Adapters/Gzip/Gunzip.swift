import CZlib

/// Unpacks gzip (RFC 1952) as it comes: one member, or several behind each other, which are one content.
///
/// A few bytes may become a thousand times as many. So what they become is given away in pieces, and whoever takes them may end it.
public final class Gunzip {
    /// Bytes that one of these has at most (zconf.h: a window of 32 KiB and about 7 KiB more).
    public static let byteCount = 40 << 10
    /// Bytes that are unpacked at once.
    private static let pieceByteCount = 16 << 10

    private let stream: UnsafeMutablePointer<z_stream>
    /// True if the last byte that came was the last of a member.
    public private(set) var isComplete = false

    /// Begins.
    ///
    /// - Throws: ``GzipError/noMemory``.
    public init() throws(GzipError) {
        // Its address must stay: zlib keeps it.
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard push_zlib_begin(stream) == Z_OK else {
            stream.deallocate()
            throw .noMemory
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Unpacks the next bytes. After an error, and once `take` has returned false, nothing more can be unpacked.
    ///
    /// - Parameters:
    ///   - packed: 0 to 4,294,967,295 bytes.
    ///   - take: Called for each piece of what they become, of 1 to 16,384 bytes. It returns whether it goes on.
    /// - Throws: ``GzipError/noMemory``, or ``GzipError/broken``, also for bytes behind a member that are no member.
    public func unpack(_ packed: RawSpan, take: (RawSpan) -> Bool) throws(GzipError) {
        let error = packed.withUnsafeBytes { packed -> GzipError? in
            withUnsafeTemporaryAllocation(byteCount: Self.pieceByteCount, alignment: 1) { room in
                unpack(packed, by: room, to: take)
            }
        }
        if let error { throw error }
    }

    private func unpack(
        _ packed: UnsafeRawBufferPointer, by room: UnsafeMutableRawBufferPointer, to take: (RawSpan) -> Bool
    ) -> GzipError? {
        guard let input = packed.baseAddress, let output = room.baseAddress else { return nil }
        stream.pointee.next_in = input.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = uInt(clamping: packed.count)
        // Unpacked bytes may be kept back for want of room.
        while stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0 {
            if isComplete {
                guard stream.pointee.avail_in > 0 else { break }
                inflateReset(stream)
                isComplete = false
            }
            stream.pointee.next_out = output.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = uInt(room.count)
            let code = inflate(stream, Z_NO_FLUSH)
            guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else {
                return code == Z_MEM_ERROR ? .noMemory : .broken
            }
            isComplete = code == Z_STREAM_END
            let count = room.count - Int(stream.pointee.avail_out)
            if code == Z_BUF_ERROR || count > 0 && !take(UnsafeRawBufferPointer(rebasing: room[..<count]).bytes) { break }
        }
        return nil
    }
}
