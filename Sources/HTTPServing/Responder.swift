/// Answers one request: once, from any thread, while the handler is at work or long after it has returned.
///
/// No thread waits with the request. Whoever drops the last reference without an answer has answered 500
/// (``HTTPServerConfiguration/refusal``), so no client waits for ever.
public final class Responder: Sendable {
    private let pending: PendingAnswer

    init(_ pending: PendingAnswer) {
        self.pending = pending
    }

    deinit { pending.giveUp() }

    /// Answers the request. Every answer after the first is ignored.
    ///
    /// Harmless when the client has gone, which is noticed only when its answer is written, and when the server has stopped, which
    /// answers all that wait.
    ///
    /// - Parameter response: The answer, with its delivery and delay.
    /// - Returns: Whether this was the first answer. The client may still not get it.
    @discardableResult
    public func answer(_ response: HTTPServerResponse) -> Bool { pending.give(response) }
}
