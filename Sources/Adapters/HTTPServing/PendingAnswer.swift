import Synchronization

/// The place where a ``Responder`` leaves an answer and the connection's own thread takes it.
///
/// Lock order: an answer's lock, then that of ``SuspendedAnswers``, then the library's.
final class PendingAnswer: Sendable {
    private enum State {
        /// No answer, and the connection is not suspended: the handler is at work, or has just returned.
        case open
        /// No answer yet. The connection is suspended.
        case suspended(ConnectionHandle)
        /// The answer is there, and the connection runs or is being resumed.
        case answered(HTTPServerResponse)
        /// The connection's thread has the answer.
        case taken
    }

    private let state = Mutex(State.open)
    private let registry: SuspendedAnswers

    init(in registry: SuspendedAnswers) {
        self.registry = registry
    }

    /// Leaves the answer and resumes the connection. Returns true for the first answer.
    @discardableResult
    func give(_ response: HTTPServerResponse) -> Bool {
        state.withLock { state -> Bool in
            switch state {
            case .open:
                state = .answered(response)
                return true
            case .suspended(let connection):
                state = .answered(response)
                registry.resume(connection, of: self)
                return true
            case .answered, .taken:
                return false
            }
        }
    }

    /// Answers 500 when there is no answer and none can come any more.
    func giveUp() {
        let isOpen = state.withLock { state -> Bool in
            switch state {
            case .open, .suspended: true
            case .answered, .taken: false
            }
        }
        if isOpen { give(registry.refusal(500)) }
    }

    /// Suspends the connection until there is an answer, unless it is already there. Called once, by the library's access
    /// handler.
    func suspend(_ connection: ConnectionHandle) -> HTTPServerResponse? {
        state.withLock { state -> HTTPServerResponse? in
            if case .answered(let response) = state {
                state = .taken
                return response
            }
            if let refusal = registry.suspend(connection, for: self) {
                state = .taken
                return refusal
            }
            state = .suspended(connection)
            return nil
        }
    }

    /// The answer, for the connection's thread after the connection was resumed.
    func take() -> HTTPServerResponse? {
        state.withLock { state -> HTTPServerResponse? in
            guard case .answered(let response) = state else { return nil }
            state = .taken
            return response
        }
    }
}
