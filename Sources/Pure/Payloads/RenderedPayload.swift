public import PushModel

/// One hub call's body and the headers that go with it, written into reused buffers.
///
/// The headers that name the audience, the format, the signature and the connection are not among them; whoever makes the call
/// adds them.
public struct RenderedPayload: Sendable, Equatable {
    /// The origin of the content.
    public enum Origin: UInt8, Sendable {
        /// Formatted from `message`.
        case message
        /// Taken as it stood in `payloads`.
        case native
        /// The properties of `template`.
        case template
    }

    /// The body's bytes.
    public var body = ByteWriter()
    /// Header lines, each `Name: value` followed by CR LF.
    public var headers = ByteWriter()
    /// The body's media type.
    public var contentType = ContentType.jsonUTF8
    /// The origin of the content.
    public var origin = Origin.message

    /// Empty buffers, to be formatted into.
    public init() {}

    /// The bytes that it takes in memory, with the room that it keeps.
    public var byteCount: Int { body.room.count + headers.room.count }

    /// Forgets the content and keeps the room.
    mutating func removeAll() {
        body.removeAll()
        headers.removeAll()
    }
}
