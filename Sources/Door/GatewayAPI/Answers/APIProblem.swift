public import HTTPServing
internal import Keys
public import PushModel
internal import Users

/// The reason for refusing a call of the API, or failing it. Becomes `application/problem+json` (RFC 9457).
///
/// No text of it repeats a device handle, a tag or any other part of the call.
public struct APIProblem: Error, Sendable, Equatable {
    /// The rule for making the same call again.
    public enum Retry: String, Sendable, CaseIterable {
        /// Nothing was done, or doing it twice is the same as once.
        case safe
        /// It may have been done: another send could ring twice.
        case ambiguous
        /// It may have been done, and under the same key it is done once at most.
        case sameKey = "same_key"
        /// It would end the same way.
        case never
    }

    /// The status, 400 to 599.
    public var status: Int
    /// The reason in one word: an `APIProblem.Code` or an `ErrorCode`.
    public var code: String
    /// A plain sentence.
    public var detail: String
    /// The rule for making the same call again.
    public var retry: Retry
    /// The faults of the body, each with its JSON Pointer.
    public var faults: [RequestFault] = []
    /// The time before the next try, in milliseconds, nil when unknown.
    public var retryAfter: Int64?
    /// The request that was written, or may have been.
    public var requestID: String?
    /// The methods that the route has, for 405.
    public var allowedMethods: [String] = []
    /// The ways to sign in, for 401: a name and a password (RFC 7617) unless something else is said.
    public var challenges = [BasicCredentials.challenge]
    /// The address at which that request can be asked about.
    public var location: String?
    /// The cursor of the first place that is left, for 410.
    public var first: String?
    /// The most requests that the key's rate ever allows at once, where it is the key's rate that refuses. Not part of the answer.
    package var burst: Int?
    /// The reason in full, for the log alone.
    package var cause: String?

    /// A problem of the API.
    public init(
        _ status: Int, code: Code, detail: String, retry: Retry = .never, faults: [RequestFault] = [],
        retryAfter: Int64? = nil, requestID: String? = nil
    ) {
        self.init(status, named: code.rawValue, detail: detail, retry: retry, requestID: requestID)
        self.faults = faults
        self.retryAfter = retryAfter
    }

    /// A problem that a result or the hub has a code for.
    public init(_ status: Int, code: ErrorCode, detail: String, retry: Retry, requestID: String? = nil) {
        self.init(status, named: code.rawValue, detail: detail, retry: retry, requestID: requestID)
    }

    private init(_ status: Int, named code: String, detail: String, retry: Retry, requestID: String?) {
        self.status = status
        self.code = code
        self.detail = detail
        self.retry = retry
        self.requestID = requestID
    }
}

extension APIProblem {
    /// 400 with one sentence.
    public static func invalid(_ detail: String) -> APIProblem { APIProblem(400, code: .invalidRequest, detail: detail) }

    /// 400 with the faults of a body.
    public static func invalid(_ faults: [RequestFault]) -> APIProblem {
        APIProblem(
            400, code: .invalidRequest, detail: "The body is not what this call takes; errors names each fault.", faults: faults)
    }

    /// 400 for a header field that is there more than once and is no list.
    package static func repeatedField(_ name: String) -> APIProblem {
        invalid("The header field \(name) is there more than once.")
    }

    /// 401 with the challenge of RFC 7617.
    public static let unauthorized = APIProblem(401, code: .unauthorized, detail: "Log in with a name and its password.")

    /// 401 where tokens count as well, with the challenge of RFC 6750 besides.
    package static let noUser = userProblem("Log in with a name and its password, or with a token.", and: PresentedKey.challenge)

    /// 401: a token that does not count. Why is not said.
    package static let tokenWrong = userProblem(
        "The token is not valid, has expired, or is not for this gateway.",
        and: PresentedKey.challenge + #", error="invalid_token""#)

    private static func userProblem(_ detail: String, and challenge: String) -> APIProblem {
        var problem = APIProblem(401, code: .unauthorized, detail: detail)
        problem.challenges.append(challenge)
        return problem
    }

    /// 503: the token cannot be checked yet. `wait` is milliseconds.
    package static func tokenKeyUnread(after wait: Int64) -> APIProblem {
        APIProblem(
            503, code: .overloaded, detail: "The key that the token is checked with was not read yet.", retry: .safe,
            retryAfter: wait)
    }

    /// 401: no header says a key.
    package static let keyMissing = badKey("No key was sent: `Authorization: Bearer KEY` is missing.")

    /// 401: a header has another scheme than keys have, or what has not the form of a key.
    package static let keyMalformed = badKey(
        "What was sent is no key: `Authorization: Bearer KEY` must be there once, with a whole key of `pushfan keys create`.")

    /// 401: a key that is not valid. Why is not said.
    package static let keyWrong = badKey("The key is not known, has expired or was revoked.")

    /// 401: the cookie's session is not there any more.
    package static let sessionOver = badKey("The session is over, or its key is not valid any more: sign in again.")

    /// 401: the rights are gone by which a stream or a wait began.
    static let rightsOver = badKey("The key or the session is not valid any more, or has other rights than when the call began.")

    /// 403: a browser made the call for another site than the page.
    package static let crossSite = APIProblem(
        403, code: .crossSite, detail: "A call with a session's cookie must come from the page: Sec-Fetch-Site or Origin says so."
    )

    /// 401 with the challenge of RFC 6750.
    private static func badKey(_ detail: String) -> APIProblem {
        var problem = APIProblem(401, code: .unauthorized, detail: detail)
        problem.challenges = [PresentedKey.challenge]
        return problem
    }

    /// 404, the same for what is not there and for what is another user's.
    public static let notFound = APIProblem(404, code: .notFound, detail: "There is nothing here, or nothing of yours.")

    /// 404 for a path that no route has, with the route that is near it.
    package static func noRoute(near route: String?) -> APIProblem {
        let hint = route.map { "Was \($0) meant?" } ?? "GET /v1/openapi.json has the routes."
        return APIProblem(404, code: .notFound, detail: "There is no such path. \(hint)")
    }

    /// 405 with the methods of the path, and the route that was probably meant.
    package static func methodNotAllowed(_ methods: [String], near route: String? = nil) -> APIProblem {
        let hint = route.map { " Was \($0) meant?" } ?? ""
        var problem = APIProblem(
            405, code: .methodNotAllowed, detail: "This path takes \(methods.joined(separator: ", ")) and no other method.\(hint)"
        )
        problem.allowedMethods = methods
        return problem
    }

    /// 413, with the bytes that are allowed.
    public static func bodyTooLarge(limit: Int) -> APIProblem {
        APIProblem(413, code: .bodyTooLarge, detail: "The body has more than \(limit) bytes.")
    }

    /// 413 by a server that does not say the route's limit.
    static let bodyTooLarge = APIProblem(
        413, code: .bodyTooLarge,
        detail: "The body has more bytes than this route takes: \(APILimit.requestByteCount) for a request, "
            + "\(APILimit.batchByteCount) for a batch, \(JSONBody.maximumByteCount) for any other.")

    /// 415.
    public static let unsupportedMediaType = APIProblem(
        415, code: .unsupportedMediaType, detail: "The body must be JSON in UTF-8: Content-Type: application/json.")

    /// 429. `wait` is milliseconds.
    public static func tooManyRequests(after wait: Int64) -> APIProblem {
        APIProblem(429, code: .tooManyRequests, detail: "You make too many calls.", retry: .safe, retryAfter: wait)
    }

    /// 429: the password was not checked. `wait` is milliseconds.
    public static func tooManySignIns(after wait: Int64) -> APIProblem {
        APIProblem(
            429, code: .tooManySignIns, detail: "Too many sign-ins failed, or wait; this password was not checked.", retry: .safe,
            retryAfter: wait)
    }

    /// 429: the key is wrong, as too many before it were. `wait` is milliseconds.
    public static func tooManyWrongKeys(after wait: Int64) -> APIProblem {
        APIProblem(
            429, code: .tooManySignIns, detail: "Too many keys were wrong, and this one is not right.", retry: .safe,
            retryAfter: wait)
    }

    /// 429: the key is right, and its rate does not allow the call yet. `wait` is milliseconds.
    package static func rateLimited(after wait: Int64, burst: Int? = nil) -> APIProblem {
        var problem = APIProblem(
            429, code: .rateLimited, detail: "The key's rate does not allow this call yet.", retry: .safe, retryAfter: wait)
        problem.burst = burst
        return problem
    }

    /// 503: more is waiting than can be done soon. `wait` is milliseconds.
    public static func overloaded(after wait: Int64) -> APIProblem {
        APIProblem(
            503, code: .overloaded, detail: "The gateway has too much to do at the moment.", retry: .safe, retryAfter: wait)
    }

    /// 500: whether anything was done is not known.
    public static let failed = APIProblem(
        500, code: Code.internal, detail: "The call was not answered; it may have been carried out.", retry: .ambiguous)

    /// 503: the gateway stops, and has written no request of the call.
    public static let stopping = APIProblem(
        503, code: .stopping, detail: "The gateway is stopping; nothing is written, and the call can be made again.",
        retry: .safe,
        retryAfter: 1000)

    /// The answer of an HTTP server by itself, before a handler has looked at the call, or in place of one that did not answer.
    public static func ofServer(_ status: Int) -> APIProblem {
        switch status {
        case 400: .invalid("The request is not valid HTTP or did not come whole in time, or its body is no whole gzip.")
        case 413: .bodyTooLarge
        case 415: APIProblem(415, code: .unsupportedMediaType, detail: "The body must be packed with gzip, or not at all.")
        case 431:
            APIProblem(
                431, code: .headerTooLarge,
                detail: "The line of the call and its header fields are too long together: 8 KiB at most.")
        case 503: .stopping
        default: .failed
        }
    }

    /// The problem as the server sends it.
    public var response: HTTPServerResponse { APIAnswer(self).response }
}

extension APIAnswer {
    /// The problem as `application/problem+json`.
    public init(_ problem: APIProblem) {
        self.init(problem, json: problem.json)
    }

    /// The problem, with members beside those of every problem in its `json`.
    package init(_ problem: APIProblem, json: [UInt8]) {
        self.init(status: problem.status, json: json, as: "application/problem+json")
        code = problem.code
        if problem.status == 401 { for challenge in problem.challenges { headers.append("WWW-Authenticate", value: challenge) } }
        if !problem.allowedMethods.isEmpty { headers.append("Allow", value: problem.allowedMethods.joined(separator: ", ")) }
        if let wait = problem.retryAfterSeconds { headers.append("Retry-After", value: "\(wait)") }
        if let location = problem.location { headers.append("Location", value: location) }
    }
}

extension APIProblem {
    /// Whole seconds, at least one. RFC 9110, section 10.2.3, knows nothing smaller.
    var retryAfterSeconds: Int64? { retryAfter.map { max(1, $0 / 1000 + ($0 % 1000 > 0 ? 1 : 0)) } }

    /// The members of RFC 9457, and `code`, `retry`, `request_id` and `errors` beside them. `type` is added where there is a page
    /// for it (``APIAnswer/documented(at:)``). Without one it is `about:blank`.
    package var json: [UInt8] {
        var json = ByteWriter()
        json.append("{\"title\":", json: Self.title(of: status))
        json.append(",\"status\":", decimal: status)
        appendMembers(to: &json)
        json.append("}")
        return json.bytes
    }

    /// Appends the members behind `status`.
    package func appendMembers(to json: inout ByteWriter) {
        json.append(",\"detail\":", json: detail)
        json.append(",\"code\":", json: code)
        json.append(",\"retry\":", json: retry.rawValue)
        json.append(",\"request_id\":", json: requestID)
        json.append(",\"first\":", json: first)
        for (index, fault) in faults.enumerated() {
            json.append(index == 0 ? ",\"errors\":[" : ",")
            json.append("{\"pointer\":", json: fault.pointer)
            json.append(",\"code\":", json: fault.code.rawValue)
            json.append(",\"detail\":", json: fault.message)
            json.append("}")
        }
        if !faults.isEmpty { json.append("]") }
    }

    /// The phrases of RFC 9110, section 15.
    private static func title(of status: Int) -> String {
        switch status {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 409: "Conflict"
        case 410: "Gone"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 422: "Unprocessable Content"
        case 428: "Precondition Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        default: "Error"
        }
    }
}
