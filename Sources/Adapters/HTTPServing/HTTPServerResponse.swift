/// The answer of a handler, and its way of delivery.
public struct HTTPServerResponse: Sendable {
    /// The way in which the answer reaches the client. Every other than `whole` imitates a fault.
    public enum Delivery: Sendable, Equatable {
        /// As HTTP wants it.
        case whole
        /// Not at all: the connection is reset (TCP RST).
        case reset
        /// Not at all: the connection stays open and silent until the client or the server goes.
        case hang
        /// The head promises the whole body, and more than there is. `keeping` bytes come, at least one, then the connection
        /// ends.
        case truncated(keeping: Int)
        /// Head and body, `byteCount` bytes at a time with `every` between, then the connection ends.
        /// Over TLS the whole answer comes at once, after the time all this would have taken.
        case dripped(byteCount: Int, every: Duration)
    }

    /// The way in which the bytes of a body count as long as the client has not taken them.
    public enum Upkeep: Sendable, Equatable {
        /// They count. Without room for them the client gets another answer (``HTTPServerConfiguration/congestion``).
        case counted
        /// They do not count, because they are there anyway: many answers have the same array, which is never copied.
        case shared
        /// They count, and find room in any case: the answer tells of something that was done.
        case owed
    }

    /// The status code, 200 to 599.
    public var status: Int
    /// Header fields. Length, date, connection and `X-Content-Type-Options: nosniff` are the server's own.
    public var headers: HTTPFields
    /// The body's bytes.
    public var body: [UInt8]
    /// The way in which its bytes count as long as they are not taken. Default: counted.
    public var upkeep = Upkeep.counted
    /// The way of delivery. Default: whole.
    public var delivery: Delivery
    /// The delay before the answer is sent, in which no thread waits. Default: none.
    public var delay: Duration
    /// True if the connection ends after this answer. Default: no.
    public var closesConnection: Bool
    /// The body of an answer that is written later (``stream(status:headers:capacity:onEnd:)``), in place of `body`.
    var streamed: StreamedBody?
    /// The room that the body's bytes have.
    var room: AnswerRoom?

    /// An answer of these parts, sent at once and whole.
    public init(status: Int, headers: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
        delivery = .whole
        delay = .zero
        closesConnection = false
    }

    /// The header fields as they are sent. No client shall guess another media type than the one they say (Fetch standard,
    /// "X-Content-Type-Options").
    var sentFields: [HTTPFields.Field] {
        headers.count(of: Self.noGuess.name) > 0 ? headers.all : headers.all + [Self.noGuess]
    }

    private static let noGuess = HTTPFields.Field(name: "X-Content-Type-Options", value: "nosniff")

    /// A plain-text answer, as metrics and health endpoints give.
    public static func text(_ text: String, status: Int = 200, contentType: String = "text/plain; charset=utf-8") -> Self {
        Self(status: status, headers: ["Content-Type": contentType], body: Array(text.utf8))
    }
}
