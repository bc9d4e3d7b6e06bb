/// Reads one HTTP/1.1 answer from bytes that come in any pieces (RFC 9112), strictly and within limits.
///
/// The caller lets it fill its memory from the connection until an answer is complete, swaps the answer out, and resets it for the
/// next; in steady state nothing is allocated. Interim answers (1xx) are skipped. The outcome does not depend on how the bytes were cut.
/// After a fault the parser is good for nothing but `reset`, and so is the connection.
public struct AnswerParser: Sendable {
    /// The element that is expected next. Lines end in CRLF.
    enum Phase: Hashable, Sendable {
        /// The status line, followed by `fields`.
        case statusLine
        /// A field or the empty line, followed by `statusLine` (after 1xx), a body's phase, or `complete`.
        case fields
        /// As many bytes of the body as `remaining` says, followed by `complete`.
        case sizedBody
        /// The body goes on until the connection closes, which makes it `complete`.
        case closeDelimitedBody
        /// A chunk's size line, followed by `chunk`, or by `trailer` after the last.
        case chunkSize
        /// As many bytes of a chunk as `remaining` says, followed by `chunkEnd`.
        case chunk
        /// The CRLF behind a chunk, followed by `chunkSize`.
        case chunkEnd
        /// A trailer field or the empty line, followed by `complete`.
        case trailer
        /// The answer is whole.
        case complete
    }

    /// The framing fields of the head that is being read.
    struct Framing: Sendable {
        var contentLength: Int?
        var isChunked = false
        var saysClose = false
        var saysKeepAlive = false
        var isVersion10 = false
    }

    /// The limits that were given.
    public let limits: AnswerLimits
    /// The answer, whole once `isComplete`. Swap it for another whose memory comes next, then `reset`.
    public var answer = Answer()

    var phase = Phase.statusLine
    var framing = Framing()
    var answersHead = false
    /// Bytes of `answer.bytes` that came from the peer.
    var filled = 0
    /// The start of the next line or piece of the body.
    var read = 0
    /// Up to where no line end was found.
    var scanned = 0
    /// The start of the final answer's status line.
    var start = 0
    /// Bytes of the body or the chunk that are still to come.
    var remaining = 0
    /// Bytes of trailer lines so far.
    var trailerByteCount = 0

    /// A parser that waits for the first byte of an answer.
    public init(limits: AnswerLimits = AnswerLimits()) { self.limits = limits }

    /// True if the answer is whole.
    public var isComplete: Bool { phase == .complete }

    /// True if any byte of the final answer has come.
    public var hasStarted: Bool { phase != .statusLine || filled > start }

    /// Forgets the answer and waits for the first byte of the next, which has no body if it `answersHead`, whatever it says.
    /// Keeps the memory.
    public mutating func reset(answersHead: Bool = false) {
        answer.fields.removeAll(keepingCapacity: true)
        answer.status = 0
        answer.bodyRange = 0..<0
        answer.keepsAlive = false
        phase = .statusLine
        framing = Framing()
        self.answersHead = answersHead
        (filled, read, scanned, start, remaining, trailerByteCount) = (0, 0, 0, 0, 0, 0)
    }

    /// Lets the caller put bytes of the peer behind those that it has, without copying.
    ///
    /// - Parameter source: Gets the memory and the index of its first free byte (there is at least one), writes bytes from there on
    ///   and returns how many; `advance` must follow.
    /// - Returns: How many bytes were free and how many came.
    @discardableResult
    public mutating func fill(from source: (inout MutableSpan<UInt8>, Int) -> Int) -> (offered: Int, received: Int) {
        reserveSpace()
        let free = filled
        let offered = answer.bytes.count - free
        var memory = answer.bytes.mutableSpan
        let received = min(max(0, source(&memory, free)), offered)
        filled += received
        return (offered, received)
    }

    /// Reads what has been filled in.
    ///
    /// - Returns: Whether the answer is whole.
    /// - Throws: `AnswerFault`; the connection must be closed.
    public mutating func advance() throws(AnswerFault) -> Bool {
        while true {
            switch phase {
            case .statusLine, .fields:
                guard let line = try nextHeadLine() else { return false }
                if phase == .statusLine { try takeStatusLine(line) } else { try takeHeadLine(line) }
            case .sizedBody, .closeDelimitedBody:
                guard try takeBody() else { return false }
            case .chunkSize, .chunk, .chunkEnd, .trailer:
                guard try takeChunkedPart() else {
                    closeGap()
                    return false
                }
            case .complete:
                guard read == filled else { throw .bytesAfterAnswer }
                return true
            }
        }
    }

    /// Takes bytes of the peer from elsewhere and reads them.
    ///
    /// - Parameter bytes: The next bytes.
    /// - Returns: Whether the answer is whole.
    /// - Throws: `AnswerFault`; the connection must be closed.
    public mutating func feed(_ bytes: Span<UInt8>) throws(AnswerFault) -> Bool {
        var taken = 0
        while taken < bytes.count {
            fill { memory, free in
                let count = min(memory.count - free, bytes.count - taken)
                // As much as there is on both sides; byte by byte it would cost as much as all the reading.
                unsafe bytes.extracting(taken..<taken + count).withUnsafeBytes { piece in
                    unsafe memory.withUnsafeMutableBytes { room in
                        unsafe UnsafeMutableRawBufferPointer(rebasing: room[free..<free + count]).copyMemory(from: piece)
                    }
                }
                taken += count
                return count
            }
            _ = try advance()
        }
        return isComplete
    }

    /// Ends a body without a length: no more bytes will come. Throws `AnswerFault.truncated` when the answer is not whole.
    public mutating func connectionClosed() throws(AnswerFault) {
        if phase == .closeDelimitedBody {
            answer.bodyRange = answer.bodyRange.lowerBound..<filled
            read = filled
            phase = .complete
        }
        guard phase == .complete else { throw .truncated }
    }

    /// Leaves the answer without its body, after `AnswerFault.bodyTooLarge`: its head has come whole before.
    public mutating func dropBody() {
        answer.bodyRange = 0..<0
        answer.keepsAlive = false
    }

    /// Takes the line at `read` without its CRLF, or nil when it has not come. It must end before `limit`, which is checked
    /// first, so that the fault does not depend on how much came at once. Throws `fault` or `bareLineFeed`.
    mutating func nextLine(before limit: Int, otherwise fault: AnswerFault) throws(AnswerFault) -> Range<Int>? {
        let end = answer.bytes.span.extracting(first: filled).firstPlace(of: ByteClass.lineFeed, from: scanned)
        guard end <= limit else { throw fault }
        scanned = end
        guard end < filled else { return nil }
        guard end > read, answer.bytes[end - 1] == ByteClass.carriageReturn else { throw .bareLineFeed }
        guard end < limit else { throw fault }
        let line = read..<end - 1
        read = end + 1
        scanned = read
        return line
    }

    /// Room for what is known to come, and for one byte more that would be too much.
    private mutating func reserveSpace() {
        let isBody = phase == .sizedBody || phase == .chunk
        let wanted = isBody ? remaining + 1 : 512
        let free = answer.bytes.count - filled
        guard free < min(wanted, 16 << 10) else { return }
        let size = max(answer.bytes.count * 2, filled + min(wanted, 16 << 10), 4096)
        answer.bytes.append(contentsOf: repeatElement(0, count: size - answer.bytes.count))
    }
}
