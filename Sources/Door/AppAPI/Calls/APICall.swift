package import GatewayAPI
package import HTTPServing

/// A request of `/api` whose caller has signed in.
package struct APICall: Sendable {
    package let operation: APIOperation.App
    /// The parameter of its path.
    package let id: String
    let request: HTTPServerRequest
    /// The caller.
    let caller: Caller
    /// Takes the answer.
    package let reply: Reply

    package init(operation: APIOperation.App, id: String, request: HTTPServerRequest, caller: Caller, reply: Reply) {
        self.operation = operation
        self.id = id
        self.request = request
        self.caller = caller
        self.reply = reply
    }
}
