import GatewayAPI
import HTTPServing

/// A request of `/api` whose caller has signed in.
struct APICall: Sendable {
    let operation: APIOperation.App
    /// The parameter of its path.
    let id: String
    let request: HTTPServerRequest
    /// The caller.
    let caller: Caller
    /// Takes the answer.
    let reply: Reply
}
