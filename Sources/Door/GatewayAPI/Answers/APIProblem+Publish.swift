package import PushModel

/// The problems of `POST /v1/requests`.
extension APIProblem {
    /// 415.
    package static let noRequestMediaType = APIProblem(
        415, code: .unsupportedMediaType,
        detail: "The Content-Type must be application/json, or application/cloudevents+json for an event. "
            + "POST /v1/requests takes application/cloudevents-batch+json, too. " + requestsOnLines)

    /// 415.
    package static let noBatchMediaType = APIProblem(
        415, code: .unsupportedMediaType,
        detail: "The Content-Type must be application/json, or application/x-ndjson for a request on each line.")

    /// 429 for a batch with more requests than the key's rate ever allows at once.
    package static func batchBeyondRate(_ limit: Int) -> APIProblem {
        APIProblem(
            429, code: .rateLimited,
            detail: "The key's rate allows \(limit) requests at once. Divide the batch; nothing is written.")
    }

    /// 400.
    package static let idempotencyKeyInvalid = APIProblem(
        400, code: .idempotencyKeyInvalid,
        detail: "Idempotency-Key must be there once, with 1 to \(APILimit.idempotencyKeyByteCount) printable ASCII characters.")

    /// 409.
    package static let conflictInFlight = APIProblem(
        409, code: .conflictInFlight, detail: "The first call with this Idempotency-Key is not answered yet.", retry: .sameKey,
        retryAfter: 1000
    )

    /// 422: the key belongs to another call.
    package static let idempotencyMismatch = APIProblem(
        422, code: .idempotencyMismatch,
        detail: "This Idempotency-Key was used for another call within the last 24 h. Give this call a key of its own.")

    /// 422 with everything for which no worker would send the request.
    package static func refused(_ faults: [RequestFault]) -> APIProblem {
        APIProblem(
            422, code: .invalidRequest, detail: "The request cannot be sent as it is; errors names each fault.", faults: faults)
    }

    private static let severalRequests = "A list of requests goes to POST /v1/requests:batch, as {\"requests\":[…]}."
    private static let requestsOnLines =
        "Requests on lines of their own go to POST /v1/requests:batch, with Content-Type: application/x-ndjson."

    /// 400 for what is no JSON, with line and column, and 422 for another value than an object. `line` is that of the whole body
    /// on which `body` begins.
    package static func unreadable(_ reason: UnreadableRecord, in body: [UInt8], from line: Int = 1) -> APIProblem {
        switch reason {
        case .noValue: return APIProblem(400, code: .notJSON, detail: "The body is empty; it must be a request.")
        case .notJSON(let error):
            let mistake = error.mistake(in: body.span)
            let place = "line \(line + mistake.line - 1), column \(mistake.column)"
            let isNextRequest =
                error.reason == .trailingBytes && mistake.line > 1 && body[error.offset...].first == UInt8(ascii: "{")
            let hint = isNextRequest ? " \(requestsOnLines)" : ""
            return APIProblem(400, code: .notJSON, detail: "The body is no JSON: \(place): \(mistake.cause)\(hint)")
        case .notAnObject, .notDelayed, .notTaken:
            let hint = body.first { !JSONBody.isSpace($0) } == UInt8(ascii: "[") ? " \(severalRequests)" : ""
            return .refused([RequestFault(.schemaInvalid, at: "", message: "The request must be an object.\(hint)")])
        }
    }

    /// 403: the request names a tenant that is not the key's.
    static let forbiddenTenant = APIProblem(
        403, code: .forbiddenTenant,
        detail: "The request names another tenant than the key's. Leave tenant out, or use that tenant's key.")

    /// 403: the request or the event names a source that is not the key's.
    static let forbiddenSource = APIProblem(
        403, code: .forbiddenSource,
        detail: "The request names another source than the key's. Leave source out, or give the key's.")

    /// 500: a library failed before anything was written.
    package static let failedBeforeWriting = APIProblem(
        500, code: Code.internal, detail: "The id could not be made from the key; nothing is sent.", retry: .safe)

    /// 504: Kafka may have the request. The call may be made again under its id.
    package static func ackUnknown(_ id: String) -> APIProblem {
        var problem = APIProblem(
            504, code: .ackUnknown,
            detail:
                "It is not known whether the request was written. Repeat the call with the same Idempotency-Key, or with this "
                + "request_id as its id: then it is sent once at most, while the first is in reach (dedupe.reach).",
            retry: .sameKey, requestID: id)
        problem.location = RequestLocation.of(id)
        return problem
    }
}
