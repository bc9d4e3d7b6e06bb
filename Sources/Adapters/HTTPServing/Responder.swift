/// Answers one request: once, from any thread, while the handler is at work or long after it has returned.
///
/// No thread waits with the request. Whoever drops the last reference without an answer has answered 500
/// (``HTTPServerConfiguration/refusal``), so no client waits for ever.
public final class Responder: Sendable {
    private let pending: PendingAnswer
    private let core: ServerCore
    /// The client's address with its port.
    private let peer: String

    init(_ pending: PendingAnswer, core: ServerCore, peer: String) {
        self.pending = pending
        self.core = core
        self.peer = peer
    }

    deinit { pending.giveUp() }

    /// True if its client must take the answers before first: a long one would be refused.
    public var isCongested: Bool { core.answers?.isSpent(by: peer) ?? false }

    /// Answers the request. Every answer after the first is ignored.
    ///
    /// Harmless when the client has gone, which is noticed only when its answer is written, and when the server has stopped, which
    /// answers all that wait.
    ///
    /// - Parameter response: The answer, with its delivery and delay.
    /// - Returns: Whether this was the first answer. The client may still not get it.
    @discardableResult
    public func answer(_ response: HTTPServerResponse) -> Bool { send(response) != nil }

    /// Answers the request as ``answer(_:)`` does.
    ///
    /// - Parameter response: The answer, with its delivery and delay.
    /// - Returns: The answer that the client gets, which is another one where it has not taken enough of those before
    ///   (``HTTPServerConfiguration/congestion``). Nil if there was one already.
    public func send(_ response: HTTPServerResponse) -> HTTPServerResponse? {
        guard let answers = core.answers else { return pending.give(response) ? response : nil }
        let admitted = answers.admit(response, to: peer) ?? core.congestion()
        return pending.give(admitted) ? admitted : nil
    }
}
