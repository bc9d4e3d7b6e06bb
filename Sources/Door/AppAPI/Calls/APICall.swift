import GatewayAPI
import HTTPServing

/// A request of `/api` whose caller has signed in.
struct APICall: Sendable {
    /// Its route, one below `/api`.
    let route: Route
    let request: HTTPServerRequest
    /// The caller.
    let caller: Caller
    /// Takes the answer.
    let reply: Reply
}
