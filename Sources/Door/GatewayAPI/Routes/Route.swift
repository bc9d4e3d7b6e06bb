import Basics
import HTTPServing

/// The routes of a gateway.
package enum Route: Sendable, Equatable {
    /// `GET /`, without signing in.
    case welcome
    /// `POST /api/register`.
    case newRegistration
    /// `PUT /api/register/{id}`; the id is decoded and not looked at.
    case putRegistration(id: String)
    /// `DELETE /api/register/{id}`.
    case deleteRegistration(id: String)
    /// `POST /v1/requests`.
    case publish
    /// `POST /v1/requests:batch`.
    case publishBatch
    /// `POST /v1/requests:explain`.
    case explain
    /// `POST /api/notifications`.
    case notify
    /// `GET /api/notifications/{id}`; the id is decoded and not looked at.
    case secureText(id: String)
    /// `GET /v1/openapi.json`, without signing in.
    case openAPI
    /// One request of a back end, below `/v1/requests/`.
    case request(RequestRoute)
    /// What finds and repairs, and shows how workers are.
    case operate(OperatorRoute)
    /// The web page, below `/ui`.
    case page(PageRoute)

    /// Whether a body says what to do; that of any other route is read past.
    var takesBody: Bool {
        switch self {
        case .putRegistration, .notify, .publish, .publishBatch, .explain: true
        case .welcome, .newRegistration, .deleteRegistration, .secureText, .openAPI: false
        case .request(let route): route.takesBody
        case .operate(let route): route.takesBody
        case .page(let route): route.takesBody
        }
    }

    /// Where a request leads.
    enum Match: Sendable, Equatable {
        case route(Route)
        case otherMethods([String])
        case nowhere

        /// A short word, safe as a metric's label.
        var label: String {
            switch self {
            case .route(.welcome): "welcome"
            case .route(.newRegistration): "register.new"
            case .route(.putRegistration): "register.put"
            case .route(.deleteRegistration): "register.delete"
            case .route(.publish): "requests.publish"
            case .route(.publishBatch): "requests.batch"
            case .route(.explain): "requests.explain"
            case .route(.notify): "notify"
            case .route(.secureText): "notify.text"
            case .route(.openAPI): "openapi"
            case .route(.request(let route)): route.label
            case .route(.operate(let route)): route.label
            case .route(.page(let route)): route.label
            case .otherMethods, .nowhere: "none"
            }
        }
    }

    /// Finds the route of a request. Methods have a case (RFC 9110, 9.1), HEAD leads where GET does (9.3.2), and the path has its escapes.
    static func match(_ method: String, path: Substring) -> Match {
        guard let routes = routes(of: path) else { return .nowhere }
        let sought = method == "HEAD" ? "GET" : method
        if let found = routes.first(where: { $0.method == sought }) { return .route(found.route) }
        return .otherMethods(routes.flatMap { $0.method == "GET" ? ["GET", "HEAD"] : [$0.method] })
    }

    /// The routes of a path by method, or nil for a path of nothing.
    private static func routes(of path: Substring) -> [(method: String, route: Route)]? {
        switch path {
        case "/": return [("GET", .welcome)]
        case "/v1/requests": return [("POST", .publish), ("GET", .operate(.results))]
        case "/v1/requests:batch": return [("POST", .publishBatch)]
        case "/v1/requests:explain": return [("POST", .explain)]
        case "/v1/openapi.json": return [("GET", .openAPI)]
        default: break
        }
        if let found = PageRoute.methods(of: path) { return found.map { ($0.method, .page($0.route)) } }
        let pieces = path.byteParts(between: "/").map(String.init)
        if let found = appRoutes(of: pieces) { return found }
        if let found = OperatorRoute.methods(of: pieces) { return found.map { ($0.method, .operate($0.route)) } }
        return RequestRoute.methods(of: pieces)?.map { ($0.method, .request($0.route)) }
    }

    /// The routes below `/api`, as ASP.NET finds them: names in any case and with escapes, and one slash behind them.
    private static func appRoutes(of pieces: [String]) -> [(method: String, route: Route)]? {
        var names = pieces.dropFirst().map { PercentEncoding.decoded($0) }
        if names.count > 2, names.last == "" { names.removeLast() }
        guard pieces[0].isEmpty, 2...3 ~= names.count, names[0].equalsIgnoringCase("api") else { return nil }
        let id = names.count == 3 ? names[2] : nil
        if id?.isEmpty == true { return nil }
        if names[1].equalsIgnoringCase("register") {
            guard let id else { return [("POST", .newRegistration)] }
            return [("PUT", .putRegistration(id: id)), ("DELETE", .deleteRegistration(id: id))]
        }
        guard names[1].equalsIgnoringCase("notifications") else { return nil }
        return id.map { [("GET", .secureText(id: $0))] } ?? [("POST", .notify)]
    }
}
