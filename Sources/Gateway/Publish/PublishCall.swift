import HTTPServing

/// What a check of an API key ends with.
enum KeyOutcome: Sendable {
    /// The key is right.
    case publisher(Publisher)
    /// There is no such key.
    case refused
    /// The key was not checked; the same call may be made again after so many milliseconds.
    case held(Int64)
    /// The key was not checked, because too many wait.
    case overloaded
}

/// Checks the API key of a request, and calls back once, before it returns or later.
typealias KeyCheck = @Sendable (_ request: HTTPServerRequest, _ done: @escaping @Sendable (KeyOutcome) -> Void) -> Void

/// A request of `/v1` whose caller has shown a key.
struct PublishCall: Sendable {
    /// The request, whole.
    let request: HTTPServerRequest
    /// Who asks.
    let publisher: Publisher
    /// Takes the answer.
    let reply: Reply
}
