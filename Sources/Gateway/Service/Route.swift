import Basics
import HTTPServing

/// The routes of a gateway.
enum Route: Sendable, Equatable {
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

    /// Whether a body says what to do; that of any other route is read past.
    var takesBody: Bool {
        switch self {
        case .putRegistration, .notify, .publish, .publishBatch, .explain: true
        case .welcome, .newRegistration, .deleteRegistration, .secureText, .openAPI: false
        case .request(let route): route.takesBody
        }
    }

    /// Where a request leads.
    enum Match: Sendable, Equatable {
        case route(Route)
        /// The path has other methods.
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
            case .otherMethods, .nowhere: "none"
            }
        }
    }

    /// Finds the route of a request.
    ///
    /// - Parameters:
    ///   - method: The method as sent; methods have a case (RFC 9110, 9.1).
    ///   - path: The path as sent, escapes and all.
    /// - Returns: The route; or that there is none, or none with this method.
    static func match(_ method: String, _ path: Substring) -> Match {
        let pieces = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let routes: [(method: String, route: Route)]
        if pieces == ["", ""] {
            routes = [("GET", .welcome), ("HEAD", .welcome)]
        } else if pieces == ["", "v1", "requests"] {
            routes = [("POST", .publish)]
        } else if pieces == ["", "v1", "requests:batch"] {
            routes = [("POST", .publishBatch)]
        } else if pieces == ["", "v1", "requests:explain"] {
            routes = [("POST", .explain)]
        } else if pieces == ["", "v1", "openapi.json"] {
            routes = [("GET", .openAPI), ("HEAD", .openAPI)]
        } else if pieces == ["", "api", "register"] {
            routes = [("POST", .newRegistration)]
        } else if pieces == ["", "api", "notifications"] {
            routes = [("POST", .notify)]
        } else if pieces.count == 4, pieces.starts(with: ["", "api", "register"]), !pieces[3].isEmpty {
            let id = PercentEncoding.decoded(pieces[3])
            routes = [("PUT", .putRegistration(id: id)), ("DELETE", .deleteRegistration(id: id))]
        } else if pieces.count == 4, pieces.starts(with: ["", "api", "notifications"]), !pieces[3].isEmpty {
            routes = [("GET", .secureText(id: PercentEncoding.decoded(pieces[3])))]
        } else if let methods = RequestRoute.methods(of: pieces) {
            routes = methods.map { ($0.method, .request($0.route)) }
        } else {
            return .nowhere
        }
        if let found = routes.first(where: { $0.method == method }) { return .route(found.route) }
        return .otherMethods(routes.map { $0.method })
    }
}
