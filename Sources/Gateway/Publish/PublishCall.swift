import HTTPServing
import Basics

/// Says whose key a call shows, by its `Authorization` header and its client's address; nil each where it is not known.
typealias KeyCheck = @Sendable (_ authorization: String?, _ client: NumericAddress?) -> KeySignIn.Outcome

/// Says if the key of a call still is right, with the rights that it had.
typealias KeyRecheck = @Sendable (_ authorization: String?, _ publisher: Publisher) -> Bool

/// Says whether the rate of a publisher's key allows all requests of a batch, whose call has counted as one.
typealias BatchCheck = @Sendable (_ count: Int, _ publisher: Publisher) -> KeyUses.BatchVerdict

/// A call of `/v1` that brings requests, and whose caller has shown a key.
struct PublishCall: Sendable {
    let kind: PublishKind
    /// The call, whole.
    let request: HTTPServerRequest
    /// The caller.
    let holder: KeyHolder
    /// Counts the requests of a batch.
    let checkBatch: BatchCheck
    /// Takes the answer.
    let reply: Reply

    init(kind: PublishKind, request: HTTPServerRequest, by holder: KeyHolder, checkBatch: @escaping BatchCheck, reply: Reply) {
        (self.kind, self.request, self.holder, self.checkBatch, self.reply) = (kind, request, holder, checkBatch, reply)
    }

    var publisher: Publisher { holder.publisher }
    /// Has its caller looked at while it waits.
    var holding: Holding { reply.rights.hold(holder) }
}

extension PublishCall {
    /// True if reading and checking it may take milliseconds.
    var isLong: Bool { kind.isLong(byteCount: request.body.count) }
}

extension PublishKind {
    /// The most bytes of a request that is read on the thread that has received it: some 0.3 ms.
    static let shortByteCount = 32 << 10

    /// True if reading and checking such a body may take milliseconds.
    func isLong(byteCount: Int) -> Bool {
        if case .single = self { byteCount > Self.shortByteCount } else { true }
    }
}
