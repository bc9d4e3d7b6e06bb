import CMicroHTTPD
import Synchronization

/// A connection, for suspending and resuming it.
///
/// `@unchecked Sendable`: the pointer is used for two calls. `MHD_suspend_connection` comes from the access handler or the
/// content reader, on the connection's own thread. `MHD_resume_connection` may come from any thread at any time while the
/// connection is suspended (microhttpd.h), and comes once for each suspension. In between the library keeps the connection, so
/// the pointer is good.
struct ConnectionHandle: @unchecked Sendable {
    let pointer: OpaquePointer
}

/// All answers that connections are suspended for. It keeps each of them until it is given, so stopping reaches them all.
///
/// Connections are suspended and resumed under its lock. So after ``close(with:)`` none is suspended, and no thread is inside of
/// `MHD_resume_connection`, which uses the daemon until it returns.
final class SuspendedAnswers: Sendable {
    private struct State {
        var answers: [ObjectIdentifier: PendingAnswer] = [:]
        /// The answer to everything since ``SuspendedAnswers/close(with:)``.
        var closingAnswer: HTTPServerResponse?
    }

    /// The server's own answers, by status.
    let refusal: @Sendable (Int) -> HTTPServerResponse
    private let state = Mutex(State())

    init(refusal: @escaping @Sendable (Int) -> HTTPServerResponse) {
        self.refusal = refusal
    }

    /// The answer to everything, once closed.
    var closingAnswer: HTTPServerResponse? { state.withLock { $0.closingAnswer } }

    /// Suspends a connection, called by its access handler. Once closed, it returns the closing answer instead.
    func suspend(_ connection: ConnectionHandle, for answer: PendingAnswer) -> HTTPServerResponse? {
        state.withLock { state -> HTTPServerResponse? in
            if let closingAnswer = state.closingAnswer { return closingAnswer }
            MHD_suspend_connection(connection.pointer)
            state.answers[ObjectIdentifier(answer)] = answer
            return nil
        }
    }

    /// Resumes the connection of `answer`, and lets go of both.
    func resume(_ connection: ConnectionHandle, of answer: PendingAnswer) {
        state.withLock { state in
            state.answers[ObjectIdentifier(answer)] = nil
            MHD_resume_connection(connection.pointer)
        }
    }

    /// Gives `response` as the answer of all that wait, and of all that would wait from now on.
    func close(with response: HTTPServerResponse) {
        let left = state.withLock { state -> [PendingAnswer] in
            state.closingAnswer = response
            return Array(state.answers.values)
        }
        // If another thread is just giving an answer, this waits until that thread has resumed the connection.
        for answer in left { answer.give(response) }
    }
}
