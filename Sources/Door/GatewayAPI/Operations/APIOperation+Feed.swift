internal import Keys
internal import PushModel

// The rows of `/v1/results` (page Publish, "The feed").
extension APIOperation {
    static let listResultsRow = Row(
        method: "GET", path: "/v1/results", label: "results.list",
        summary: "Gives results as they come, oldest first, from a cursor on.", access: .key([.publish, .read]),
        parameters: [
            Parameter(
                name: "limit", schema: JSONSchema.integer(1...1000), summary: "The most results, 100 by default.", example: "100"),
            Parameter(
                name: "wait", schema: JSONSchema.integer(0...Int64(APILimit.wait)),
                summary: "Seconds to wait for a result where there is none.", example: "30"),
            Parameter(
                name: "Prefer", place: .header, schema: JSONSchema.text(),
                summary: "wait=SECONDS waits for a result (RFC 7240), \(APILimit.wait) at most.", example: "wait=30"),
        ] + feedParameters,
        answers: [
            Answer(
                summary: "The results, and the cursor behind them; as application/x-ndjson with a result on each line.",
                content: Content(
                    schema: JSONSchema.object(
                        [
                            ("results", JSONSchema.list(of: MessageSchema.result.body)), ("cursor", JSONSchema.text()),
                            ("more", JSONSchema.boolean.described("More is there already.")),
                        ], required: ["results", "cursor", "more"], isOpen: true
                    ).named("ResultPage"),
                    example: ["results": [], "cursor": .text(exampleCursor), "more": false],
                    alternatives: [lines("")]), headers: [.cursor, .link, .preferenceApplied])
        ], problems: feedProblems)

    static let followResultsRow = Row(
        method: "GET", path: "/v1/results/events", label: "results.events",
        summary: "Follows results as server-sent events, from a cursor on.", access: .key([.publish, .read]),
        parameters: [
            Parameter(
                name: "Last-Event-ID", place: .header, schema: JSONSchema.text(),
                summary: "The last id of the stream before, which counts more than after.", example: exampleCursor)
        ] + feedParameters,
        answers: [
            Answer(
                summary: "An event for each result; its id, where it has one, is a cursor.",
                content: events("event: cursor\nid: \(exampleCursor)\ndata: {}\n\n"))
        ], problems: feedProblems)

    private static let feedParameters = [
        Parameter(
            name: "after", schema: JSONSchema.text(), summary: "The cursor to go on from; without it and since, now.",
            example: exampleCursor),
        Parameter(
            name: "since", schema: JSONSchema.text(), summary: "Begins with the results written since then, or with the first.",
            example: "1h"),
        Parameter(
            name: "kinds", schema: JSONSchema.text(), summary: "Kinds of results: final and outcome by default, and interim.",
            example: "final,outcome"), filterParameter("state:failed"),
        Parameter(
            name: "source", schema: JSONSchema.text(), summary: "The results of this source alone.", example: "shop"),
    ]
    private static let exampleCursor = "ASQAAeASGQ"
    private static let feedProblems = [
        Problem(status: 403, codes: [.forbiddenSource]), Problem(status: 410, codes: [.cursorExpired]),
        Problem(status: 503, codes: [.brokerUnavailable]),
    ]
}
