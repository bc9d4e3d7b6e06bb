internal import Keys
internal import PushModel
internal import ResultQuery
internal import Results

// The rows of the list of requests (page Gateway, "Find and repair").
extension APIOperation {
    static let listRequestsRow = Row(
        method: "GET", path: "/v1/requests", label: "requests.list",
        summary: "Lists requests and what became of them, newest first, as `pushfan results list` finds them.",
        access: .key([.read]), work: .find,
        parameters: [
            filterParameter("state:failed since:1h"), zoneParameter,
            timeParameter("from", summary: "The first moment.", example: "yesterday"),
            timeParameter("to", summary: "The first moment that is too late.", example: "14:05"),
            Parameter(
                name: "times", schema: JSONSchema.words(["published"]),
                summary: "published: times are those of publication alone, and not those at which what is delayed is due.",
                example: "published"), limitParameter, cursorParameter,
        ], answers: [requestPage], problems: searchProblems)

    static let searchRequestsRow = Row(
        method: "POST", path: "/v1/requests:search", label: "requests.search",
        summary: "Lists requests, with a filter that may be longer than a head.",
        access: .key([.read]), work: .find,
        body: Content(
            schema: JSONSchema.input(
                ["filter", "zone", "from", "to", "times"].map { ($0, JSONSchema.text()) } + [
                    ("limit", JSONSchema.integer(1...500)), ("cursor", JSONSchema.text()),
                ], required: []
            ).named("RequestSearch"),
            example: ["filter": "state:failed since:1h", "limit": 20], isRequired: false),
        answers: [requestPage], problems: searchProblems + [Problem(status: 422, codes: [.invalidRequest])])

    static let zoneParameter = Parameter(
        name: "zone", schema: JSONSchema.text(), summary: "The zone of times without one: a name, or +01:00; UTC by default.",
        example: "Europe/Berlin")

    private static func timeParameter(_ name: String, summary: String, example: String) -> Parameter {
        Parameter(name: name, schema: JSONSchema.text(), summary: summary, example: example)
    }

    private static var requestPage: Answer {
        Answer(
            summary: "A page, how far it was searched and how the filter was read, and the cursor of the next one.",
            content: list(
                "RequestPage", of: row, example: [],
                [
                    (
                        "possible",
                        JSONSchema.object(
                            [("items", JSONSchema.list(of: row)), ("more", JSONSchema.boolean)], required: ["items", "more"],
                            isOpen: true
                        ).named("PossibleRequests").described(
                            "Sends by tag or to all that may have reached whom the filter seeks. On a first page alone.")
                    ), ("searched", searched),
                ], ["searched": exampleSearch.adding(["order": "finished", "zone": "UTC", "read_as": "state:failed"])],
                optional: ["possible"]), headers: [.link])
    }

    private static let searched = JSONSchema.object(
        extent + [
            (
                "order",
                JSONSchema.words([SearchPage.Order.published, .finished].map(\.rawValue))
                    .described("By publication, or by results where the filter asks for what results alone have.")
            ), ("from", JSONSchema.moment), ("to", JSONSchema.moment), ("zone", JSONSchema.text()),
            ("read_as", JSONSchema.text().described("The filter as it was understood, with whole moments in UTC.")),
        ], required: ["by", "complete", "order", "zone", "read_as"], isOpen: true
    ).named("RequestSearchExtent")

    private static let row = JSONSchema.object(
        [
            ("id", JSONSchema.text()), ("state", JSONSchema.text()), ("published_at", JSONSchema.moment),
            ("finished_at", JSONSchema.moment),
            (
                "outcome_state",
                JSONSchema.words(OutcomeState.allCases.map(\.rawValue))
                    .described(
                        "What the hub told later of its only call, if it reached not every device. `awaited` for 70 minutes from any "
                            + "other result of a followed request: the request itself has what was told since.")
            ),
            (
                "to",
                audienceSummary.described("Names of users and installations need read:payload, unless the filter gave them.")
            ), ("title", JSONSchema.text().described("Needs read:payload.")), ("labels", RequestReader.labels),
            ("tenant", JSONSchema.text()), ("source", JSONSchema.text()), ("hub", JSONSchema.text()),
            ("match", JSONSchema.words(["named", "possible"])), ("whole", JSONSchema.text()), ("due", JSONSchema.moment),
            ("parts", parts), ("topic", JSONSchema.text()), ("partition", JSONSchema.count), ("offset", JSONSchema.text()),
            ("result", MessageSchema.result.body),
        ], required: ["id", "state", "published_at"], isOpen: true
    ).named("RequestRow")
}
