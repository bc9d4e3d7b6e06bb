import Synchronization

/// What the library's callbacks share: the handler, the limits and the counters of one running server.
final class ServerCore: Sendable {
    /// The two forms of a handler.
    enum Handler {
        /// Returns the answer.
        case direct(@Sendable (HTTPServerRequest) -> HTTPServerResponse)
        /// Gives the answer to the responder, sooner or later.
        case deferred(@Sendable (HTTPServerRequest, Responder) -> Void)
    }

    let handler: Handler
    let refusal: @Sendable (Int) -> HTTPServerResponse
    let maximumBodyByteCount: Int
    let maximumHeaderByteCount: Int
    let isSecure: Bool
    let timer = DelayTimer()
    let suspended: SuspendedAnswers
    /// Requests whose answer has not left yet.
    let activeCount = Atomic<Int>(0)
    /// Those among them that were given to a deferred handler.
    let waitingCount = Atomic<Int>(0)
    /// Set once the server is stopping: every answer then ends its connection.
    let isDraining = Atomic<Bool>(false)

    init(_ configuration: HTTPServerConfiguration, handler: Handler) {
        self.handler = handler
        refusal = configuration.refusal
        suspended = SuspendedAnswers(refusal: configuration.refusal)
        maximumBodyByteCount = configuration.maximumBodyByteCount
        maximumHeaderByteCount = configuration.maximumHeaderByteCount
        isSecure = configuration.identity != nil
    }
}

/// What is kept for one connection: its peer's name and how many requests it brought.
///
/// Touched only by callbacks of its own connection, which the library never runs at the same time.
final class ConnectionState {
    let remoteAddress: String
    var requestCount = 0

    init(remoteAddress: String) {
        self.remoteAddress = remoteAddress
    }
}
