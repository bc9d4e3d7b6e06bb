/// Writes the body of one answer, in pieces, from any thread.
///
/// No thread waits with it: while nothing is there to be sent, its connection is suspended. Whoever drops the last reference has ended it.
public final class AnswerStream: Sendable {
    private let pipe: StreamPipe

    init(_ pipe: StreamPipe) {
        self.pipe = pipe
    }

    deinit { pipe.end() }

    /// True if more can be written.
    public var isOpen: Bool { pipe.isOpen }

    /// The bytes that were written and not taken yet.
    public var pendingByteCount: Int { pipe.pendingByteCount }

    /// Sends a piece, as soon as its reader takes it. Waits for nothing.
    ///
    /// A client that has gone is noticed only when something is written: by this piece or by a later one. A reader so slow that the piece
    /// finds no room is ended, and gets nothing more.
    ///
    /// - Parameter bytes: 0 bytes or more, at most as many as the stream may keep.
    /// - Returns: Whether the bytes were accepted. False once the stream has ended, for whatever reason.
    @discardableResult
    public func write(_ bytes: [UInt8]) -> Bool { pipe.write(bytes) }

    /// Ends the body behind what was written.
    public func end() { pipe.end() }
}

extension HTTPServerResponse {
    /// An answer whose body is written later, while the client reads it: chunked, or ended with the connection for HTTP/1.0.
    ///
    /// The server's stop ends it at once: what was written still goes, and the connection then ends without the last chunk, so that the
    /// client sees that there is more. HEAD gets the head, and both the stream and
    /// the connection end. Of the deliveries only those without a body mean something
    /// here. As an answer at the head of a request that announces a body (``HTTPAdmission``), it has none.
    ///
    /// - Parameters:
    ///   - status: The status code, one that has a body.
    ///   - headers: Header fields. `body` stays empty.
    ///   - capacity: Bytes that may be written and not taken yet, beside what the system keeps for the connection. Default 64 KiB.
    ///   - onEnd: Called once, when the stream has ended and has no connection any more: its last byte was sent, or its client
    ///     has gone, or the answer was never sent. Called on any thread. It should not block.
    /// - Returns: The answer, which can be given once, and the stream that writes its body.
    public static func stream(
        status: Int = 200, headers: HTTPFields = [:], capacity: Int = 64 << 10, onEnd: @escaping @Sendable () -> Void = {}
    ) -> (response: HTTPServerResponse, stream: AnswerStream) {
        let pipe = StreamPipe(capacity: capacity, onEnd: onEnd)
        var response = HTTPServerResponse(status: status, headers: headers)
        response.streamed = StreamedBody(pipe)
        return (response, AnswerStream(pipe))
    }
}

/// A stream as its answer holds it. Where the answer is dropped and was not sent, the stream ends.
final class StreamedBody: Sendable {
    let pipe: StreamPipe

    init(_ pipe: StreamPipe) {
        self.pipe = pipe
    }

    deinit { pipe.closeUnsent() }
}
