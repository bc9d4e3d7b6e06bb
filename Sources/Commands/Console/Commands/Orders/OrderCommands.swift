import PushModel

extension Command {
    private static let terms = [
        Flag(
            "reason", "TEXT", "Why; every worker, result and list says it. At most \(OrderRecord.maximumReasonLength) characters"),
        Flag("for", "DURATION", "How long, at most 7d", default: "1h"),
        Flag("until", "TIME", "Instead: 2026-11-21T17:00:00Z"),
        author,
    ]
    private static let author = Flag("by", "TEXT", "Who", default: "user@host")
    private static let wait = [
        Flag("wait", nil, "Wait until every worker obeys; 3 if one knows no orders, 75 if time runs out"),
        .timeout("30s", "How long to wait for Kafka and the workers"),
    ]
    static let hold = Command(
        "hold", .operators, "Begin nothing of a scope, until it is released or the time is over",
        examples: [
            "pushfan hold --label campaign=sale --reason 'wrong text' --wait",
            "pushfan hold --hub north --until 2026-11-21T14:00Z --reason 'its owner asks for silence'",
            "pushfan hold --tenant acme --lane bulk --for 20m --reason 'floods the hub' -o json",
            "pushfan hold --everything --reason 'wrong certificate'",
        ],
        groups: [ScopeFlags.group, FlagGroup("Order", terms + wait), .output(), .kafka(topics: ["control"])],
        readOn: "pushfan help release, holds, cancel, --page console", run: GiveOrderCommand.hold)

    static let limit = Command(
        "limit", .operators, "Begin no more calls of a scope in a second, over all workers", operands: "CALLS",
        maximumOperands: 1,
        examples: [
            "pushfan limit 50 --tenant acme --reason 'floods the hub'",
            "pushfan limit 200 --hub north --for 2h --reason 'its owner asks for less' --wait",
            "pushfan limit 1 --source marketing --until 2026-11-21T14:00Z --reason 'a try' -o json",
        ],
        groups: [ScopeFlags.group, FlagGroup("Order", terms + wait), .output(), .kafka(topics: ["control"])],
        readOn: "pushfan help hold, release, holds, --page console", run: GiveOrderCommand.limit)

    static let release = Command(
        "release", .operators, "End a hold or a limit before its time", operands: "ID", maximumOperands: 1,
        examples: [
            "pushfan release h-k3v9x2abmn4pq7rs", "pushfan release h-k3v9x2abmn4pq7rs --reason 'text is mended'",
            "pushfan release l-k3v9x2abmn4pq7rs --by ann -o json",
        ],
        groups: [
            FlagGroup(
                "Release", Flag("reason", "TEXT", "Why; at most \(OrderRecord.maximumReasonLength) characters"), author,
                .timeout("30s")),
            .output(), .kafka(topics: ["control"]),
        ],
        readOn: "pushfan help holds, hold, --page console", run: ReleaseCommand.run)

    static let holds = Command(
        "holds", .operators, "List the holds and limits that stand",
        examples: ["pushfan holds", "pushfan holds --history", "pushfan holds -o ndjson --timeout 5s"],
        groups: [
            .selection([Flag("history", nil, "Those that have ended, too, and cancellations by scope"), .timeout("30s")]),
            .output(), .kafka(topics: ["control"]),
        ],
        readOn: "pushfan help hold, release, --page console", run: HoldsCommand.run)
}
