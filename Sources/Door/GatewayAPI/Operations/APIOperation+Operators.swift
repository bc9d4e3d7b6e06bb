internal import Keys
internal import PushModel
internal import Results

// The rows of what finds, repairs and shows (page Gateway, "Find and repair").
extension APIOperation {
    static let listFailuresRow = Row(
        method: "GET", path: "/v1/failures", label: "failures",
        summary: "Groups failures by cause, hub and platforms, as `pushfan failed` does.",
        access: .key([.read]), work: .search, parameters: [filterParameter("since:1h"), zoneParameter], answers: [failureReport],
        problems: searchProblems
    )

    static let searchFailuresRow = Row(
        method: "POST", path: "/v1/failures:search", label: "failures.search",
        summary: "Groups failures, with a filter that may be longer than a head.",
        access: .key([.read]), work: .scan,
        body: Content(
            schema: JSONSchema.input([("filter", JSONSchema.text()), ("zone", JSONSchema.text())], required: [])
                .named("FailureSearch"),
            example: ["filter": "since:1h"], isRequired: false),
        answers: [failureReport], problems: searchProblems + [Problem(status: 422, codes: [.invalidRequest])])

    static let listDeadLettersRow = Row(
        method: "GET", path: "/v1/deadletters", label: "deadletters",
        summary: "Lists records that could not be understood, newest first.",
        access: .key([.read], allTenants: true), work: .scan,
        parameters: [
            Parameter(name: "since", schema: JSONSchema.text(), summary: "Those written since then.", example: "7d"),
            Parameter(name: "until", schema: JSONSchema.text(), summary: "Those written before then.", example: "1h"),
            Parameter(
                name: "code", schema: JSONSchema.text(), summary: "Those with one of these codes.", example: "invalid_json"),
            limitParameter, cursorParameter,
            Parameter(
                name: "payload", schema: JSONSchema.boolean, summary: "Shows the records, which needs the scope read:payload.",
                example: "true"),
            Parameter(
                name: "id", schema: JSONSchema.text(), summary: "The one with this id, and no other parameter but payload.",
                example: "push.deadletter.v1:0:12@2026-11-21T17:00:00.100Z"),
        ],
        answers: [
            Answer(
                summary:
                    "A page, of 4 MiB at most. The id of each is its place with its time, by which POST /v1/replays mends and publishes it.",
                content: list(
                    "DeadLetterPage",
                    of: JSONSchema.object(
                        [
                            ("id", JSONSchema.text()), ("at", JSONSchema.moment), ("topic", JSONSchema.text()),
                            ("from", JSONSchema.text().described("Where it stood there: topic:partition:offset.")),
                            ("code", JSONSchema.text()), ("bytes", JSONSchema.count), ("can_go_back", JSONSchema.boolean),
                        ], required: ["id", "can_go_back"], isOpen: true
                    ).named("DeadLetter"),
                    example: [
                        [
                            "id": "push.deadletter.v1:0:12@2026-11-21T17:00:00.100Z", "at": "2026-11-21T17:00:00.100Z",
                            "topic": "push.requests.v1", "from": "push.requests.v1:0:4711",
                            "code": "invalid_json", "bytes": 31, "can_go_back": false, "left": "broken",
                        ]
                    ], [("searched", JSONSchema.count)], ["searched": 1]))
        ], problems: searchProblems)

    /// A reason why requests wait. Later versions may have other kinds.
    private static let reason = JSONSchema.object(
        [("kind", JSONSchema.text()), ("stuck", JSONSchema.boolean), ("text", JSONSchema.text())],
        required: ["kind", "stuck", "text"], isOpen: true
    ).named("WaitReason")

    static let showStatusRow = Row(
        method: "GET", path: "/v1/status", label: "status",
        summary: "Shows how workers are and why requests wait, as `pushfan status` does.",
        access: .key([.read], allTenants: true), work: .act,
        answers: [
            Answer(
                summary: "The state of the fleet, a few seconds old at most.",
                content: Content(
                    schema: JSONSchema.object(
                        [
                            ("reasons", JSONSchema.list(of: reason)), ("waiting_by", waitingBy), ("outlook", outlook),
                            ("workers", JSONSchema.list(of: [:])),
                            ("orders", JSONSchema.list(of: [:])), ("orders_problem", JSONSchema.text()),
                        ], required: [], isOpen: true
                    ).named("FleetStatus"),
                    example: [
                        "reasons": [
                            [
                                "kind": "rate_limit", "stuck": false,
                                "text": "w1: the hub takes 100 calls/s (hub.rate_limit), and 230 calls wait for their turn",
                            ]
                        ],
                        "waiting_by": [
                            "requests": 2304,
                            "sources": [
                                "first": [["name": "shop", "requests": 2100], ["name": "billing", "requests": 180]], "others": 0,
                                "unnamed": 24,
                            ], "tenants": ["first": [], "others": 0, "unnamed": 2304],
                        ],
                        "outlook": ["trend": "ends", "done_in_ms": 74_322, "at_most": false, "finished_per_second": 31],
                        "workers": [], "index": ["state": "current", "records": 4711, "behind": 0],
                    ]))
        ], problems: searchProblems)

    private static let ranking = JSONSchema.object(
        [
            (
                "first",
                JSONSchema.list(
                    of: JSONSchema.object(
                        [("name", JSONSchema.text()), ("requests", JSONSchema.count)], required: ["name", "requests"]
                    ).named("NamedCount"))
            ),
            ("others", JSONSchema.count.described("The requests of all others that have a name.")),
            ("unnamed", JSONSchema.count.described("The requests that name none.")),
        ], required: ["first", "others", "unnamed"], isOpen: true
    ).named("Ranking")

    private static let waitingBy = JSONSchema.object(
        [
            ("requests", JSONSchema.count.described("The waiting requests of lanes that were read.")), ("sources", ranking),
            ("tenants", ranking),
        ], required: ["requests", "sources", "tenants"], isOpen: true
    ).named("WaitingBy")

    private static let outlook = JSONSchema.object(
        [
            ("trend", JSONSchema.words(["ends", "grows", "stays", "stands"])), ("done_in_ms", JSONSchema.count),
            ("at_most", JSONSchema.boolean), ("finished_per_second", ["type": "number"]),
            ("published_per_second", ["type": "number"]),
        ], required: ["trend", "finished_per_second"], isOpen: true
    ).named("Outlook")

    static let followStatusRow = Row(
        method: "GET", path: "/v1/status/events", label: "status.events",
        summary: "Follows the fleet: its work, hubs and workers each second, the backlog every 5 s, as server-sent events.",
        access: .key([.read], allTenants: true), work: .find,
        answers: [
            Answer(
                summary:
                    "Events `fleet` (work, hubs, workers, incidents, and in `kafka` whether brokers answer) and `backlog` (lanes, reasons, causes), without an "
                    + "end. The last ones first.",
                content: events("event: fleet\nid: 1\ndata: {\"kafka\":{\"reachable\":true}}\n\n"))
        ],
        problems: searchProblems)

    private static let latency = JSONSchema.object(
        [
            ("count", JSONSchema.count), ("p50_ms", JSONSchema.count), ("p95_ms", JSONSchema.count),
            ("p99_ms", JSONSchema.count),
        ], required: ["count", "p50_ms", "p95_ms", "p99_ms"], isOpen: true
    ).named("Latency")

    private static let backlog = JSONSchema.object(
        [
            ("requests", JSONSchema.count), ("delayed", JSONSchema.count), ("held", JSONSchema.count),
            ("oldest_ms", JSONSchema.count),
            (
                "lanes",
                JSONSchema.list(
                    of: JSONSchema.object(
                        [("lane", JSONSchema.text()), ("requests", JSONSchema.count), ("oldest_ms", JSONSchema.count)],
                        required: ["lane"], isOpen: true
                    ).named("LaneBacklog"))
            ),
        ], isOpen: true
    ).named("Backlog")

    static let showHistoryRow = Row(
        method: "GET", path: "/v1/history", label: "history",
        summary: "Shows the last hour: input, outcomes, calls and backlog of each minute.",
        access: .key([.read], allTenants: true), work: .find,
        parameters: [
            Parameter(
                name: "minutes", schema: JSONSchema.count, summary: "How many, \(APILimit.historyMinutes) at most.", example: "60"
            )
        ],
        answers: [
            Answer(
                summary: "The minutes of which something is known, oldest first.",
                content: list(
                    "History",
                    of: JSONSchema.object(
                        [
                            ("at", JSONSchema.moment), ("covered_ms", JSONSchema.count), ("finished", JSONSchema.counts),
                            ("calls", JSONSchema.count), ("published", JSONSchema.count), ("workers", JSONSchema.count),
                            ("latency", latency), ("total_ms", JSONSchema.counts), ("backlog", backlog),
                        ], required: ["at", "covered_ms", "finished"], isOpen: true
                    ).named("Minute"),
                    example: [
                        [
                            "at": "2026-11-21T17:00:00.000Z", "covered_ms": 60_000, "finished": ["sent": 42_000, "failed": 3],
                            "calls": 42_010, "published": 42_050, "workers": 3,
                            "latency": ["count": 42_003, "p50_ms": 55, "p95_ms": 180, "p99_ms": 410],
                            "total_ms": ["64": 39_000, "181": 2503, "512": 500],
                            "backlog": [
                                "requests": 120, "delayed": 8, "held": 0, "oldest_ms": 350,
                                "lanes": [["lane": "normal", "requests": 120, "oldest_ms": 350]],
                            ],
                        ]
                    ], [("since", JSONSchema.moment), ("step_ms", JSONSchema.count)],
                    ["since": "2026-11-21T16:01:00.000Z", "step_ms": 60_000]))
        ], problems: searchProblems)

    // MARK: Parts

    static func filterParameter(_ example: String) -> Parameter {
        Parameter(
            name: "filter", schema: JSONSchema.text(), summary: "A filter, as commands take it (page Results).", example: example)
    }

    private static var failureReport: Answer {
        Answer(
            summary: "The groups, and what became of them since.",
            content: list(
                "FailureReport",
                of: JSONSchema.object(
                    [
                        ("count", JSONSchema.count), ("open", JSONSchema.count), ("code", JSONSchema.text()),
                        ("hub", JSONSchema.text()), ("platforms", JSONSchema.list(of: JSONSchema.text())),
                        ("first_seen", JSONSchema.moment), ("last_seen", JSONSchema.moment), ("remedy", JSONSchema.text()),
                    ], required: ["count", "open", "code", "first_seen", "last_seen"], isOpen: true
                ).named("FailureGroup"),
                example: [
                    [
                        "count": 7, "open": 5, "repaired": 2, "code": "hub_throttled", "hub": "shop", "platforms": ["apple"],
                        "first_seen": "2026-11-21T17:00:00.100Z", "last_seen": "2026-11-21T17:04:00.100Z",
                        "remedy": "Replay them.",
                    ]
                ], [("failed", JSONSchema.count), ("searched", searched)],
                ["failed": 7, "of": 4711, "searched": exampleSearch]))
    }

    static let limitParameter = Parameter(
        name: "limit", schema: JSONSchema.integer(1...1000), summary: "The most items; \(APILimit.pageText).", example: "20")
    static let cursorParameter = Parameter(
        name: "cursor", schema: JSONSchema.text(), summary: "Where to go on: `next` of the page before.", example: "0")

    static let searchProblems = [Problem(status: 503, codes: [.brokerUnavailable])]

    static func list(
        _ name: String, of item: JSONTree, example: JSONTree, _ members: [(String, JSONTree)] = [], _ examples: JSONTree = [:],
        optional: [String] = []
    ) -> Content {
        Content(
            schema: JSONSchema.object(
                [("items", JSONSchema.list(of: item)), ("next", JSONSchema.text())] + members,
                required: ["items"] + members.map(\.0).filter { !optional.contains($0) }, isOpen: true
            ).named(name),
            example: (["items": example] as JSONTree).adding(examples))
    }

    package static func events(_ example: String) -> Content {
        Content(mediaType: "text/event-stream", schema: JSONSchema.text(), example: .text(example))
    }

    private static let searched = JSONSchema.object(extent, required: ["by", "complete"], isOpen: true).named("SearchExtent")
    static let extent = [
        ("by", JSONSchema.words([SearchExtent.Source.index, .scan].map(\.rawValue))), ("since", JSONSchema.moment),
        ("records", JSONSchema.count), ("of", JSONSchema.count), ("complete", JSONSchema.boolean),
    ]
    static let exampleSearch: JSONTree = ["by": "index", "records": 4711, "of": 4711, "complete": true]
}
