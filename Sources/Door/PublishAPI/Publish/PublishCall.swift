package import Basics
package import GatewayAPI
package import HTTPServing
import Replay

/// Says whose key a call shows, by its `Authorization` header and its client's address; nil each where it is not known.
package typealias KeyCheck = @Sendable (_ authorization: String?, _ client: NumericAddress?) -> KeyOutcome

/// Says if the key of a call still is right, with the rights that it had.
package typealias KeyRecheck = @Sendable (_ authorization: String?, _ publisher: Publisher) -> Bool

/// Says whether the rate of a publisher's key allows all requests of a batch, whose call has counted as one.
package typealias BatchCheck = @Sendable (_ count: Int, _ publisher: Publisher) -> KeyUses.BatchVerdict

/// A call of `/v1` that brings requests, and whose caller has shown a key.
package struct PublishCall: Sendable {
    let kind: PublishKind
    /// The call, whole.
    let request: HTTPServerRequest
    /// The caller.
    let holder: KeyHolder
    /// Counts the requests of a batch.
    let checkBatch: BatchCheck
    /// Takes the answer.
    package let reply: Reply
    /// True if reading and checking it may take milliseconds.
    let isLong: Bool

    package init(
        kind: PublishKind, request: HTTPServerRequest, by holder: KeyHolder, checkBatch: @escaping BatchCheck, reply: Reply
    ) {
        (self.kind, self.request, self.holder, self.checkBatch, self.reply) = (kind, request, holder, checkBatch, reply)
        isLong = kind.isLong(request.body)
    }

    package var publisher: Publisher { holder.publisher }
    /// Has its caller looked at while it waits.
    var holding: Holding { reply.rights.hold(holder) }
}

extension PublishKind {
    /// The most bytes of a request that is read on the thread that has received it: some 0.3 ms.
    static let shortByteCount = 32 << 10
    /// The most bytes of one whose tag expression, if it has any, is split there.
    static let plainByteCount = 400

    private static let expression = ByteWord("tag_expression")
    /// A name may be written with escapes.
    private static let escape = ByteWord(#"\u00"#)

    /// True if reading and checking such a body may take milliseconds.
    func isLong(_ body: [UInt8]) -> Bool {
        guard case .single = self, body.count <= Self.shortByteCount else { return true }
        return body.count > Self.plainByteCount && (Self.expression.isIn(body.span) || Self.escape.isIn(body.span))
    }
}
