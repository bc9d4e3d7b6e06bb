extension APIProblem {
    /// The kinds of problems that the API itself has. A send that failed has its result's code instead (`ErrorCode`).
    ///
    /// A closed list: `pushfan explain CODE` has a page for each, and page Publish or Gateway a row.
    public enum Code: String, Sendable, CaseIterable {
        /// 400, and 422 for a request that no worker would send.
        case invalidRequest = "invalid_request"
        /// 400: the body is no JSON.
        case notJSON = "not_json"
        /// 400: the header `Idempotency-Key` has no key.
        case idempotencyKeyInvalid = "idempotency_key_invalid"
        /// 401: no credentials, or wrong ones.
        case unauthorized = "unauthorized"
        /// 403: the key or the token lacks a scope.
        case forbiddenScope = "forbidden_scope"
        /// 403: the request is another tenant's.
        case forbiddenTenant = "forbidden_tenant"
        /// 403: the request has another source than the key.
        case forbiddenSource = "forbidden_source"
        /// 403: a call with the cookie of a session came from another site than the page.
        case crossSite = "cross_site"
        /// 404: nothing is there, or it is another user's.
        case notFound = "not_found"
        /// 405.
        case methodNotAllowed = "method_not_allowed"
        /// 409: the first call with this key is not answered yet.
        case conflictInFlight = "conflict_in_flight"
        /// 409: another replay of the same tenant, or of all, is running, or another process runs this one.
        case replayRunning = "replay_running"
        /// 409: the replay has ended, or its plan is of no use any more.
        case replayEnded = "replay_ended"
        /// 409: no process runs the replay, so that it cannot be paused or resumed.
        case replayNotRunning = "replay_not_running"
        /// 409: the hold or limit has ended, so that it cannot be released.
        case orderEnded = "order_ended"
        /// 409: so many requests are replayed only when the call repeats their number.
        case countUnconfirmed = "count_unconfirmed"
        /// 410: the topic of results has nothing of the cursor's place any more.
        case cursorExpired = "cursor_expired"
        /// 412: `If-Match` names another plan.
        case preconditionFailed = "precondition_failed"
        /// 413.
        case bodyTooLarge = "body_too_large"
        /// 413: Kafka takes no record of this size.
        case brokerSizeLimit = "broker_size_limit"
        /// 415: the body is no JSON by its content type.
        case unsupportedMediaType = "unsupported_media_type"
        /// 422: the key was used for another call.
        case idempotencyMismatch = "idempotency_mismatch"
        /// 422: more requests match than the call allows.
        case tooManyMatches = "too_many_matches"
        /// 428: the call needs `If-Match` with the tag of the plan.
        case preconditionRequired = "precondition_required"
        /// 431.
        case headerTooLarge = "header_too_large"
        /// 429: this caller makes too many calls.
        case tooManyRequests = "too_many_requests"
        /// 429: sign-ins from this address or with this name failed too often, or too many wait. The password was not checked.
        case tooManySignIns = "too_many_sign_ins"
        /// 429: the key's rate does not allow the call yet, or never so large a batch.
        case rateLimited = "rate_limited"
        /// 500: the gateway itself failed.
        case `internal` = "internal"
        /// 500: Kafka refuses the record for its form, its time or by a rule of its own, whenever it comes.
        case brokerRefused = "broker_refused"
        /// 501: the gateway has no setting without which it cannot do this.
        case notConfigured = "not_configured"
        /// 503: the gateway as a whole has too much to do.
        case overloaded = "overloaded"
        /// 503: the gateway stops, and no request of the call is written.
        case stopping = "stopping"
        /// 503: Kafka did not take the request, which is certainly not written, or does not give what is asked for.
        case brokerUnavailable = "broker_unavailable"
        /// 503: too many records wait for Kafka, or it confirms none in time. The request is certainly not written.
        case brokerSlow = "broker_slow"
        /// 503: the topic of the record is missing. It is certainly not written.
        case topicMissing = "topic_missing"
        /// 503: Kafka does not allow the gateway to write to the topic. The record is certainly not written.
        case brokerForbidden = "broker_forbidden"
        /// 503: too few replicas are in sync for the record, which is certainly not written.
        case notEnoughReplicas = "not_enough_replicas"
        /// 504: whether the request was written is not known.
        case ackUnknown = "ack_unknown"
        /// 504: the request was written, and its result did not come in time.
        case resultPending = "result_pending"
        /// 504: the hub took the request, and what became of it was not known in time.
        case outcomePending = "outcome_pending"

        /// The statuses that it comes with.
        public var statuses: [Int] {
            switch self {
            case .invalidRequest: [400, 422]
            case .notJSON, .idempotencyKeyInvalid: [400]
            case .unauthorized: [401]
            case .forbiddenScope, .forbiddenTenant, .forbiddenSource, .crossSite: [403]
            case .notFound: [404]
            case .methodNotAllowed: [405]
            case .conflictInFlight, .replayRunning, .replayEnded, .replayNotRunning, .orderEnded, .countUnconfirmed: [409]
            case .cursorExpired: [410]
            case .preconditionFailed: [412]
            case .bodyTooLarge, .brokerSizeLimit: [413]
            case .unsupportedMediaType: [415]
            case .idempotencyMismatch, .tooManyMatches: [422]
            case .preconditionRequired: [428]
            case .headerTooLarge: [431]
            case .tooManyRequests, .tooManySignIns, .rateLimited: [429]
            case .internal, .brokerRefused: [500]
            case .notConfigured: [501]
            case .overloaded, .stopping, .brokerUnavailable, .brokerSlow, .topicMissing, .brokerForbidden, .notEnoughReplicas:
                [503]
            case .ackUnknown, .resultPending, .outcomePending: [504]
            }
        }
    }
}

extension APIProblem.Code {
    /// The codes that an earlier build gave to apps (`/api`), each with the one in its place.
    public static let formerWords: [String: APIProblem.Code] = [
        "kafka_unavailable": .brokerUnavailable, "kafka_unanswered": .ackUnknown,
    ]

    /// The cause and the remedy of a code (`pushfan explain CODE`).
    public struct Explanation: Sendable, Equatable {
        /// The cause.
        public var cause: String
        /// The caller's remedy.
        public var remedy: String
    }

    /// Cause and remedy in plain words.
    public var explanation: Explanation {
        let (cause, remedy) = words
        return Explanation(cause: cause, remedy: remedy)
    }

    private var words: (cause: String, remedy: String) {
        switch self {
        case .invalidRequest:
            (
                "The call cannot be understood, or no worker would send its request.",
                "Correct what errors names: each fault has a JSON Pointer. `pushfan explain FILE` finds the same faults."
            )
        case .notJSON: ("The body is no JSON; detail has line, column and cause.", "Correct it, and make the call again.")
        case .idempotencyKeyInvalid:
            (
                "The header Idempotency-Key is empty, too long, there twice, or has other characters than printable ASCII.",
                "Give 1 to 255 characters, with or without double quotes."
            )
        case .unauthorized:
            (
                "The call has no credentials, or wrong ones.",
                "Give name and password (Basic) or a token (Bearer) for /api, and an API key (Bearer) for /v1."
            )
        case .forbiddenScope:
            ("The key or the token may not do what the call asks.", "Use one with the scope that detail names.")
        case .forbiddenTenant:
            (
                "The request names another tenant than the key's, or another hub, or asks for what is of all tenants.",
                "Leave tenant and hub out, or use a key of that tenant, or one without a tenant."
            )
        case .forbiddenSource:
            ("The request or its event names another source than the key's.", "Leave source out, or give that of the key.")
        case .crossSite:
            (
                "The call has the cookie of a session, and a browser made it for another site than the page.",
                "Open the page itself, at its own address, or send a key (Bearer) in place of the cookie."
            )
        case .notFound:
            ("There is nothing under this path, or nothing of the caller's.", "Correct the path or the id.")
        case .methodNotAllowed: ("The route has other methods.", "Use one of those that Allow lists.")
        case .conflictInFlight:
            (
                "The first call with this Idempotency-Key is not answered yet.",
                "Wait as long as Retry-After says, and make the same call again."
            )
        case .idempotencyMismatch:
            (
                "The Idempotency-Key was used for another call.",
                "Give each call a key of its own, and repeat only the same call."
            )
        case .replayRunning:
            (
                "Another replay is running that may have the same requests, or another process runs this one. "
                    + "One runs at a time of each tenant, and one of all tenants alone.",
                "Wait for it, or pause it. GET /v1/replays shows which it is."
            )
        case .replayEnded:
            ("The replay is done or was stopped, or its plan is of no use any more.", "Make a new plan with POST /v1/replays.")
        case .replayNotRunning:
            (
                "No process runs the replay, so that it cannot be paused or resumed.",
                "POST /v1/replays/ID:run goes on where it stopped."
            )
        case .orderEnded:
            (
                "The hold or limit has ended by itself, or was released.",
                "GET /v1/holds shows those that stand, and with history=true the others."
            )
        case .countUnconfirmed:
            (
                "More requests would be replayed than need no confirmation.",
                "Look at the plan, and make the call again with its number of requests as count."
            )
        case .cursorExpired:
            (
                "Results behind the cursor are gone: it is older than the retention of their topic, or the topic was made again.",
                "Go on with first as after, and take the requests in between from GET /v1/requests."
            )
        case .preconditionFailed:
            ("If-Match names another plan than this one.", "GET the plan again, look at it, and use its ETag.")
        case .preconditionRequired:
            ("A replay is run by the plan that was looked at.", "Send the plan's ETag as If-Match.")
        case .tooManyMatches: ("More requests match than the call allows.", "Narrow the filter, or raise limit.")
        case .notConfigured:
            ("The gateway has no setting without which it cannot do this.", "Set what detail names, and start the gateway again.")
        case .bodyTooLarge:
            (
                "The body has more bytes than the route takes.",
                "Split the audience over several requests, divide a batch, and keep pictures behind an address."
            )
        case .brokerSizeLimit:
            (
                "Kafka takes no record of this size: max.message.bytes of the topic or message.max.bytes of a client is smaller.",
                "Split the audience over several requests, or raise max.message.bytes: `pushfan doctor` compares it."
            )
        case .brokerRefused:
            (
                "Kafka refuses the record for its form, its time or by a rule of its own, whenever it comes.",
                "Read the gateway's log, which has Kafka's words, and compare the clocks and the topic's settings."
            )
        case .unsupportedMediaType:
            ("The Content-Type is none that the route takes.", "Send JSON in UTF-8, with Content-Type: application/json.")
        case .headerTooLarge:
            (
                "The line of the call and its header fields are too long together.",
                "Send less than 8 KiB of them. POST /v1/requests:search and /v1/failures:search take a long filter in the body."
            )
        case .tooManyRequests: ("This caller makes too many calls.", "Wait as long as Retry-After says.")
        case .tooManySignIns:
            (
                "Sign-ins from this address or with this name failed too often, or too many wait.",
                "Correct the credentials, and wait as long as Retry-After says."
            )
        case .rateLimited:
            (
                "The key's rate does not allow the call yet, or a batch has more requests than it allows at once.",
                "Wait as long as Retry-After says, divide the batch, or ask for a greater rate."
            )
        case .internal:
            ("The gateway itself failed.", "Look for the request by its id before the call is made again, and report the bug.")
        case .overloaded: ("The gateway has too much to do.", "Wait as long as Retry-After says; nothing was done.")
        case .stopping:
            (
                "The gateway stops; no request of the call is written.",
                "Make the call again, at another gateway or after the time that Retry-After says."
            )
        case .brokerUnavailable:
            (
                "Kafka did not take the request, which is certainly not written, or does not give what is asked for.",
                "Wait as long as Retry-After says, and make the call again. Operators look at /readyz, which names the reason."
            )
        case .brokerSlow:
            (
                "Too many records wait for Kafka, or it confirms none in time; this request is certainly not written.",
                "Wait as long as Retry-After says, and make the call again."
            )
        case .topicMissing:
            (
                "The topic that the record is for is missing. It is certainly not written.",
                "Make the topic with `pushfan topics create`, and make the call again. /readyz names the topic."
            )
        case .brokerForbidden:
            (
                "Kafka does not allow the gateway to write to the topic. The record is certainly not written.",
                "Give the gateway's user the right, as `pushfan topics acls` has it, and make the call again."
            )
        case .notEnoughReplicas:
            (
                "Fewer replicas of the topic are in sync than its min.insync.replicas. The record is certainly not written.",
                "Look at the brokers, and make the call again once enough of them are back."
            )
        case .ackUnknown:
            (
                "Kafka did not say in time whether it has the request.",
                "Repeat a call of /v1 under the same Idempotency-Key, or with request_id as its id: it is sent once at most. "
                    + "After one of /api, ask `pushfan results show ID` first: another may ring twice."
            )
        case .resultPending:
            ("The request is written, and its result did not come in time.", "Ask `pushfan results show ID` for it.")
        case .outcomePending:
            (
                "The hub accepted the notification, and what became of it was not known in time.",
                "Ask `pushfan results show ID` for it."
            )
        }
    }
}
