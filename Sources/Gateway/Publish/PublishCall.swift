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
    let publisher: Publisher
    /// Counts the requests of a batch.
    let checkBatch: BatchCheck
    /// Takes the answer.
    let reply: Reply
    /// Has its caller looked at while it waits.
    let holding: Holding
}
