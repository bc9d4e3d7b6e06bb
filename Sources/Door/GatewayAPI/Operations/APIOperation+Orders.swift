internal import Keys
internal import PushModel

// The rows of what holds, limits and cancels (page Gateway, "Hold, limit and cancel").
extension APIOperation {
    static let listHoldsRow = Row(
        method: "GET", path: "/v1/holds", label: "holds.list",
        summary: "Lists the holds and limits that stand, newest first, as `pushfan holds` does.",
        access: .key([.operate, .read]), work: .find,
        parameters: [
            Parameter(
                name: "history", schema: JSONSchema.boolean, summary: "Adds those that have ended, and cancellations.",
                example: "true")
        ],
        answers: [
            Answer(
                summary: "Up to \(APILimit.orderCount) orders, and the records that look like orders and cannot be obeyed.",
                content: Content(
                    schema: JSONSchema.object(
                        [
                            ("items", JSONSchema.list(of: order)), ("items_omitted", JSONSchema.count),
                            (
                                "faulty",
                                JSONSchema.list(
                                    of: JSONSchema.object(
                                        [("offset", JSONSchema.count), ("fault", JSONSchema.text())],
                                        required: ["offset", "fault"], isOpen: true
                                    ).named("FaultyOrder"))
                            ),
                        ], required: ["items", "faulty"], isOpen: true
                    ).named("OrderList"),
                    example: ["items": [exampleHold], "faulty": []]))
        ], problems: orderProblems)

    static let giveHoldRow = Row(
        method: "POST", path: "/v1/holds", label: "holds.give",
        summary:
            "Holds everything in a scope, or limits its calls, for \(OrderRecord.usual / 60_000) min unless it says another time.",
        access: .key([.operate]), bodyLimit: APILimit.orderByteCount,
        body: Content(
            schema: JSONSchema.input(
                [
                    ("kind", JSONSchema.words(["hold", "limit"]).named("HoldKind").described("hold by default.")),
                    (
                        "calls_per_second",
                        JSONSchema.integer(Int64(OrderRecord.limits.lowerBound)...Int64(OrderRecord.limits.upperBound)).described(
                            "Of a limit: over all workers.")
                    ),
                    ("scope", scope), ("reason", reason),
                    ("until", JSONSchema.moment.described("At most 7 days from now.")),
                    ("for_seconds", JSONSchema.integer(1...OrderRecord.longest / 1000).described("In place of until.")),
                ], required: ["scope", "reason"]
            ).named("NewHold"),
            example: ["scope": ["tenant": "acme"], "reason": "floods the hub", "for_seconds": 600]),
        answers: [
            Answer(
                status: 201, summary: "It stands, and reaches every worker within a second.",
                content: Content(schema: order, example: exampleHold))
        ], problems: orderProblems + writeProblems + [foreign])

    static let releaseHoldRow = Row(
        method: "POST", path: "/v1/holds/{id}:release", label: "holds.release",
        summary: "Ends a hold or a limit before its time.", access: .key([.operate]), bodyLimit: APILimit.orderByteCount,
        parameters: [
            Parameter(
                name: "id", place: .path, schema: JSONSchema.text(), summary: "The order's id.", example: "h-7kq2m9xw4rtd8vnp")
        ],
        body: Content(
            schema: JSONSchema.input([("reason", reason)], required: []).named("HoldRelease"),
            example: ["reason": "the tenant has stopped"], isRequired: false),
        answers: [
            Answer(
                summary: "It is released.",
                content: Content(
                    schema: order,
                    example: exampleOrder.adding([
                        "released": ["by": "key k1", "at": "2026-11-21T17:04:00.000Z"], "state": "released", "seconds_left": 0,
                    ])))
        ],
        problems: orderProblems + writeProblems + [
            foreign, Problem(status: 404, codes: [.notFound]), Problem(status: 409, codes: [.orderEnded]),
        ])

    static let cancelScopeRow = Row(
        method: "POST", path: "/v1/requests:cancel", label: "requests.cancel.scope",
        summary: "Cancels everything in a scope that was published until now and was not begun, or counts what that would be.",
        access: .key([.operate]), bodyLimit: APILimit.orderByteCount,
        body: Content(
            schema: JSONSchema.input(
                [
                    ("scope", scope), ("reason", reason.described("Needed unless it is a dry run.")),
                    ("since", JSONSchema.moment.described("What was published before is not meant.")),
                    ("since_seconds", JSONSchema.count.described("In place of since.")),
                    ("dry_run", JSONSchema.boolean.described("Counts, and cancels nothing; false by default.")),
                ], required: ["scope"]
            ).named("ScopeCancellation"),
            example: ["scope": ["labels": ["campaign": "sale"]], "since_seconds": 600, "reason": "wrong text", "dry_run": false]),
        answers: [
            Answer(
                summary: "A dry run: what it would concern.",
                content: Content(
                    schema: JSONSchema.object(
                        [("dry_run", JSONSchema.boolean), ("counts", counts)], required: ["dry_run", "counts"], isOpen: true
                    ).named("ScopeCancellationTrial"),
                    example: ["dry_run": true, "counts": exampleCounts])),
            Answer(
                status: 202, summary: "The cancellation is given. Results say what it came in time for.",
                content: Content(
                    schema: JSONSchema.object(
                        [("order", order), ("counts", counts)], required: ["order", "counts"], isOpen: true
                    ).named("ScopeCancellationGiven"),
                    example: ["order": exampleCancellation, "counts": exampleCounts])),
        ], problems: orderProblems + writeProblems + [foreign])

    // MARK: Parts

    private static let orderProblems = [Problem(status: 503, codes: [.brokerUnavailable, .topicMissing])]
    private static let writeProblems = [
        Problem(status: 413, codes: [.brokerSizeLimit]), Problem(status: 422, codes: [.invalidRequest]),
        Problem(status: 500, codes: [.brokerRefused]),
        Problem(status: 503, codes: [.brokerSlow, .brokerForbidden, .notEnoughReplicas]),
        Problem(status: 504, codes: [.ackUnknown]),
    ]
    private static let foreign = Problem(status: 403, codes: [.forbiddenTenant])

    private static let reason = JSONSchema.text(1...OrderRecord.maximumReasonLength)

    private static let scope = JSONSchema.object(
        [
            ("everything", JSONSchema.boolean), ("hub", JSONSchema.text()), ("tenant", JSONSchema.text()),
            ("source", JSONSchema.text()), ("lane", JSONSchema.words(["high", "normal", "bulk", "own"])),
            ("request", JSONSchema.text()), ("user", JSONSchema.text()),
            ("labels", JSONSchema.map(of: JSONSchema.text()).named("ScopeLabels")),
        ], required: [], isOpen: true
    ).named("Scope")

    private static let order = JSONSchema.object(
        [
            ("id", JSONSchema.text()), ("kind", JSONSchema.words(["hold", "limit", "cancel"])),
            ("calls_per_second", JSONSchema.count), ("scope", scope), ("reason", JSONSchema.text()), ("by", JSONSchema.text()),
            ("published_from", JSONSchema.moment), ("since", JSONSchema.moment), ("until", JSONSchema.moment),
            (
                "released",
                JSONSchema.object(
                    [("by", JSONSchema.text()), ("at", JSONSchema.moment), ("reason", JSONSchema.text())],
                    required: ["by", "at"], isOpen: true
                ).named("Release")
            ), ("state", JSONSchema.words(["standing", "ended", "released"])),
            ("text", JSONSchema.text()), ("seconds_left", JSONSchema.count),
        ], required: ["id", "kind", "scope", "reason", "by", "since", "until", "state", "text", "seconds_left"], isOpen: true
    ).named("Order")

    private static let exampleHold = exampleOrder.adding(["state": "standing", "seconds_left": 600])

    private static let exampleOrder: JSONTree = [
        "id": "h-7kq2m9xw4rtd8vnp", "kind": "hold", "scope": ["tenant": "acme"], "reason": "floods the hub", "by": "key k1",
        "since": "2026-11-21T17:00:00.000Z", "until": "2026-11-21T17:10:00.000Z", "text": "tenant:acme",
    ]

    private static let exampleCancellation: JSONTree = [
        "id": "c-3nd8w2kx9qvt7mhr", "kind": "cancel", "scope": ["labels": ["campaign": "sale"]], "reason": "wrong text",
        "by": "key k1", "since": "2026-11-21T17:00:00.000Z", "until": "2026-11-29T17:00:00.000Z", "state": "standing",
        "text": "label.campaign:sale", "seconds_left": 691_200,
    ]

    private static let counts = JSONSchema.object(
        [
            ("waiting", JSONSchema.count), ("running", JSONSchema.count), ("delayed", JSONSchema.count),
            ("sent", JSONSchema.count), ("other", JSONSchema.count), ("complete", JSONSchema.boolean),
        ], required: ["waiting", "running", "delayed", "sent", "other", "complete"], isOpen: true
    ).named("ScopeCounts")
    private static let exampleCounts: JSONTree = [
        "waiting": 700, "running": 12, "delayed": 3, "sent": 300, "other": 0, "complete": true,
    ]
}
