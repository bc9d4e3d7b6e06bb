import HTTPServing
import Basics

/// Says whose key a call shows, by its `Authorization` header and its client's address; nil each where it is not known.
typealias KeyCheck = @Sendable (_ authorization: String?, _ client: NumericAddress?) -> KeySignIn.Outcome

/// A request of `/v1` whose caller has shown a key.
struct PublishCall: Sendable {
    /// The request, whole.
    let request: HTTPServerRequest
    /// The caller.
    let publisher: Publisher
    /// Takes the answer.
    let reply: Reply
}
