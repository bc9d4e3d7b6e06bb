/// The limits of how much of an answer is read before it is refused.
public struct AnswerLimits: Hashable, Sendable {
    /// Bytes of status line and fields, interim answers included. Also those of a chunked body's trailer. Default 16 KiB.
    public var headByteCount: Int
    /// Fields of the head. Default 100.
    public var fieldCount: Int
    /// Bytes of the body after decoding. Default 256 KiB.
    public var bodyByteCount: Int
    /// Bytes of a chunk's size line with its extensions. Default 1 KiB.
    public var chunkLineByteCount: Int

    /// The given limits.
    public init(
        headByteCount: Int = 16 << 10, fieldCount: Int = 100, bodyByteCount: Int = 256 << 10, chunkLineByteCount: Int = 1 << 10
    ) {
        self.headByteCount = headByteCount
        self.fieldCount = fieldCount
        self.bodyByteCount = bodyByteCount
        self.chunkLineByteCount = chunkLineByteCount
    }
}
