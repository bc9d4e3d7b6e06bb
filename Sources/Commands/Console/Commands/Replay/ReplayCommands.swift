import ResultQuery

extension Command {
    private static let planning = FlagGroup(
        "Plan",
        Flag("reason", "TEXT", "Why; stands in every new result"),
        Flag("actor", "NAME", "Who; stands in every new result", default: "the user's name"),
        Flag("include-ambiguous", nil, "Repeat what may have reached its devices, too; they may ring twice"),
        Flag("ttl", "DURATION", "A new life for every request, counted from its replay"),
        Flag("expires-at", "TIME", "A new expiry for every request: 2026-11-21T17:00Z, or 2h from now"),
        Flag("set", "FIELD=VALUE", "Change a field, such as hub=other or options.max_attempts=8", isRepeatable: true),
        Flag("leftovers", "PLAN", "Plan what an earlier plan has left"),
        Flag("file", "FILE", "Where the plan goes", default: "replay-JOB.ndjson"),
        Flag("limit", "N", "The most requests to replay", default: "1000000"),
        Flag("rate", "N", "Requests a second", default: "500"),
        Flag("call-time", "DURATION", "How long the hub takes for a call, for the estimate", default: "100ms"))
    private static let topics = ["requests", "results", "replays", "control"]

    static let replayPlan = Command(
        "replay plan", .results, "Show what a replay would do, and write it down", operands: "[FILTER...]",
        maximumOperands: .max, acceptsFilter: true,
        examples: [
            "pushfan replay plan state:failed,partial since:1h --reason 'hub outage'",
            "pushfan replay plan error:hub_timeout since:1d --include-ambiguous --reason 'late on Friday'",
            "pushfan replay plan state:expired since:6h --reason late --ttl 1h --set options.max_attempts=8",
        ],
        groups: [
            .selection(ResultFilter.flags), planning, .output([.table, .json]),
            .kafka(topics: topics, and: [.timeout("30s")]),
        ],
        readOn: "pushfan help --page replay, pushfan help filters, pushfan help replay run", run: PlanCommand.run)

    static let replayRun = Command(
        "replay run", .results, "Do what a plan says, or plan and do it", operands: "PLAN|FILTER...", maximumOperands: .max,
        acceptsFilter: true,
        examples: [
            "pushfan replay run replay.ndjson --reason 'hub outage' --rate 200",
            "pushfan replay run state:failed hub:shop since:1h --reason 'hub outage' --yes -o json",
            "pushfan replay run replay.ndjson --reason 'hub outage' || pushfan replay leftovers replay.ndjson",
        ],
        groups: [
            FlagGroup("Run", [Flag("yes", nil, "Do not ask, however many they are", letter: "y")]),
            .selection(ResultFilter.flags), planning, .output([.table, .json]),
            .kafka(topics: topics, and: [.timeout("30s")]),
        ],
        readOn: "pushfan help replay plan, pushfan help replay status", run: RunCommand.run)

    static let replayList = Command(
        "replay list", .results, "List the replays that were run",
        examples: ["pushfan replay list", "pushfan replay list -o ndjson", "pushfan replay list --timeout 30s -o json"],
        groups: [.output(), .kafka(topics: ["replays"], and: [.timeout("10s")])],
        readOn: "pushfan help replay status", run: JobCommands.list)

    static let replayStatus = Command(
        "replay status", .results, "Show how far a replay is, and what became of its requests", operands: "JOB",
        maximumOperands: 1,
        examples: [
            "pushfan replay status 01997c5e-8c00-7a31-9d42-6b1f0e8d5c37",
            "pushfan replay status 01997c5e-8c00-7a31-9d42-6b1f0e8d5c37 -o json",
            "pushfan replay status 8d5c37 --timeout 30s",
        ],
        groups: [.output([.table, .json]), .kafka(topics: ["results", "replays"], and: [.timeout("10s")])],
        readOn: "pushfan help replay pause, pushfan help replay leftovers", run: JobCommands.status)

    static let replayPause = announce(
        "pause", "Let a running replay wait", "pushfan help replay resume", JobCommands.pause)
    static let replayResume = announce(
        "resume", "Let a replay that waits go on", "pushfan help replay pause", JobCommands.resume)
    static let replayStop = announce(
        "stop", "End a replay for good; what it has not done is left", "pushfan help replay leftovers", JobCommands.stop)

    private static func announce(
        _ word: String, _ summary: String, _ readOn: String,
        _ run: @escaping @Sendable (Invocation) throws(CommandFailure) -> ExitCode
    ) -> Command {
        Command(
            "replay \(word)", .results, summary, operands: "JOB", maximumOperands: 1,
            examples: [
                "pushfan replay \(word) 01997c5e-8c00-7a31-9d42-6b1f0e8d5c37", "pushfan replay \(word) 8d5c37 --actor ann",
                "pushfan replay \(word) 01997c5e-8c00-7a31-9d42-6b1f0e8d5c37 --timeout 30s -o json",
            ],
            groups: [
                FlagGroup("Run", [Flag("actor", "NAME", "Who wants it", default: "the user's name")]), .output(),
                .kafka(topics: ["replays"], and: [.timeout("10s")]),
            ],
            readOn: readOn, run: run)
    }

    static let replayLeftovers = Command(
        "replay leftovers", .results, "List what a plan or its replay has left, and why", operands: "PLAN", maximumOperands: 1,
        examples: [
            "pushfan replay leftovers replay.ndjson", "pushfan replay leftovers replay.ndjson -o ndjson",
            "pushfan replay leftovers replay.ndjson --timeout 30s -o json",
        ],
        groups: [.output(), .kafka(topics: ["replays"], and: [.timeout("10s")])],
        readOn: "pushfan help replay plan", run: LeftoversCommand.run)

    static let replayDeadLetter = Command(
        "replay deadletter", .results, "Give records that could not be understood back to their topic, after a fix",
        examples: [
            "pushfan replay deadletter --dry-run", "pushfan replay deadletter --since 1d --reason 'worker 1.2 reads them' --yes",
            "pushfan replay deadletter --code not_an_object --since 1h --reason 'reader was fixed' -o json",
            "pushfan replay deadletter --at push.deadletter.v1:0:17 --value mended.json --reason mended",
        ],
        groups: [
            .selection([
                Flag("since", "TIME", "Written since then: 1h, 7d, 2026-11-21 or 2026-11-21T17:00Z"),
                Flag("until", "TIME", "Written before then"),
                Flag("code", "WORD", "What was wrong with them (the header pushfan-dlq-reason)", isRepeatable: true),
                Flag("at", "PLACE", "This one: topic:partition:offset@time, as --dry-run shows it", isRepeatable: true),
            ]),
            FlagGroup(
                "Run",
                Flag("dry-run", nil, "Show what would be given back, and do nothing"),
                Flag("reason", "TEXT", "Why; it is kept with the job"),
                Flag("actor", "NAME", "Who", default: "the user's name"),
                Flag("set", "FIELD=VALUE", "Change a field of those that can be read", isRepeatable: true),
                Flag("value", "FILE", "Give this request back in place of the one that --at names"),
                Flag("file", "FILE", "Where the plan goes", default: "replay-JOB.ndjson"),
                Flag("rate", "N", "Records a second", default: "500"),
                Flag("yes", nil, "Do not ask, however many they are", letter: "y")),
            .output(), .kafka(topics: ["deadletter", "replays"], and: [.timeout("30s")]),
        ],
        readOn: "pushfan help replay run", run: DeadLetterCommand.run)
}
