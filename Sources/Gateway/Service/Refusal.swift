import HTTPServing
import PushModel
import Users

/// Why the service itself answers a request: nobody knows who asks, there is no such route, or it has no room.
///
/// Nothing that the client sent stands in the answer.
enum Refusal: Sendable, Equatable {
    /// The request is no HTTP that is read here.
    case malformed
    /// There are no credentials, or they are wrong.
    case unauthenticated
    /// There is no such route.
    case notFound
    /// The route has other methods: the value of `Allow`.
    case methodNotAllowed(allow: String)
    /// The body is longer than any that is read.
    case bodyTooLarge
    /// The header fields are.
    case headerTooLarge
    /// Nobody answered; whether anything was done is not known.
    case failed
    /// Nothing stands behind the route.
    case notServed
    /// Too much waits already.
    case overloaded
    /// The gateway stops.
    case stopping

    /// What an HTTP server answers by itself, by its status.
    init(status: Int) {
        switch status {
        case 400: self = .malformed
        case 413: self = .bodyTooLarge
        case 431: self = .headerTooLarge
        case 503: self = .stopping
        default: self = .failed
        }
    }

    /// The answer: problem+json (RFC 9457), and the header fields that belong to the status.
    var response: HTTPServerResponse {
        let (status, title, code, detail) = parts
        var json = ByteWriter(capacity: 256)
        json.append("{\"title\":")
        json.append(json: title)
        json.append(",\"status\":")
        json.append(decimal: status)
        json.append(",\"detail\":")
        json.append(json: detail)
        json.append(",\"code\":")
        json.append(json: code)
        json.append(",\"retry\":")
        json.append(json: retry)
        json.append("}")
        var headers: HTTPFields = ["Content-Type": "application/problem+json"]
        switch self {
        case .unauthenticated: headers.append("WWW-Authenticate", BasicCredentials.challenge)
        case .methodNotAllowed(let allow): headers.append("Allow", allow)
        case .overloaded, .stopping: headers.append("Retry-After", "1")
        case .malformed, .notFound, .bodyTooLarge, .headerTooLarge, .failed, .notServed: break
        }
        return HTTPServerResponse(status: status, headers: headers, body: json.bytes)
    }

    /// Whether the same call may be made again: nothing was done, it may have been done, or it would end the same way.
    private var retry: String {
        switch self {
        case .unauthenticated, .overloaded: "safe"
        case .failed, .stopping: "ambiguous"
        case .malformed, .notFound, .methodNotAllowed, .bodyTooLarge, .headerTooLarge, .notServed: "never"
        }
    }

    private var parts: (status: Int, title: String, code: String, detail: String) {
        switch self {
        case .malformed: (400, "Bad Request", "invalid_request", "The request is not valid HTTP.")
        case .unauthenticated: (401, "Unauthorized", "unauthorized", "Log in with a name and its password.")
        case .notFound: (404, "Not Found", "not_found", "There is nothing here.")
        case .methodNotAllowed: (405, "Method Not Allowed", "method_not_allowed", "This route has other methods.")
        case .bodyTooLarge: (413, "Content Too Large", "body_too_large", "The body is too long.")
        case .headerTooLarge:
            (431, "Request Header Fields Too Large", "header_too_large", "The header fields are too long together.")
        case .failed: (500, "Internal Server Error", "internal", "The call was not answered; it may have been carried out.")
        case .notServed: (501, "Not Implemented", "not_implemented", "This gateway does not serve the route.")
        case .overloaded: (503, "Service Unavailable", "overloaded", "The gateway has too much to do at the moment.")
        case .stopping: (503, "Service Unavailable", "stopping", "The gateway is stopping; the call may have been carried out.")
        }
    }
}
