internal import Keys
internal import PushModel
internal import Replays
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
            schema: JSONSchema.input([("filter", JSONSchema.text()), ("zone", JSONSchema.text())], required: []),
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
                    of: JSONSchema.object(
                        [
                            ("id", JSONSchema.text()), ("at", JSONSchema.moment), ("topic", JSONSchema.text()),
                            ("from", JSONSchema.text().described("Where it stood there: topic:partition:offset.")),
                            ("code", JSONSchema.text()), ("bytes", JSONSchema.count), ("can_go_back", JSONSchema.boolean),
                        ], required: ["id", "can_go_back"], isOpen: true),
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
        required: ["kind", "stuck", "text"], isOpen: true)

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
                        ], required: [], isOpen: true),
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
                        [("name", JSONSchema.text()), ("requests", JSONSchema.count)], required: ["name", "requests"]))
            ),
            ("others", JSONSchema.count.described("The requests of all others that have a name.")),
            ("unnamed", JSONSchema.count.described("The requests that name none.")),
        ], required: ["first", "others", "unnamed"], isOpen: true)

    private static let waitingBy = JSONSchema.object(
        [
            ("requests", JSONSchema.count.described("The waiting requests of lanes that were read.")), ("sources", ranking),
            ("tenants", ranking),
        ], required: ["requests", "sources", "tenants"], isOpen: true)

    private static let outlook = JSONSchema.object(
        [
            ("trend", JSONSchema.words(["ends", "grows", "stays", "stands"])), ("done_in_ms", JSONSchema.count),
            ("at_most", JSONSchema.boolean), ("finished_per_second", ["type": "number"]),
            ("published_per_second", ["type": "number"]),
        ], required: ["trend", "finished_per_second"], isOpen: true)

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
        ], required: ["count", "p50_ms", "p95_ms", "p99_ms"], isOpen: true)

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
                    of: JSONSchema.object(
                        [
                            ("at", JSONSchema.moment), ("covered_ms", JSONSchema.count), ("finished", ["type": "object"]),
                            ("calls", JSONSchema.count), ("published", JSONSchema.count), ("workers", JSONSchema.count),
                            ("latency", latency), ("total_ms", ["type": "object"]),
                            ("backlog", ["type": "object"]),
                        ], required: ["at", "covered_ms", "finished"], isOpen: true),
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

    // MARK: Replays

    static let listReplaysRow = Row(
        method: "GET", path: "/v1/replays", label: "replays.list",
        summary: "Lists plans of this gateway and replays of any, newest first.",
        access: .key([.read, .replay]), work: .find,
        parameters: [limitParameter, cursorParameter],
        answers: [Answer(summary: "A page.", content: list(of: replay, example: [exampleReplay]))], problems: searchProblems)

    static let planReplayRow = Row(
        method: "POST", path: "/v1/replays", label: "replays.plan",
        summary: "Plans a replay of failures or of dead letters. Nothing is sent, and what fails later is not in the plan.",
        access: .key([.replay]), work: .find, bodyLimit: APILimit.requestByteCount, body: planBody,
        answers: [
            Answer(status: 201, summary: "The plan, its price and ten samples. Its ETag is needed to run it.", content: plan),
            Answer(status: 202, summary: "It takes longer; Location has it.", content: plan),
        ],
        problems: searchProblems + [
            Problem(status: 403, codes: [.forbiddenTenant, .forbiddenSource]),
            Problem(status: 422, codes: [.invalidRequest, .tooManyMatches]),
            Problem(status: 501, codes: [.notConfigured]),
        ])

    static let showReplayRow = Row(
        method: "GET", path: "/v1/replays/{id}", label: "replays.show",
        summary: "Shows a plan, how far it is, and what became of its requests.",
        access: .key([.read, .replay]), work: .act,
        parameters: [
            replayIDParameter,
            Parameter(
                name: "results", schema: JSONSchema.boolean,
                summary: "Counts the results of its requests, also where that takes a search.", example: "true"),
            Parameter(
                name: "rate", schema: JSONSchema.integer(1...1_000_000),
                summary: "Requests a second, for its price; its own by default.",
                example: "500"),
        ], answers: [Answer(summary: "The replay.", content: plan)], problems: searchProblems + [notThere])

    static let deletePlanRow = Row(
        method: "DELETE", path: "/v1/replays/{id}", label: "replays.delete",
        summary: "Deletes a plan that was never run, or could not be made.",
        access: .key([.replay]), work: .act, parameters: [replayIDParameter],
        answers: [Answer(status: 204, summary: "It is deleted.")],
        problems: searchProblems + [notThere, Problem(status: 409, codes: [.replayRunning, .replayEnded])])

    static let followReplayRow = Row(
        method: "GET", path: "/v1/replays/{id}/events", label: "replays.events",
        summary: "Follows a replay until it rests, as server-sent events.",
        access: .key([.read, .replay]), work: .find, parameters: [replayIDParameter],
        answers: [
            Answer(summary: "Events `progress`, and one at the end.", content: events("event: end\nid: end\ndata: {}\n\n")),
            Answer(status: 204, summary: "Last-Event-ID says that the end was seen."),
        ], problems: searchProblems + [notThere])

    static let listLeftoversRow = Row(
        method: "GET", path: "/v1/replays/{id}/leftovers", label: "replays.leftovers",
        summary: "Lists what the plan and its runs have left, and why, and what no run has come to.",
        access: .key([.read, .replay]), work: .act,
        parameters: [replayIDParameter, limitParameter, cursorParameter],
        answers: [
            Answer(
                summary: "A page.",
                content: list(
                    of: JSONSchema.object(
                        [("request_id", JSONSchema.text()), ("origin", JSONSchema.text()), ("left", JSONSchema.text())],
                        required: ["request_id", "origin", "left"], isOpen: true),
                    example: [["request_id": "order-4711", "origin": "push.requests.v1:3:12345", "left": "gone"]]))
        ], problems: searchProblems + [notThere])

    static let runReplayRow = Row(
        method: "POST", path: "/v1/replays/{id}:run", label: "replays.run", summary: "Runs a plan, or goes on with it.",
        access: .key([.replay]), work: .act,
        parameters: [
            replayIDParameter,
            Parameter(
                name: "If-Match", place: .header, schema: JSONSchema.text(), summary: "The ETag of the plan.",
                example: "\"6b1f0e8d5c37\""),
        ],
        body: Content(
            schema: JSONSchema.input(
                [
                    ("reason", JSONSchema.text(1...512).described("In place of the plan's. One of the two is needed.")),
                    (
                        "rate",
                        JSONSchema.integer(1...1_000_000).described(
                            "Requests a second; those of the run before, or of the plan, by default.")
                    ),
                    ("count", JSONSchema.count.described("The number of requests, beyond \(PreparedReplay.unaskedCount).")),
                ], required: []), example: ["reason": "the hub was down", "rate": 200, "count": 4711], isRequired: false),
        answers: [Answer(status: 202, summary: "It has begun. GET shows how far it is.", content: plan)],
        problems: commandProblems + [
            Problem(status: 403, codes: [.forbiddenTenant]), Problem(status: 409, codes: [.countUnconfirmed]),
            Problem(status: 412, codes: [.preconditionFailed]), Problem(status: 422, codes: [.invalidRequest]),
            Problem(status: 428, codes: [.preconditionRequired]),
            Problem(status: 501, codes: [.notConfigured]),
        ])

    static let pauseReplayRow = commandRow("pause", "Has the runner pause, wherever it is.")
    static let resumeReplayRow = commandRow("resume", "Has a paused runner go on.")
    static let stopReplayRow = commandRow("stop", "Ends a replay for good, or gives up a plan that is being made.")

    private static func commandRow(_ verb: String, _ summary: String) -> Row {
        Row(
            method: "POST", path: "/v1/replays/{id}:\(verb)", label: "replays.\(verb)", summary: summary, access: .key([.replay]),
            work: .act, parameters: [replayIDParameter],
            body: Content(schema: JSONSchema.object([], required: []), example: [:], isRequired: false),
            answers: [
                Answer(summary: "It is done.", content: plan),
                Answer(status: 202, summary: "The runner was asked, and has not answered yet.", content: plan),
            ], problems: commandProblems + [Problem(status: 422, codes: [.invalidRequest])])
    }

    // MARK: Parts

    static func filterParameter(_ example: String) -> Parameter {
        Parameter(
            name: "filter", schema: JSONSchema.text(), summary: "A filter, as commands take it (page Results).", example: example)
    }

    private static var failureReport: Answer {
        Answer(
            summary: "The groups, and what became of them since.",
            content: list(
                of: JSONSchema.object(
                    [
                        ("count", JSONSchema.count), ("open", JSONSchema.count), ("code", JSONSchema.text()),
                        ("hub", JSONSchema.text()), ("platforms", JSONSchema.list(of: JSONSchema.text())),
                        ("first_seen", JSONSchema.moment), ("last_seen", JSONSchema.moment), ("remedy", JSONSchema.text()),
                    ], required: ["count", "open", "code", "first_seen", "last_seen"], isOpen: true),
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
    private static let replayIDParameter = Parameter(
        name: "id", place: .path, schema: JSONSchema.text(), summary: "The replay's id.",
        example: "01997c5e-8c00-7a31-9d42-6b1f0e8d5c37")

    static let searchProblems = [Problem(status: 503, codes: [.brokerUnavailable])]
    private static let notThere = Problem(status: 404, codes: [.notFound])
    private static let commandProblems =
        searchProblems + [notThere, Problem(status: 409, codes: [.replayRunning, .replayEnded, .replayNotRunning])]

    static func list(
        of item: JSONTree, example: JSONTree, _ members: [(String, JSONTree)] = [], _ examples: JSONTree = [:],
        optional: [String] = []
    ) -> Content {
        Content(
            schema: JSONSchema.object(
                [("items", JSONSchema.list(of: item)), ("next", JSONSchema.text())] + members,
                required: ["items"] + members.map(\.0).filter { !optional.contains($0) }, isOpen: true),
            example: (["items": example] as JSONTree).adding(examples))
    }

    package static func events(_ example: String) -> Content {
        Content(mediaType: "text/event-stream", schema: JSONSchema.text(), example: .text(example))
    }

    private static let searched = JSONSchema.object(extent, required: ["by", "complete"], isOpen: true)
    static let extent = [
        ("by", JSONSchema.words([SearchExtent.Source.index, .scan].map(\.rawValue))), ("since", JSONSchema.moment),
        ("records", JSONSchema.count), ("of", JSONSchema.count), ("complete", JSONSchema.boolean),
    ]
    static let exampleSearch: JSONTree = ["by": "index", "records": 4711, "of": 4711, "complete": true]

    private static let replayMembers =
        ReplayReport.summarySchema + [
            ("comment", JSONSchema.text()), ("skipped", JSONSchema.count.deprecated("The difference of next and replayed.")),
        ]
    private static let replay = JSONSchema.object(replayMembers, required: ["id", "state"], isOpen: true)
    private static let exampleReplay: JSONTree = [
        "id": "01997c5e-8c00-7a31-9d42-6b1f0e8d5c37", "state": "planned", "has_runner": false, "requests": 4711, "next": 0,
        "replayed": 0, "source": "results", "filter": "error:hub_unavailable state:failed", "reason": "the hub was down",
        "actor": "shop (key k1)", "rate": 500, "created_at": "2026-11-21T17:00:00.100Z", "skipped": 0,
    ]

    private static let plan = Content(
        schema: JSONSchema.object(
            replayMembers + ReplayReport.planSchema + [
                ("results", ["type": "object"]), ("problem", ["type": "object"]),
                ("eligible", JSONSchema.map(of: JSONSchema.count).deprecated("The same as eligible_by_safety.")),
                ("seconds", JSONSchema.count.deprecated("In place of it: estimated_ms.")),
            ], required: ["id", "state"], isOpen: true),
        example: exampleReplay.adding([
            "mode": "safe", "matched": 4720, "calls": 9422, "estimated_ms": 14_800,
            "eligible_by_safety": ["safe": 4711, "ambiguous": 0], "left": ["ambiguous": 9], "repairs": [:], "unknown_hubs": [:],
            "samples": [], "eligible": ["safe": 4711, "ambiguous": 0], "seconds": 15,
        ]))

    private static let planBody = Content(
        schema: JSONSchema.input(
            [
                ("source", JSONSchema.words(ReplayPlanHeader.Source.allCases.map(\.rawValue)).described("results by default.")),
                ("filter", JSONSchema.text().described("Which results, as commands take it (page Results).")),
                ("zone", JSONSchema.text().described("The zone of its times, as of GET /v1/requests.")),
                (
                    "mode",
                    JSONSchema.words(ReplayPlanHeader.Mode.allCases.map(\.rawValue))
                        .described("Whether sends that may have arrived are repeated; safe by default.")
                ),
                ("reason", JSONSchema.text(1...512).described("Not blank. It stands in every new result.")),
                ("rate", JSONSchema.integer(1...1_000_000).described("Requests a second; 500 by default.")),
                ("ttl_seconds", JSONSchema.count.described("A new life of the requests.")), ("expires_at", JSONSchema.moment),
                ("set", JSONSchema.list(of: JSONSchema.text()).described("Changes, such as hub=other (page Replay).")),
                ("limit", JSONSchema.count.described("The most requests; 1,000,000 by default.")),
                ("since", JSONSchema.text()), ("until", JSONSchema.text()),
                ("codes", JSONSchema.list(of: JSONSchema.text()).described("Of dead letters: their codes.")),
                ("places", JSONSchema.list(of: JSONSchema.text()).described("Of dead letters: their ids.")),
                ("value", JSONTree.members([]).described("Of one dead letter: what is published in its place.")),
            ], required: ["reason"]),
        example: ["filter": "error:hub_unavailable since:1h", "reason": "the hub was down"])
}
