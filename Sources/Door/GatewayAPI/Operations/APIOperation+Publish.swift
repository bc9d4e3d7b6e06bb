internal import Keys
internal import PushModel
internal import ResultQuery
internal import Results

// The rows of `/v1/requests` (page Publish).
extension APIOperation {
    static let publishRow = Row(
        method: "POST", path: "/v1/requests", label: "requests.publish", summary: "Publishes a request.",
        access: .key([.publish]),
        parameters: [idempotencyParameter, preferParameter],
        body: Content(
            schema: MessageSchema.request.body, example: exampleRequest,
            alternatives: [
                event,
                // Without a schema: openapi-python-client cannot tell a list from another body.
                Content(mediaType: "application/cloudevents-batch+json", schema: [:], example: [event.example]),
            ]),
        answers: [
            Answer(
                status: 202, summary: "Kafka has the request. Of a batch of events, items has the verdict on each.",
                content: Content(
                    schema: (["oneOf": [accepted.schema, verdicts.schema]] as JSONTree).named("Published"),
                    example: accepted.example), headers: [.location, .replayed, .preferenceApplied]),
            Answer(
                status: 200, summary: "With Prefer: wait, the request has ended.", content: shown,
                headers: [.location, .entityTag, .replayed, .preferenceApplied]),
        ],
        problems: publishProblems)

    static let publishBatchRow = Row(
        method: "POST", path: "/v1/requests:batch", label: "requests.batch",
        summary: "Publishes up to \(APILimit.batchCount) requests; as application/x-ndjson with a request on each line.",
        access: .key([.publish]),
        parameters: [idempotencyParameter],
        body: Content(
            schema: JSONSchema.object(
                [("requests", JSONSchema.list(of: MessageSchema.request.body, count: 1...APILimit.batchCount))],
                required: ["requests"]
            ).named("Batch"),
            example: ["requests": [exampleRequest]],
            alternatives: [lines("{\"audience\": {\"users\": [\"alice\"]}, \"message\": {\"title\": \"Order shipped\"}}\n")]),
        answers: [
            Answer(
                status: 202, summary: "Kafka has at least one of them; items has the verdict on each.", content: verdicts,
                headers: [.replayed])
        ],
        problems: publishProblems)

    static let explainRow = Row(
        method: "POST", path: "/v1/requests:explain", label: "requests.explain",
        summary: "Says what a request would become, as `pushfan explain` does; nothing is written.",
        access: .key([.publish]),
        body: Content(schema: MessageSchema.request.body, example: exampleRequest, alternatives: [event]),
        answers: [
            Answer(summary: "The calls that a worker would make, or error with why it would make none.", content: explained)
        ], problems: contentProblems)

    static let showRequestRow = Row(
        method: "GET", path: "/v1/requests/{id}", label: "requests.show", summary: "Says what became of a request.",
        access: .key([.read, .publish]),
        parameters: [
            requestIDParameter, atParameter, timeParameter, waitParameter, untilParameter, preferParameter, lifeParameter,
            payloadParameter,
            verdictZoneParameter, knownTagParameter,
        ],
        answers: [
            Answer(
                summary: "The request as it is now, and its result if it has ended.", content: shown,
                headers: [.entityTag, .preferenceApplied]),
            Answer(
                status: 304, summary: "It has ended, and If-None-Match names that state.",
                headers: [.entityTag, .preferenceApplied]),
        ],
        problems: lookupProblems + [Problem(status: 503, codes: [.brokerUnavailable])])

    static let followRequestRow = Row(
        method: "GET", path: "/v1/requests/{id}/events", label: "requests.events",
        summary: "Follows a request until it ends, as server-sent events.",
        access: .key([.read, .publish]), parameters: [requestIDParameter, atParameter, timeParameter],
        answers: [
            Answer(
                summary: "An event for each state, and one at the end.",
                content: events("event: end\nid: end\ndata: {}\n\n")),
            Answer(status: 204, summary: "Last-Event-ID says that the end was seen."),
        ],
        problems: lookupProblems + [Problem(status: 503, codes: [.brokerUnavailable])])

    static let cancelRequestRow = Row(
        method: "POST", path: "/v1/requests/{id}:cancel", label: "requests.cancel",
        summary: "Cancels a request of the caller, or with the scope operate one of others.", access: .key([.publish, .operate]),
        parameters: [requestIDParameter, atParameter, timeParameter],
        body: Content(
            schema: JSONSchema.input([("reason", JSONSchema.text())], required: []).named("Cancellation"),
            example: ["reason": "wrong audience"], isRequired: false),
        answers: [
            Answer(
                status: 202, summary: "Kafka has the cancellation; the result says whether it came in time.",
                content: Content(
                    schema: JSONSchema.object(
                        [
                            ("id", JSONSchema.text()), ("state", ["type": "string", "const": "cancelling"]),
                            ("cancelled_at", JSONSchema.moment),
                        ], required: ["id", "state", "cancelled_at"], isOpen: true
                    ).named("Cancelling"),
                    example: ["id": "order-4711", "state": "cancelling", "cancelled_at": "2026-11-21T17:00:00.100Z"]))
        ],
        problems: lookupProblems + kafkaProblems + [
            Problem(status: 422, codes: [.invalidRequest]), Problem(status: 504, codes: [.ackUnknown]),
        ])

    private static let idempotencyParameter = Parameter(
        name: "Idempotency-Key", place: .header, schema: JSONSchema.text(1...APILimit.idempotencyKeyByteCount),
        summary: "The same call under the same key is sent once at most.", example: "order-4711")
    private static let contentProblems = [
        Problem(status: 400, codes: [.notJSON, .idempotencyKeyInvalid]),
        Problem(status: 403, codes: [.forbiddenTenant, .forbiddenSource]),
        Problem(status: 422, codes: [.invalidRequest]),
    ]
    /// Kafka does not take a record.
    static let kafkaProblems = [
        Problem(status: 413, codes: [.brokerSizeLimit]), Problem(status: 500, codes: [.brokerRefused]),
        Problem(
            status: 503, codes: [.brokerUnavailable, .brokerSlow, .topicMissing, .brokerForbidden, .notEnoughReplicas]),
    ]
    private static let publishProblems =
        contentProblems + [
            Problem(status: 409, codes: [.conflictInFlight]), Problem(status: 422, codes: [.idempotencyMismatch]),
            Problem(status: 504, codes: [.ackUnknown]),
        ] + kafkaProblems
    private static let requestIDParameter = Parameter(
        name: "id", place: .path, schema: JSONSchema.text(), summary: "The request's id.", example: "order-4711")
    private static let atParameter = Parameter(
        name: "at", schema: JSONSchema.text(), summary: "The place of its record, as Location has it.",
        example: "push.requests.v1/3/12345")
    private static let timeParameter = Parameter(
        name: "time", schema: JSONSchema.count,
        summary: "The time of that record, as Location has it: another one there is not meant.",
        example: "1795280400100")
    private static let waitParameter = Parameter(
        name: "wait", schema: JSONSchema.text(pattern: "^([0-9]+|outcome)?$"),
        summary: "Seconds to wait for the result; more than \(APILimit.wait) are cut, and Preference-Applied says so. "
            + "outcome waits \(APILimit.wait) s for the outcome.",
        example: "30")
    private static let untilParameter = Parameter(
        name: "until", schema: JSONSchema.words(["result", "outcome"]), summary: "The goal of wait: result if it is left out.",
        example: "outcome")
    private static let lifeParameter = Parameter(
        name: "life", schema: JSONSchema.boolean,
        summary: "Searches every result, replay and duplicate of it; not together with wait.",
        example: "true")
    private static let payloadParameter = Parameter(
        name: "payload", schema: JSONSchema.boolean, summary: "Shows the request, which needs the scope read:payload.",
        example: "true")
    private static let verdictZoneParameter = Parameter(
        name: "zone", schema: JSONSchema.text(), summary: "The time zone in which the verdict tells moments; UTC without it.",
        example: "Europe/Berlin")
    private static let preferParameter = Parameter(
        name: "Prefer", place: .header, schema: JSONSchema.text(),
        summary:
            "wait=SECONDS waits for the result (RFC 7240), \(APILimit.wait) at most; wait=SECONDS;until=outcome for the outcome.",
        example: "wait=10")
    private static let lookupProblems = [Problem(status: 404, codes: [.notFound])]

    private static let heldSchema = JSONSchema.object(
        [
            ("id", JSONSchema.text()), ("reason", JSONSchema.text()), ("by", JSONSchema.text()), ("from", JSONSchema.moment),
            ("to", ["type": ["string", "null"]]),
        ], required: ["id", "reason", "by", "from", "to"], isOpen: true
    ).named("HeldSpan")

    private static let lifeSchema = JSONSchema.object(
        [
            ("results", JSONSchema.list(of: MessageSchema.result.body)),
            ("replays", JSONSchema.list(of: MessageSchema.result.body)),
            ("state", JSONSchema.text()), ("final", JSONSchema.boolean), ("duplicates", JSONSchema.count),
        ], required: ["results", "replays", "final", "duplicates"], isOpen: true
    ).named("RequestLife")

    private static let whereaboutsSchema = JSONSchema.object(
        [
            ("state", JSONSchema.words(RequestWhereabouts.State.allCases.map(\.rawValue))),
            ("parts", parts),
        ], required: ["state"], isOpen: true
    ).named("Whereabouts")

    static let parts = JSONSchema.object(
        [("count", JSONSchema.count), ("ended", JSONSchema.count)], required: ["ended"], isOpen: true
    ).named("EndedParts")

    private static let verdictSchema = JSONSchema.object(
        [
            ("code", JSONSchema.words(Verdict.Code.allCases.map(\.rawValue))), ("text", JSONSchema.text()),
            ("reason", JSONSchema.text()),
        ], required: ["code", "text"], isOpen: true
    ).named("Verdict")

    static let audienceSummary = JSONSchema.object(
        [
            ("kind", JSONSchema.words(AudienceSummary.Kind.allCases.map(\.rawValue))), ("count", JSONSchema.count),
            ("names", JSONSchema.list(of: JSONSchema.text())), ("text", JSONSchema.text()),
        ], required: ["kind", "count"], isOpen: true
    ).named("AudienceSummary")

    private static let twinSchema = JSONSchema.object(
        [("id", JSONSchema.text()), ("published_at", JSONSchema.moment), ("state", JSONSchema.text())],
        required: ["id", "published_at", "state"], isOpen: true
    ).named("Twin")

    private static var shown: Content {
        Content(
            schema: JSONSchema.object(
                [
                    ("id", JSONSchema.text()), ("state", JSONSchema.text()), ("topic", JSONSchema.text()),
                    ("partition", JSONSchema.count), ("offset", JSONSchema.text(pattern: "^[0-9]+$")),
                    (
                        "outcome_state",
                        JSONSchema.words(OutcomeState.allCases.map(\.rawValue))
                            .described(
                                "What became of the followed calls of a request that was sent; state has it once it is known.")
                    ),
                    ("accepted_at", JSONSchema.moment), ("expires_at", JSONSchema.moment), ("due_at", JSONSchema.moment),
                    (
                        "repeated",
                        JSONSchema.boolean.described("Its id was published more than once; the result is that of the first.")
                    ),
                    ("result", MessageSchema.result.body), ("life", lifeSchema), ("whereabouts", whereaboutsSchema),
                    ("request", (["type": "object"] as JSONTree).named("PublishedRequest")),
                    ("held", JSONSchema.list(of: heldSchema)), ("verdict", verdictSchema),
                    ("to", audienceSummary), ("title", JSONSchema.text().described("Needs the scope read:payload.")),
                    (
                        "twins",
                        JSONSchema.list(of: twinSchema)
                            .described("Others with this title to the same person within a minute, no replays; with ?life=true.")
                    ),
                ], required: ["id", "state", "accepted_at"], isOpen: true
            ).named("RequestStatus"),
            example: [
                "id": "order-4711", "state": "accepted", "topic": "push.requests.v1", "partition": 3, "offset": "12345",
                "accepted_at": "2026-11-21T17:00:00.100Z",
            ])
    }

    private static var accepted: Content {
        Content(
            schema: JSONSchema.object(
                [
                    ("id", JSONSchema.text()), ("state", ["type": "string", "const": "accepted"]), ("topic", JSONSchema.text()),
                    ("partition", JSONSchema.count), ("offset", JSONSchema.text(pattern: "^[0-9]+$")),
                    ("accepted_at", JSONSchema.moment), ("expires_at", JSONSchema.moment),
                ], required: ["id", "state", "topic", "partition", "accepted_at"], isOpen: true
            ).named("Accepted"),
            example: [
                "id": "01890a5d-ac96-774b-bcce-b302099a8057", "state": "accepted", "topic": "push.requests.v1", "partition": 3,
                "offset": "12345", "accepted_at": "2026-11-21T17:00:00.100Z",
            ])
    }

    private static let event = Content(
        mediaType: "application/cloudevents+json",
        schema: JSONSchema.object(
            [
                ("specversion", ["type": "string", "const": "1.0"]), ("id", JSONSchema.text()),
                ("source", JSONSchema.text()), ("type", JSONSchema.text()), ("data", MessageSchema.request.body),
            ], required: ["specversion", "id", "source", "type", "data"], isOpen: true
        ).named("RequestEvent"),
        example: [
            "specversion": "1.0", "id": "order-4711", "source": "/shop", "type": "push.request.v1", "data": exampleRequest,
        ])

    /// A JSON value on each line.
    static func lines(_ example: String) -> Content {
        Content(mediaType: "application/x-ndjson", schema: JSONSchema.text(), example: .text(example))
    }

    private static let exampleRequest: JSONTree = [
        "audience": ["users": ["alice"]], "message": ["title": "Order shipped"], "ttl_seconds": 3600,
    ]

    private static var verdicts: Content {
        let verdict = JSONSchema.object(
            [
                ("index", JSONSchema.count), ("status", JSONSchema.integer(200...599)), ("id", JSONSchema.text()),
                ("topic", JSONSchema.text()), ("location", JSONSchema.text()),
                ("partition", JSONSchema.count), ("offset", JSONSchema.text(pattern: "^[0-9]+$")), ("code", JSONSchema.text()),
                ("detail", JSONSchema.text()), ("retry", Problem.retry), ("errors", JSONSchema.list(of: Problem.fault)),
            ], required: ["index", "status"], isOpen: true
        ).named("BatchItem")
        return Content(
            schema: JSONSchema.object(
                [("accepted", JSONSchema.count), ("refused", JSONSchema.count), ("items", JSONSchema.list(of: verdict))],
                required: ["accepted", "refused", "items"], isOpen: true
            ).named("BatchVerdicts"),
            example: [
                "accepted": 1, "refused": 1,
                "items": [
                    [
                        "index": 0, "status": 202, "id": "order-4711", "topic": "push.requests.v1", "partition": 3,
                        "offset": "12345", "location": "/v1/requests/order-4711?at=push.requests.v1/3/12345&time=1795280400100",
                    ],
                    [
                        "index": 1, "status": 422, "detail": "The request cannot be sent as it is; errors names each fault.",
                        "code": "invalid_request", "retry": "never",
                        "errors": [["pointer": "/audience", "code": "schema_invalid", "detail": "An audience must be named."]],
                    ],
                ],
            ])
    }

    private static var explained: Content {
        let call = JSONSchema.object(
            [
                ("platform", JSONSchema.text()), ("part", JSONSchema.count), ("audience", JSONSchema.text()),
                ("request_line", JSONSchema.text()), ("headers", JSONSchema.list(of: JSONSchema.text())),
                ("body", JSONSchema.text()), ("body_bytes", JSONSchema.count), ("body_bytes_allowed", JSONSchema.count),
            ], required: ["platform", "part", "audience", "request_line", "headers", "body", "body_bytes", "body_bytes_allowed"],
            isOpen: true
        ).named("ExplainedCall")
        let plan = JSONSchema.object(
            [
                ("calls", JSONSchema.count), ("parts", JSONSchema.count), ("bytes", JSONSchema.count),
                ("calls_at_once", JSONSchema.count), ("calls_per_second", JSONSchema.count), ("estimated_ms", JSONSchema.count),
                ("may_reach_twice", JSONSchema.boolean),
            ], required: ["calls", "bytes", "calls_at_once", "estimated_ms", "may_reach_twice"], isOpen: true
        ).named("ExplainedPlan")
        let error = JSONSchema.object(
            [("code", JSONSchema.text()), ("pointer", JSONSchema.text()), ("message", JSONSchema.text())],
            required: ["code", "pointer", "message"], isOpen: true
        ).named("ExplainedError")
        return Content(
            schema: JSONSchema.object(
                [
                    ("id", JSONSchema.text()), ("lane", JSONSchema.words(["high", "normal", "bulk"])),
                    ("topic", JSONSchema.text()), ("record_key", JSONSchema.text()), ("not_before", JSONSchema.moment),
                    ("expires_at", JSONSchema.moment), ("hub", JSONSchema.text()),
                    ("hubs", JSONSchema.list(of: JSONSchema.text())), ("plan", plan), ("calls", JSONSchema.list(of: call)),
                    ("notes", JSONSchema.list(of: JSONSchema.text())), ("error", error),
                ], required: ["lane", "topic"], isOpen: true
            ).named("Explanation"),
            example: exampleReport)
    }

    private static let exampleReport: JSONTree = [
        "id": "order-4711", "lane": "normal", "topic": "push.requests.v1", "record_key": "order-4711", "hub": "shop",
        "plan": ["calls": 1, "bytes": 512, "calls_at_once": 64, "estimated_ms": 100, "may_reach_twice": false],
        "calls": [
            [
                "platform": "apple", "part": 1, "audience": "tags",
                "request_line": "POST /shop/messages?api-version=2020-06 HTTP/1.1",
                "headers": [
                    "Host: namespace.servicebus.windows.net", "Authorization: SharedAccessSignature …redacted",
                    "ServiceBusNotification-Format: apple", "ServiceBusNotification-Tags: username:alice",
                ],
                "body": #"{"aps":{"alert":{"title":"Hi"}}}"#, "body_bytes": 32, "body_bytes_allowed": 4096,
            ]
        ],
    ]
}
