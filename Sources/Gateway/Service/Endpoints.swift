import HTTPServing

/// A request of `/api` whose caller has signed in.
struct APICall: Sendable {
    /// Where it leads; never ``Route/welcome``.
    let route: Route
    /// The request, whole.
    let request: HTTPServerRequest
    /// Who asks.
    let caller: Caller
    /// Takes the answer.
    let reply: Reply
}

/// What stands behind the routes of `/api`.
protocol Endpoints: Sendable {
    /// Answers a call, before it returns or later; waits for nothing. Called on any thread.
    func answer(_ call: APICall)
}

/// The endpoints of a gateway: pure values decide, the hub's lanes and Kafka's client carry out.
struct APIEndpoints: Endpoints {
    let configuration: GatewayConfiguration
    let lanes: HubLanes

    func answer(_ call: APICall) {
        switch call.route {
        // The registrar decides; its hub calls go to the lane of the id.
        case .newRegistration, .putRegistration, .deleteRegistration: call.reply.answer(Refusal.notServed.response)
        // One record through Kafka; its result decides.
        case .notify: call.reply.answer(Refusal.notServed.response)
        case .welcome: call.reply.answer(Refusal.notFound.response)
        }
    }
}
