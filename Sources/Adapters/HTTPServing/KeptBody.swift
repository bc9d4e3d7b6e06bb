import CMicroHTTPD

/// The bytes of a body, of which the library takes a piece when it can send one. So answers with the same bytes have them once, however
/// many clients do not read them.
final class KeptBody {
    /// Bytes that the library has of a body at a time.
    static let pieceByteCount = 16 << 10

    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// An answer of the library that promises so many bytes, or nil if the library makes none. It is cut off where there are fewer.
    consuming func makeResponse(promising count: Int) -> OpaquePointer? {
        let piece = min(Self.pieceByteCount, max(1, bytes.count))
        let context = Unmanaged.passRetained(self)
        let made = MHD_create_response_from_callback(UInt64(count), piece, keptBodyRead, context.toOpaque(), keptBodyFreed)
        if made == nil { context.release() }
        return made
    }

    /// Moves the bytes at a position into `room`, and returns their number, or a negative number of the library for the end.
    fileprivate func read(at position: UInt64, into room: UnsafeMutableRawBufferPointer) -> Int {
        // `MHD_CONTENT_READER_END_WITH_ERROR`, a cast in microhttpd.h that is not imported.
        guard position < UInt64(bytes.count) else { return -2 }
        let start = Int(position)
        let count = min(bytes.count - start, room.count)
        bytes.withUnsafeBytes { room.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
        return count
    }
}

/// Gives the library the next bytes of a ``KeptBody``, which is `context`.
private func keptBodyRead(
    _ context: UnsafeMutableRawPointer?, position: UInt64, buffer: UnsafeMutablePointer<CChar>?, capacity: Int
) -> Int {
    guard let context, let buffer else { return -2 }
    return Unmanaged<KeptBody>.fromOpaque(context).takeUnretainedValue()
        .read(at: position, into: UnsafeMutableRawBufferPointer(start: buffer, count: capacity))
}

/// Releases what ``keptBodyRead`` reads from.
private func keptBodyFreed(_ context: UnsafeMutableRawPointer?) {
    if let context { Unmanaged<KeptBody>.fromOpaque(context).release() }
}
