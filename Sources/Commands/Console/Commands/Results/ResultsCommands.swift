import ResultQuery

extension Command {
    static let resultsList = Command(
        "results list", .results, "List the newest requests and what became of them", operands: "[FILTER...]",
        maximumOperands: .max,
        acceptsFilter: true,
        examples: [
            "pushfan results list alice yesterday", "pushfan results list state:failed,rejected -hub:test since:1h",
            "pushfan results list state:waiting user:alice --json",
            "pushfan results list error:hub_throttled label.campaign:mlb -n 500 -o csv",
            "pushfan results list 'took:>30s' 'attempts:>2' since:2026-11-21 until:2026-11-22T10:00Z -o wide",
        ],
        groups: [
            .selection(
                [
                    Flag("limit", "N", "How many", letter: "n", default: "20"),
                    Flag("newest", "first|last", "Where the newest stand", default: "last", choices: ["first", "last"]),
                    Flag("json", nil, "A line of JSON for each request, with whom it went to, as GET /v1/requests has it"),
                ] + ResultFilter.flags + [.index]),
            .output(OutputFormat.allCases),
            .kafka(
                topics: ["requests", "results"],
                and: FlagGroup.group + [.timeout("10s")]),
        ],
        readOn: "pushfan help filters, pushfan help --page results", run: ListCommand.run)

    static let resultsShow = Command(
        "results show", .results, "Show what became of one request, or where it is", operands: "ID", maximumOperands: 1,
        examples: [
            "pushfan results show push.requests.v1:0:0", "pushfan results show 01997c5e-8c00-7a31-9d42-6b1f0e8d5c37 --wait",
            "pushfan results show 01997c5e-8c00-7a31-9d42-6b1f0e8d5c37 -o wide",
        ],
        groups: [
            .selection([
                Flag("since", "TIME", "Look at results since then only: 1h, 7d or 2026-11-21T17:00Z"),
                Flag("wait", nil, "Wait for the final result; 75 if time runs out"), .index,
            ]),
            .output(OutputFormat.allCases),
            .kafka(
                topics: ["requests", "results", "control"],
                and: FlagGroup.group + [
                    .timeout("30s", "How long to wait for the brokers, or for the result")
                ]),
        ],
        readOn: "pushfan help explain", run: ShowCommand.run)

    static let resultsTail = Command(
        "results tail", .results, "Follow the results as they come", operands: "[FILTER...]", maximumOperands: .max,
        acceptsFilter: true,
        examples: [
            "pushfan results tail", "pushfan results tail -state:sent hub:shop",
            "pushfan results tail since:10m platform:apple -o ndjson",
        ],
        groups: [
            .selection([Flag("limit", "N", "Stop after so many", letter: "n")] + ResultFilter.flags),
            .output([.table, .wide, .ndjson, .csv]), .kafka(topics: ["results"], and: [.timeout("10s")]),
        ],
        readOn: "pushfan help filters", run: TailCommand.run)
}
