import HTTPServing

/// Finds the route of each request, has its caller sign in, and hands it on.
struct Routes: Sendable {
    /// What a browser shows.
    static let welcome = "pushfan gateway\nApps register at /api/register and notify at /api/notifications.\n"

    let signIn: SignIn
    let endpoints: any Endpoints
    let services: GatewayServices
    /// Who is believed about where a request comes from.
    var proxies = TrustedProxies()

    /// Answers a request, now or later; waits for nothing.
    func answer(_ request: HTTPServerRequest, _ responder: Responder) {
        let match = Route.match(request.method, request.rawPath)
        let reply = Reply(responder, route: match.label, services)
        switch match {
        case .nowhere: reply.answer(APIProblem.notFound)
        case .otherMethods(let methods): reply.answer(APIProblem.methodNotAllowed(methods))
        case .route(.welcome): reply.answer(.text(Self.welcome))
        case .route(let route):
            // Of two headers nobody could say which one counts.
            let authorization = request.headers.count(of: "Authorization") == 1 ? request.headers["Authorization"] : nil
            signIn.check(authorization, from: proxies.client(of: request)) { [endpoints] outcome in
                switch outcome {
                case .signedIn(let caller):
                    endpoints.answer(APICall(route: route, request: request, caller: caller, reply: reply))
                case .refused: reply.answer(APIProblem.unauthorized)
                case .held(let wait): reply.answer(APIProblem.tooManySignIns(after: wait))
                case .overloaded: reply.answer(APIProblem.overloaded(after: 1000))
                }
            }
        }
    }
}
