import Synchronization

/// The state that the library's callbacks share: the handler, the limits and the counters of one running server.
final class ServerCore: Sendable {
    /// The two forms of a handler.
    enum Handler {
        /// Returns the answer.
        case direct(@Sendable (HTTPServerRequest) -> HTTPServerResponse)
        /// Gives the answer to the responder, sooner or later.
        case deferred(@Sendable (HTTPServerRequest, Responder) -> Void)
    }

    let handler: Handler
    let admission: (@Sendable (HTTPServerRequest) -> HTTPAdmission)?
    let refusal: @Sendable (Int) -> HTTPServerResponse
    let overload: @Sendable (HTTPServerRequest) -> HTTPServerResponse
    let congestion: @Sendable () -> HTTPServerResponse
    let bodies: BodyBudget
    /// The bytes of answers that are not taken yet, or nil without a limit.
    let answers: AnswerBudget?
    let maximumBodyByteCount: Int
    let maximumHeaderByteCount: Int
    let isSecure: Bool
    let keepsConnections: Bool
    let timer: DelayTimer
    /// The deadlines of the peers, and the order in which they make room, or nil without such limits.
    let deadlines: ConnectionDeadlines?
    let suspended: SuspendedAnswers
    let streams = OpenStreams()
    let connections = OpenConnections()
    /// Requests that began before the stop, and whose answer has not left yet.
    let activeCount = Atomic<Int>(0)
    /// The requests among them that were given to a deferred handler.
    let waitingCount = Atomic<Int>(0)
    /// Set once the server is stopping: every request that begins then is answered 503, and every answer ends its connection.
    let isDraining = Atomic<Bool>(false)

    init(_ configuration: HTTPServerConfiguration, handler: Handler) {
        self.handler = handler
        admission = configuration.admission
        refusal = configuration.refusal
        overload = configuration.overload
        congestion = configuration.congestion
        answers = configuration.maximumUnreadByteCountInAll.map(AnswerBudget.init)
        bodies = BodyBudget(
            limit: configuration.maximumBodyByteCountInAll, uncounted: configuration.uncountedBodyByteCount)
        suspended = SuspendedAnswers(refusal: configuration.refusal)
        maximumBodyByteCount = configuration.maximumBodyByteCount
        maximumHeaderByteCount = configuration.maximumHeaderByteCount
        isSecure = configuration.identity != nil
        keepsConnections = configuration.keepsConnections
        let timer = DelayTimer()
        self.timer = timer
        deadlines = configuration.requestTimeout.map {
            ConnectionDeadlines(configuration, request: $0, timer: timer)
        }
    }
}
