/// One readable byte, to point at where C wants a pointer that is not null and nothing is read from it.
struct Placeholder: @unchecked Sendable {
    /// Allocated once, never written again and never freed, hence safe to share.
    let bytes: UnsafeBufferPointer<UInt8>

    static let shared = Placeholder()

    private init() {
        let byte = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1)
        byte.initialize(repeating: 0)
        bytes = UnsafeBufferPointer(byte)
    }
}

/// Lends the bytes of `span` to C: no span is a null pointer, an empty one is not.
func withBytes<Result>(_ span: Span<UInt8>?, perform body: (UnsafeBufferPointer<UInt8>?) -> Result) -> Result {
    guard let span else { return body(nil) }
    return span.withUnsafeBufferPointer { bytes in
        body(bytes.baseAddress == nil ? UnsafeBufferPointer(start: Placeholder.shared.bytes.baseAddress, count: 0) : bytes)
    }
}
