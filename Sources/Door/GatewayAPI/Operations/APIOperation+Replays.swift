internal import Keys
internal import PushModel
internal import Replays

// The rows of replays (page Gateway, "Find and repair").
extension APIOperation {
    static let listReplaysRow = Row(
        method: "GET", path: "/v1/replays", label: "replays.list",
        summary: "Lists plans of this gateway and replays of any, newest first.",
        access: .key([.read, .replay]), work: .find,
        parameters: [limitParameter, cursorParameter],
        answers: [Answer(summary: "A page.", content: list("ReplayPage", of: replay, example: [exampleReplay]))],
        problems: searchProblems)

    static let planReplayRow = Row(
        method: "POST", path: "/v1/replays", label: "replays.plan",
        summary: "Plans a replay of failures or of dead letters. Nothing is sent, and what fails later is not in the plan.",
        access: .key([.replay]), work: .find, bodyLimit: APILimit.requestByteCount, body: planBody,
        answers: [
            Answer(
                status: 201, summary: "The plan, its price and ten samples. Its ETag is needed to run it.", content: plan,
                headers: [.location, .entityTag]),
            Answer(status: 202, summary: "It takes longer; Location has it.", content: commanded, headers: [.location]),
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
        ], answers: [Answer(summary: "The replay.", content: plan, headers: [.location, .entityTag])],
        problems: searchProblems + [notThere])

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
                    "LeftoverPage",
                    of: JSONSchema.object(
                        [("request_id", JSONSchema.text()), ("origin", JSONSchema.text()), ("left", JSONSchema.text())],
                        required: ["request_id", "origin", "left"], isOpen: true
                    ).named("Leftover"),
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
                ], required: []
            ).named("ReplayRun"), example: ["reason": "the hub was down", "rate": 200, "count": 4711], isRequired: false),
        answers: [
            Answer(status: 202, summary: "It has begun. GET shows how far it is.", content: commanded, headers: [.location])
        ],
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
            body: Content(schema: JSONSchema.object([]).named("Nothing"), example: [:], isRequired: false),
            answers: [
                Answer(summary: "It is done.", content: commanded),
                Answer(status: 202, summary: "The runner was asked, and has not answered yet.", content: commanded),
            ], problems: commandProblems + [Problem(status: 422, codes: [.invalidRequest])])
    }

    // MARK: Parts

    private static let replayIDParameter = Parameter(
        name: "id", place: .path, schema: JSONSchema.text(), summary: "The replay's id.",
        example: "01997c5e-8c00-7a31-9d42-6b1f0e8d5c37")
    private static let notThere = Problem(status: 404, codes: [.notFound])
    private static let commandProblems =
        searchProblems + [notThere, Problem(status: 409, codes: [.replayRunning, .replayEnded, .replayNotRunning])]

    private static let replayMembers =
        ReplayReport.summarySchema + [
            ("comment", JSONSchema.text()), ("skipped", JSONSchema.count.deprecated("The difference of next and replayed.")),
        ]
    private static let replay = JSONSchema.object(replayMembers, required: ["id", "state"], isOpen: true).named("Replay")
    private static let exampleReplay: JSONTree = [
        "id": "01997c5e-8c00-7a31-9d42-6b1f0e8d5c37", "state": "planned", "has_runner": false, "requests": 4711, "next": 0,
        "replayed": 0, "source": "results", "filter": "error:hub_unavailable state:failed", "reason": "the hub was down",
        "actor": "shop (key k1)", "rate": 500, "created_at": "2026-11-21T17:00:00.100Z", "skipped": 0,
    ]

    /// The answer to a command, a part of a plan.
    private static let commanded = Content(
        schema: plan.schema, example: ["id": "01997c5e-8c00-7a31-9d42-6b1f0e8d5c37", "state": "running"])

    private static let plan = Content(
        schema: JSONSchema.object(
            replayMembers + ReplayReport.planSchema + [
                ("results", (["type": "object"] as JSONTree).named("ReplayResults")), ("problem", Problem.schema),
                ("eligible", JSONSchema.counts.deprecated("The same as eligible_by_safety.")),
                ("seconds", JSONSchema.count.deprecated("In place of it: estimated_ms.")),
            ], required: ["id", "state"], isOpen: true
        ).named("ReplayPlan"),
        example: exampleReplay.adding([
            "mode": "safe", "matched": 4720, "calls": 9422, "estimated_ms": 14_800,
            "eligible_by_safety": ["safe": 4711, "ambiguous": 0], "left": ["ambiguous": 9], "repairs": [:], "unknown_hubs": [:],
            "samples": [], "eligible": ["safe": 4711, "ambiguous": 0], "seconds": 15,
        ]))

    private static let planBody = Content(
        schema: JSONSchema.input(
            [
                ("source", ReplayReport.sourceSchema.described("results by default.")),
                ("filter", JSONSchema.text().described("Which results, as commands take it (page Results).")),
                ("zone", JSONSchema.text().described("The zone of its times, as of GET /v1/requests.")),
                (
                    "mode",
                    ReplayReport.modeSchema
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
            ], required: ["reason"]
        ).named("NewReplay"),
        example: ["filter": "error:hub_unavailable since:1h", "reason": "the hub was down"])
}
