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
    let keepsConnections: Bool
    let timer: DelayTimer
    /// By when peers must have sent or taken something; nil where that does not count.
    let deadlines: ConnectionDeadlines?
    let suspended: SuspendedAnswers
    /// Connections that others than this machine may have; nil for as many as the library takes.
    private let maximumStrangers: Int?
    /// Connections of this machine, where those of others are counted.
    private let maximumLocals: Int
    /// Connections of others than this machine.
    let strangerCount = Atomic<Int>(0)
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
        keepsConnections = configuration.keepsConnections
        maximumStrangers = configuration.reservedForLoopback > 0 ? max(1, configuration.maximumConnections) : nil
        maximumLocals = configuration.reservedForLoopback
        let timer = DelayTimer()
        self.timer = timer
        deadlines = configuration.requestTimeout.map {
            ConnectionDeadlines(request: $0, idle: configuration.idleTimeout, timer)
        }
    }

    /// Whether there is a place for a new connection, for which a slow one of this machine may be ended. With several server threads a few
    /// more may come in at the same moment.
    func hasPlace(isLocal: Bool) -> Bool {
        guard let maximumStrangers else { return true }
        guard isLocal else { return strangerCount.load(ordering: .relaxed) < maximumStrangers }
        return deadlines?.makeRoom(within: maximumLocals) ?? true
    }
}

/// What is kept for one connection: its peer's name, whether that is this machine, and how many requests it brought.
///
/// Touched only by callbacks of its own connection, which the library never runs at the same time.
final class ConnectionState {
    let remoteAddress: String
    let isLocal: Bool
    var requestCount = 0

    init(remoteAddress: String, isLocal: Bool) {
        self.remoteAddress = remoteAddress
        self.isLocal = isLocal
    }
}
