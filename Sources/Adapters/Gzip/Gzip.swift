import CZlib

/// Packs bytes into one member of gzip (RFC 1952), as small as it gets. The same bytes become the same bytes.
///
/// - Parameter bytes: 0 to 4,294,967,295 bytes.
/// - Returns: The member, without a file's name and time.
/// - Throws: ``GzipError/noMemory``.
public func gzip(_ bytes: [UInt8]) throws(GzipError) -> [UInt8] {
    var stream = z_stream()
    guard push_zlib_begin_packing(&stream) == Z_OK else { throw .noMemory }
    defer { deflateEnd(&stream) }
    // The bound is for one call of deflate that ends the member (zlib.h).
    let bound = Int(deflateBound(&stream, uLong(bytes.count)))
    return bytes.withUnsafeBufferPointer { input in
        [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            stream.next_in = input.baseAddress
            stream.avail_in = uInt(clamping: input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = uInt(clamping: bound)
            deflate(&stream, Z_FINISH)
            count = bound - Int(stream.avail_out)
        }
    }
}
